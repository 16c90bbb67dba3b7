"""The faces of the packages: a face holds what it says, once, in order; maps and calibrators as they are called."""

import importlib
import inspect
import subprocess
import sys

import numpy as np
import pytest
import torch

FACES = (
    *(f"focal_lib.{name}" for name in ("theory", "metrics", "losses", "calibration", "tool")),
    *("reproduction.engine", "reproduction.ledger"),
)


@pytest.fixture(params=FACES)
def face(request):
    return importlib.import_module(request.param)


def order(name):
    """Constants, classes, functions, each by the alphabet: what ruff's RUF022 makes."""
    return 0 if name.isupper() else 1 if name[0].isupper() else 2, name


def test_names_are_sorted_and_there_once(face):
    assert face.__all__ == sorted(set(face.__all__), key=order)
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


@pytest.mark.parametrize("objective", ["nll", "ece", "adaptive-ece"])
def test_calibrators_as_they_are_called(synthetic_logits, objective):
    calibration = importlib.import_module("focal_lib.calibration")
    z, y = synthetic_logits(200, 3)
    for method in (
        calibration.TemperatureScaling(objective=objective),
        calibration.FocalTemperatureScaling(objective=objective, search="line"),
    ):
        fit = method.fit(z, y)
        assert fit.temperature_ > 0
        np.testing.assert_allclose(np.exp(fit.predict_log_proba(z)), fit.predict_proba(z), atol=1e-12)
    assert isinstance(fit.gamma_, float)


def test_calibrate_is_found_where_the_calibrators_are():
    calibration, tool = (importlib.import_module(f"focal_lib.{name}") for name in ("calibration", "tool"))
    assert calibration.calibrate is tool.calibrate
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        calibration.nothing  # noqa: B018


def test_claims_have_what_is_read_of_them():
    claim = importlib.import_module("reproduction.ledger").ledger()[0]
    assert all(hasattr(claim, name) for name in ("id", "source", "statement", "verdict", "evidence", "check"))


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
