"""Calibrators in files: the same after reading, and files that are none."""

import hashlib
import json

import numpy as np
import pytest

from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.methods import METHODS, build
from focal_lib.calibration.saved import load_calibrator, save_calibrator


def write_as(path, content):
    """A file with a checksum that fits, as another version would have written it."""
    content = {name: value for name, value in content.items() if name != "checksum"}
    checksum = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(content | {"checksum": checksum}))
    return path


@pytest.mark.parametrize("pair", [(name, objective) for name, kind in METHODS.items() for objective in kind.options])
def test_a_calibrator_reads_back_the_same(draw_logits, tmp_path, pair):
    if needed := METHODS[pair[0]].needs:
        pytest.importorskip(needed)
    data = draw_logits(300, 2.0)
    fitted = build(*pair).fit(data.logits, data.labels)
    save_calibrator(fitted, tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text())["method"] == pair[0]
    again = load_calibrator(str(tmp_path / "c.json"))
    np.testing.assert_array_equal(again.predict_proba(data.logits), fitted.predict_proba(data.logits))
    assert type(again) is type(fitted)


def test_a_file_can_be_read_by_people(draw_logits, tmp_path):
    """Lists of numbers, such as a grid of candidates, and rows of a matrix are a line each; old files were longer."""
    data = draw_logits(300, 2.0)
    path = tmp_path / "c.json"
    save_calibrator(TemperatureScaling("adaptive-ece").fit(data.logits, data.labels), path)
    lines = path.read_text().splitlines()
    assert len(lines) < 20
    assert any(line.startswith('  "temperature_": ') for line in lines)
    (tmp_path / "old.json").write_text(json.dumps(json.loads(path.read_text()), indent=1))
    old, new = load_calibrator(tmp_path / "old.json"), load_calibrator(path)
    np.testing.assert_array_equal(old.temperatures, new.temperatures)
    assert old.temperature_ == new.temperature_
    save_calibrator(MatrixScaling(1e-3).fit(data.logits, data.labels), path)
    assert [line.strip()[0] for line in path.read_text().splitlines()].count("[") == 5


def test_a_file_of_the_format_before(draw_logits, tmp_path):
    """Format 1 called the ECE of equal mass 'ece'; what it predicts is the same."""
    data = draw_logits(300, 2.0)
    fit = TemperatureScaling("adaptive-ece").fit(data.logits, data.labels)
    save_calibrator(fit, tmp_path / "c.json")
    content = json.loads((tmp_path / "c.json").read_text()) | {"format": 1}
    content["parameters"]["objective"] = "ece"
    again = load_calibrator(write_as(tmp_path / "old.json", content))
    assert again.objective == "adaptive-ece"
    np.testing.assert_array_equal(again.predict_proba(data.logits), fit.predict_proba(data.logits))
    save_calibrator(TemperatureScaling("ece").fit(data.logits, data.labels), tmp_path / "c.json")
    assert load_calibrator(tmp_path / "c.json").objective == "ece"


def test_vector_scaling_of_a_format_with_a_matrix(draw_logits, tmp_path):
    data = draw_logits(300, 2.0)
    fit = VectorScaling(1e-3).fit(data.logits, data.labels)
    save_calibrator(fit, tmp_path / "c.json")
    content = json.loads((tmp_path / "c.json").read_text()) | {"format": 2}
    content["fitted"]["weight_"] = np.diag(fit.weight_).tolist()
    again = load_calibrator(write_as(tmp_path / "old.json", content))
    np.testing.assert_array_equal(again.predict_proba(data.logits), fit.predict_proba(data.logits))


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="must be fitted"):
        save_calibrator(TemperatureScaling(), tmp_path / "c.json")
    with pytest.raises(ValueError, match="calibrator must be one of temperature"):
        save_calibrator(object(), tmp_path / "c.json")
    assert not list(tmp_path.iterdir())


