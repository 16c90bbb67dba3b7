"""The project's checkout, and packages that are installed without one."""

import subprocess

import pytest

from reproduction import checkout


def test_this_is_a_checkout():
    assert (checkout.require_checkout("a test") / "notebooks").is_dir()


def test_an_installed_package_has_no_commit_even_inside_a_repository(tmp_path, monkeypatch):
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e"]
    for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "other project"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    assert checkout.commit() == ""
    with pytest.raises(FileNotFoundError, match=r"a grid needs a checkout of the project.*Got an installed package"):
        checkout.require_checkout("a grid")
    (tmp_path / "workflow").mkdir()
    (tmp_path / "workflow" / "Snakefile").touch()
    assert checkout.commit()


def test_a_record_that_is_being_written_is_no_change_of_the_code(tmp_path, monkeypatch):
    for name in ("workflow/Snakefile", "results/table.parquet", "notebooks/one.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    git = ["git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e"]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "all"]):
        subprocess.run([*git, *command], check=True)
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    clean = checkout.commit()
    (tmp_path / "results" / "table.parquet").unlink()
    (tmp_path / "other.txt").touch()
    assert checkout.commit(written="results") == clean
    assert checkout.commit() == f"{clean}-dirty"
    (tmp_path / "notebooks" / "one.py").write_text("1\n")
    assert checkout.commit(written="results") == f"{clean}-dirty"
