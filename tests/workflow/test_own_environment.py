"""An environment beside the project's own is made once for a lock file."""

from workflow import own_environment


def test_the_environment_is_made_once_for_a_lock_file(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(
        own_environment.venv, "create", lambda home, **_: (made.append(home), home.mkdir(exist_ok=True))
    )
    monkeypatch.setattr(own_environment, "install", lambda lock, python: made.append(lock))
    home, lock = tmp_path / "home", tmp_path / "a.lock"
    for content in ("one==1\n", "one==1\n", "one==2\n"):
        lock.write_text(content)
        own_environment.make_environment(home, lock)
    assert made == [home, lock] * 2