def test_files_that_are_no_calibrators(draw_logits, tmp_path):
    path, data = tmp_path / "c.json", draw_logits(300, 2.0)
    save_calibrator(FocalTemperatureScaling("nll", "newton").fit(data.logits, data.labels), path)
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | {"fitted": content["fitted"] | {"temperature_": 1.0}}))
    with pytest.raises(ValueError, match="must match its checksum"):
        load_calibrator(path)
    path.write_text(json.dumps(content | {"format": 4}))
    with pytest.raises(ValueError, match=r"must have format 3. Got 4"):
        load_calibrator(path)
    with pytest.raises(ValueError, match=r"must hold one of temperature, .* Got platt, of another version"):
        load_calibrator(write_as(path, content | {"method": "platt"}))
    with pytest.raises(ValueError, match=r"c\.json must have the parameters and the fit of focal-temperature"):
        load_calibrator(write_as(path, content | {"parameters": {"slope": 1.0}}))
    with pytest.raises(ValueError, match=r"c\.json must have the parameters and the fit of focal-temperature"):
        load_calibrator(write_as(path, {name: value for name, value in content.items() if name != "fitted"}))
    for text in ("[]", "{}", "no json", '{"format": 1}'):
        path.write_text(text)
        with pytest.raises(ValueError, match="must be a calibrator written by focal_lib"):
            load_calibrator(path)


LIES = [
    ({"temperature_": value}, "temperature_ must be") for value in ("1.0", None, -1, 0, True, [], {}, [1.0, 2.0])
] + [
    ({"temperature_": 1e-320}, "must be finite"),
    ({"temperature_": 10**400}, "as this version has"),
    ({"gamma_": -1.0}, "gamma must be a finite number > -1"),
    ({"n_classes_": 10**12}, "must be n_classes_ >= 2 labels"),
    ({"n_classes_": 5.0}, "must be n_classes_ >= 2 labels"),
    ({"n_classes_": True, "classes_": [0]}, "must be n_classes_ >= 2 labels"),
    ({"classes_": [[0], 1]}, "as this version has"),
    ({"classes_": None}, "must be n_classes_ >= 2 labels"),
    ({"__class__": "str"}, "__class__ is nothing that a fit leaves"),
    ({"__dict__": {}}, "__dict__ is nothing that a fit leaves"),
    ({"n_features_in_": 3}, "n_features_in_ is nothing that a fit leaves"),
    ({"layout_": 7}, "layout_ must be one of classes"),
]


@pytest.mark.parametrize(("lie", "message"), LIES)
def test_fits_that_are_none(draw_logits, tmp_path, lie, message):
    path, data = tmp_path / "c.json", draw_logits(300, 2.0)
    save_calibrator(FocalTemperatureScaling("nll", "newton").fit(data.logits, data.labels), path)
    content = json.loads(path.read_text())
    with pytest.raises(ValueError, match=r"c\.json must have the parameters and the fit of .*" + message):
        load_calibrator(write_as(path, content | {"fitted": content["fitted"] | lie}))
    for name in content["fitted"]:
        if name.rstrip("_") in ("temperature", "gamma", "n_classes", "classes"):
            less = {own: value for own, value in content["fitted"].items() if own != name}
            with pytest.raises(ValueError, match=r"c\.json must have the parameters and the fit of "):
                load_calibrator(write_as(path, content | {"fitted": less}))


def test_matrices_of_another_shape(draw_logits, tmp_path):
    path, data = tmp_path / "c.json", draw_logits(300, 2.0)
    save_calibrator(VectorScaling(1e-3).fit(data.logits, data.labels), path)
    content = json.loads(path.read_text())
    for fitted, version in (({"weight_": [1.0, 2.0]}, 3), ({"bias_": "0"}, 3), ({"weight_": [1.0] * 100_000}, 2)):
        changed = content | {"format": version, "fitted": content["fitted"] | fitted}
        with pytest.raises(ValueError, match=r"c\.json must have the parameters and the fit of vector"):
            load_calibrator(write_as(path, changed))


@pytest.mark.parametrize(
    "text",
    ["[" * 100_000, '{"checksum": ' * 900 + "1" + "}" * 900, '{"checksum": NaN}', '{"checksum": ' + "9" * 5000 + "}"],
)
def test_json_that_is_no_calibrator(tmp_path, text):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(ValueError, match=r"^c\.json must .*calibrator written by focal_lib|have format 3"):
        load_calibrator(tmp_path / "c.json")


def test_a_device_is_no_calibrator():
    with pytest.raises(ValueError, match="zero must be a calibrator"):
        load_calibrator("/dev/zero")
