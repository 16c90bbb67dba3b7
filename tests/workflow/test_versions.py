"""The list of published versions, and the page that leads to the newest."""

import json

import pytest

from workflow.versions import write_list


@pytest.mark.parametrize(
    ("folders", "listed"),
    [(["latest"], ["latest"]), (["1.2.0", "latest", "1.10.0", ".git"], ["1.10.0", "1.2.0", "latest"])],
)
def test_the_newest_version_is_first_and_preferred(folders, listed, tmp_path):
    for name in folders:
        (tmp_path / name).mkdir()
    write_list(tmp_path, "https://owner.github.io/name")
    entries = json.loads((tmp_path / "versions.json").read_text())
    assert [entry["version"] for entry in entries] == listed
    assert [entry["preferred"] for entry in entries] == [True] + [False] * (len(listed) - 1)
    assert entries[0]["url"] == f"https://owner.github.io/name/{listed[0]}/"
    assert f"url={listed[0]}/" in (tmp_path / "index.html").read_text()


@pytest.mark.parametrize(("folders", "got"), [([], "Got none"), (["1.0.0", "drafts"], "Got 'drafts'")])
def test_other_folders_are_refused(folders, got, tmp_path):
    for name in folders:
        (tmp_path / name).mkdir()
    with pytest.raises(ValueError, match=got):
        write_list(tmp_path, "https://owner.github.io/name")
