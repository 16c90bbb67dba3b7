"""The faces of the packages: a face holds what it says, once."""

import importlib
import inspect
import subprocess
import sys

import numpy as np
import pytest
import torch

FACES = (
    *(f"focal_lib.{name}" for name in ("theory", "metrics", "losses", "boosting", "calibration", "tool")),
    *("reproduction.engine", "reproduction.ledger"),
)


@pytest.fixture(params=FACES)
def face(request):
    return importlib.import_module(request.param)


def test_names_are_there_once(face):
    assert len(face.__all__) == len(set(face.__all__))
    assert all(hasattr(face, name) for name in face.__all__)


def test_no_name_is_a_module_or_private(face):
    assert not [name for name in face.__all__ if inspect.ismodule(getattr(face, name)) or name.startswith("_")]


def test_names_are_defined_in_the_package(face):
    """A name has one home: another package's is not shown again."""
    homes = {name: getattr(getattr(face, name), "__module__", face.__name__) for name in face.__all__}
    assert {name: home for name, home in homes.items() if home.startswith(("focal_lib", "reproduction"))} == {
        name: home for name, home in homes.items() if f"{home}.".startswith(f"{face.__name__}.")
    }


def test_what_is_public_is_explained(face):
    public = [getattr(face, name) for name in face.__all__]
    assert not [v.__name__ for v in public if inspect.isroutine(v) or inspect.isclass(v) if not inspect.getdoc(v)]


@pytest.mark.parametrize("name", ["focal_log_probs", "inverse_focal_log_probs", "focal_logit", "inverse_focal_logit"])
@pytest.mark.parametrize("gamma", [0.0, 0.5, 3.0])
def test_the_maps_keep_kind_and_precision(name, gamma):
    function = getattr(importlib.import_module("focal_lib.theory"), name)
    z = torch.tensor([[200.0, 0.0, -300.0], [0.0, 0.0, 0.0], [90.0, 89.0, 88.0]]).log_softmax(-1)
    for dtype in (torch.float32, torch.float64):
        found = function(z.to(dtype).log_softmax(-1), gamma)
        assert found.dtype == dtype
        assert torch.isfinite(found).all()
        array = function(z.to(dtype).log_softmax(-1).numpy(), gamma)
        assert isinstance(array, np.ndarray)
        assert array.dtype == found.numpy().dtype
        np.testing.assert_allclose(array, found.numpy(), rtol=8 * torch.finfo(dtype).eps)


def test_calibrate_is_found_where_the_calibrators_are():
    calibration, tool = (importlib.import_module(f"focal_lib.{name}") for name in ("calibration", "tool"))
    assert calibration.calibrate is tool.calibrate
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        calibration.nothing  # noqa: B018


@pytest.mark.parametrize(
    ("package", "absent"),
    [
        ("focal_lib.theory", ("sympy", "flint", "pandas", "sklearn", "matplotlib")),
        ("focal_lib.metrics", ("sympy", "flint", "pandas", "sklearn", "matplotlib", "dask")),
        ("reproduction.engine", ("torch", "sympy", "flint", "matplotlib")),
    ],
)
@pytest.mark.slow
def test_a_face_loads_no_more_than_it_needs(package, absent):
    code = f"import sys, {package}; print(*set({absent}) & set(sys.modules))"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
