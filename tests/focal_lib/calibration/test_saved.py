"""Calibrators in files: the same after reading, and files that are none."""

import hashlib
import json

import numpy as np
import pytest

from focal_lib.calibration.calibrators.focal_temperature import FocalTemperatureScaling
from focal_lib.calibration.calibrators.linear import MatrixScaling, VectorScaling
from focal_lib.calibration.calibrators.platt import PlattScaling
from focal_lib.calibration.calibrators.temperature import TemperatureScaling
from focal_lib.calibration.methods import METHODS, build
from focal_lib.calibration.saved import load_calibrator, save_calibrator


@pytest.fixture
def content_of(draw_logits, tmp_path):
    """Fits a calibrator, saves it as c.json, and gives it, its data, and what the file holds."""

    def save(calibrator):
        data = draw_logits(300, 2.0)
        logits, labels = data.logits, data.labels
        if isinstance(calibrator, PlattScaling):
            logits, labels = logits[:, :2], labels % 2
        fit = calibrator.fit(logits, labels)
        save_calibrator(fit, tmp_path / "c.json")
        return fit, logits, json.loads((tmp_path / "c.json").read_text())

    return save


def write_as(path, content):
    """A file with a checksum that fits, as another version would have written it."""
    content = {name: value for name, value in content.items() if name != "checksum"}
    checksum = hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
    path.write_text(json.dumps(content | {"checksum": checksum}))
    return path


@pytest.mark.parametrize("pair", [(name, objective) for name, kind in METHODS.items() for objective in kind.options])
def test_a_calibrator_reads_back_the_same(content_of, tmp_path, pair):
    if needed := METHODS[pair[0]].needs:
        pytest.importorskip(needed)
    fitted, logits, content = content_of(build(*pair))
    assert content["method"] == pair[0]
    again = load_calibrator(str(tmp_path / "c.json"))
    np.testing.assert_array_equal(again.predict_proba(logits), fitted.predict_proba(logits))
    assert type(again) is type(fitted)


def test_a_file_can_be_read_by_people(content_of, tmp_path):
    """Lists of numbers, such as a grid of candidates, and rows of a matrix are a line each; old files were longer."""
    path = tmp_path / "c.json"
    _, _, content = content_of(TemperatureScaling("adaptive-ece"))
    lines = path.read_text().splitlines()
    assert len(lines) <= 20
    assert any(line.startswith('  "temperature_": ') for line in lines)
    (tmp_path / "old.json").write_text(json.dumps(content, indent=1))
    old, new = load_calibrator(tmp_path / "old.json"), load_calibrator(path)
    np.testing.assert_array_equal(old.temperatures, new.temperatures)
    assert old.temperature_ == new.temperature_
    content_of(MatrixScaling(1e-3))
    assert [line.strip()[0] for line in path.read_text().splitlines()].count("[") == 5


def test_files_of_formats_before(content_of, tmp_path):
    """Format 1 called the ECE of equal mass 'ece'; up to 2 the weights of vector scaling were a matrix."""
    fit, logits, content = content_of(TemperatureScaling("adaptive-ece"))
    content["parameters"]["objective"] = "ece"
    again = load_calibrator(write_as(tmp_path / "old.json", content | {"format": 1}))
    assert again.objective == "adaptive-ece"
    np.testing.assert_array_equal(again.predict_proba(logits), fit.predict_proba(logits))
    assert load_calibrator(write_as(tmp_path / "new.json", content)).objective == "ece"
    fit, logits, content = content_of(VectorScaling(1e-3))
    content["fitted"]["weight_"] = np.diag(fit.weight_).tolist()
    again = load_calibrator(write_as(tmp_path / "old.json", content | {"format": 2}))
    np.testing.assert_array_equal(again.predict_proba(logits), fit.predict_proba(logits))


def test_what_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="must be fitted"):
        save_calibrator(TemperatureScaling(), tmp_path / "c.json")
    with pytest.raises(ValueError, match="calibrator must be one of temperature"):
        save_calibrator(object(), tmp_path / "c.json")
    assert not list(tmp_path.iterdir())


def test_files_that_are_no_calibrators(content_of, tmp_path):
    path = tmp_path / "c.json"
    _, _, content = content_of(FocalTemperatureScaling("nll", "newton"))
    path.write_text(json.dumps(content | {"fitted": content["fitted"] | {"temperature_": 1.0}}))
    with pytest.raises(ValueError, match="must match its checksum"):
        load_calibrator(path)
    path.write_text(json.dumps(content | {"format": 4}))
    with pytest.raises(ValueError, match=r"must have format 3. Got 4"):
        load_calibrator(path)
    for changed, message in (
        (content | {"method": "splines"}, r"must hold one of temperature, .* Got splines, of another version"),
        (content | {"parameters": {"slope": 1.0}}, NOT_A_FIT),
        ({name: value for name, value in content.items() if name != "fitted"}, NOT_A_FIT),
    ):
        with pytest.raises(ValueError, match=message):
            load_calibrator(write_as(path, changed))


NOT_A_FIT = r"c\.json must have the parameters and the fit of "
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
def test_fits_that_are_none(content_of, tmp_path, lie, message):
    _, _, content = content_of(FocalTemperatureScaling("nll", "newton"))
    with pytest.raises(ValueError, match=NOT_A_FIT + ".*" + message):
        load_calibrator(write_as(tmp_path / "c.json", content | {"fitted": content["fitted"] | lie}))


@pytest.mark.parametrize("name", ["temperature_", "gamma_", "n_classes_", "classes_"])
def test_fits_that_lack_something(content_of, tmp_path, name):
    _, _, content = content_of(FocalTemperatureScaling("nll", "newton"))
    del content["fitted"][name]
    with pytest.raises(ValueError, match=NOT_A_FIT):
        load_calibrator(write_as(tmp_path / "c.json", content))


@pytest.mark.parametrize(
    ("fitted", "version"), [({"weight_": [1.0, 2.0]}, 3), ({"bias_": "0"}, 3), ({"weight_": [1.0] * 100_000}, 2)]
)
def test_matrices_of_another_shape(content_of, tmp_path, fitted, version):
    _, _, content = content_of(VectorScaling(1e-3))
    changed = content | {"format": version, "fitted": content["fitted"] | fitted}
    with pytest.raises(ValueError, match=NOT_A_FIT + "vector"):
        load_calibrator(write_as(tmp_path / "c.json", changed))


@pytest.mark.parametrize(
    "text",
    [
        *("[]", "{}", "no json", '{"format": 1}'),
        "[" * 100_000,
        '{"checksum": ' * 900 + "1" + "}" * 900,
        '{"checksum": NaN}',
        '{"checksum": ' + "9" * 5000 + "}",
    ],
)
def test_json_that_is_no_calibrator(tmp_path, text):
    (tmp_path / "c.json").write_text(text)
    with pytest.raises(ValueError, match=r"^c\.json must .*calibrator written by focal_lib|have format 3"):
        load_calibrator(tmp_path / "c.json")


def test_a_device_is_no_calibrator():
    with pytest.raises(ValueError, match="zero must be a calibrator"):
        load_calibrator("/dev/zero")
