"""The files of ChestX-ray14, made up in small."""

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from reproduction.studies.localisation.chest_xrays import FINDINGS, NAME, chest_xrays
from reproduction.studies.localisation.measures import measure_plans
from reproduction.studies.localisation.plan import CHEST, Plan

ENTRIES = {
    "00000001_000.png": "Cardiomegaly",
    "00000001_001.png": "Cardiomegaly|Emphysema",
    "00000002_000.png": "No Finding",
    "00000003_000.png": "Infiltration|Hernia",
    "00000004_000.png": "Pleural_Thickening",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    root = tmp_path / NAME
    for number, name in enumerate(ENTRIES):
        place = root / f"images_{number % 2 + 1:03d}" / "images"
        place.mkdir(parents=True, exist_ok=True)
        pixels = np.zeros((1024, 1024), np.uint8)
        pixels[:512] = 40 * (number + 1)
        picture = Image.fromarray(pixels)
        (picture.convert("RGBA") if number == 0 else picture).save(place / name)
    table = pd.DataFrame({"Image Index": list(ENTRIES), "Finding Labels": list(ENTRIES.values()), "Patient ID": 1})
    table.to_csv(root / "Data_Entry_2017.csv", index=False)
    (root / "train_val_list.txt").write_text("\n".join(list(ENTRIES)[:3]) + "\n")
    (root / "test_list.txt").write_text("\n".join(list(ENTRIES)[3:]))
    (root / "BBox_List_2017.csv").write_text(
        "Image Index,Finding Label,Bbox [x,y,w,h],,,\n"
        "00000003_000.png,Infiltrate,512,256,256,128,,,\n"
        "00000003_000.png,Infiltrate,0,0,10,10,,,\n"
    )
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    return root


def test_images_findings_and_boxes(folder):
    train, test = chest_xrays(3, 2, seed=0, side=64)
    listed = np.argsort(train.images[:, 0, 0, 0])  # the fixture's are brighter one by one
    assert (len(train), len(test), train.names) == (3, 2, FINDINGS)
    assert len(FINDINGS) == 14
    said = [[FINDINGS[k] for k in np.flatnonzero(row)] for row in (*train.labels[listed], *test.labels)]
    expected = [sorted(set(line.split("|")) - {"No Finding"}, key=FINDINGS.index) for line in ENTRIES.values()]
    assert said == expected
    assert [int(image[0, 0, 0]) for image in (*train.images[listed], *test.images)] == [40, 80, 120, 160, 200]
    assert not train.images[:, 32:].any()
    assert not len(train.asked()[0])
    (image,), (label,) = test.asked()
    assert (image, FINDINGS[label]) == (0, "Infiltration")
    assert test.boxes[image, label].tolist() == [16, 32, 24, 48]  # the first of two


def test_a_part_is_drawn_and_boxes_come_first(folder):
    train, test = chest_xrays(2, 1, seed=0, side=32)
    assert (len(train), len(test)) == (2, 1)
    for seed in range(5):
        assert len(chest_xrays(1, 1, seed, side=16)[1].asked()[0]) == 1
    with pytest.raises(ValueError, match=r"train_val_list.txt of chest-xray14 must have the 4 images asked for. Got 3"):
        chest_xrays(4, 1, seed=0)


def test_without_boxes_there_are_none(folder):
    (folder / "BBox_List_2017.csv").unlink()
    assert not len(chest_xrays(3, 2, 0, side=16)[1].asked()[0])


def test_a_later_name_of_the_entries_will_do(folder):
    (folder / "Data_Entry_2017.csv").rename(folder / "Data_Entry_2017_v2020.csv")
    assert len(chest_xrays(3, 2, 0, side=16)[0]) == 3


@pytest.mark.parametrize("name", ["Data_Entry_2017.csv", "train_val_list.txt", "test_list.txt"])
def test_a_missing_file_is_named(folder, name):
    (folder / name).unlink()
    with pytest.raises(FileNotFoundError, match=name):
        chest_xrays(3, 2, 0)


def test_a_missing_image_is_named(folder):
    next(folder.rglob("00000003_000.png")).unlink()
    with pytest.raises(
        FileNotFoundError, match=r"must hold 00000003_000.png, itself or in a folder below. Got 4 others"
    ):
        chest_xrays(3, 2, 0, side=16)


def test_no_folder_is_said(monkeypatch, tmp_path):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"set FOCAL_DATA to a folder .* Data_Entry_2017.csv, train_val_list.txt"
    ):
        chest_xrays(1, 1, 0)


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("Data_Entry_2017.csv", "Finding Labels", "Findings", "no 'Finding Labels'"),
        ("Data_Entry_2017.csv", "|Hernia", "|Hernias", "Got 'Hernias'"),
        ("Data_Entry_2017.csv", "00000002_000.png", "00000001_000.png", "00000001_000.png twice"),
        ("Data_Entry_2017.csv", "00000002_000.png", "00000009_000.png", "Got none for 00000002_000.png"),
        ("BBox_List_2017.csv", "Infiltrate", "Infiltrated", "Got 'Infiltrated'"),
        ("BBox_List_2017.csv", "Bbox [x,y,w,h],,,\n", "Bbox\n", "x, y, w and h"),
        ("test_list.txt", "00000003_000.png", "00000001_000.png", "00000001_000.png in both"),
    ],
)
def test_wrong_content_is_named(folder, name, old, new, message):
    path = folder / name
    text = path.read_text()
    assert old in text
    changed = text.replace(old, new)
    if new == "Bbox\n":
        changed = "Image Index,Finding Label,Bbox\n00000003_000.png,Infiltrate,512\n"
    path.write_text(changed)
    with pytest.raises(ValueError, match=message):
        chest_xrays(3, 2, 0, side=16)


def test_from_the_files_to_numbers(folder):
    """The whole way, with losses of 14 labels."""
    table = measure_plans([Plan(CHEST, "fcl", 3.0, 0.5, n_train=3, n_test=2, epochs=1)])
    found = table[table["method"] == "none"].set_index("metric")["value"]
    assert found["box"] == pytest.approx(100 * 32 / 1024, rel=0.05)  # 256 x 128 of 1024 x 1024
    assert 0 <= found["auroc Infiltration"] <= 100
    assert np.isnan(found["auroc Mass"])
