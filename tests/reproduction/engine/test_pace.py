"""How long a run takes to begin and an epoch lasts: told by the logs of earlier tries, on one machine."""

import json

import pytest

from reproduction.engine.pace import Pace, Tempo, alike, known_pace
from reproduction.engine.store import log_attempt


def test_runs_that_take_the_same_time(small):
    same = [small(), small(seed=3), small(gamma=2), small(loss="flsd-53"), small(loss="mmce", lam=2)]
    assert len({alike(spec) for spec in same}) == 1
    other = [small(loss="hessian-trace", lam=0.1), small(n_train=50), small(model="mlp"), small(batch_size=10)]
    assert len({alike(spec) for spec in [*other, small(precision="bf16"), small()]}) == 6
    assert alike(small(loss="hessian-trace", lam=0.1)) == alike(small(loss="hessian-trace", lam=0.2, seed=1))


def left_by(spec, machine="here", known=None, begun=0.0, epochs=((5, 9), (9, 10))):
    tempo = Tempo(spec, machine, begun, known)
    for started, ended in epochs:
        tempo.add(started, ended)
    return tempo.told()


def test_the_last_try_on_this_machine_tells_the_pace(small, tmp_path):
    spec = small()
    assert known_pace(spec, tmp_path, "here") is None
    (tmp_path / spec.digest).mkdir()
    log_attempt(tmp_path / spec.digest, "stopped", **left_by(spec))
    log_attempt(tmp_path / spec.digest, "stopped", **left_by(spec, "there", epochs=[(0, 100)]))
    log_attempt(tmp_path / spec.digest, "start")
    with (tmp_path / spec.digest / "log.jsonl").open("a") as file:
        file.write('[]\n{"time": ')  # half a line
    assert known_pace(spec, tmp_path, "here") == Pace(begin=9, epoch=1)
    assert known_pace(spec, tmp_path, "there") == Pace(begin=100, epoch=100)
    assert known_pace(small(gamma=2, seed=1), tmp_path, "here") == Pace(9, 1)  # its own folder has nothing
    assert known_pace(small(model="mlp"), tmp_path, "here") is None
    lines = [{"time": f"2026-01-0{day}", **left_by(spec, epochs=[(0, day)])} for day in (1, 3, 2)]
    (tmp_path / spec.digest / "log.jsonl").write_text("\n".join(map(json.dumps, lines)))
    assert known_pace(spec, tmp_path, "here") == Pace(3, 3)


@pytest.mark.parametrize(
    ("known", "epochs", "expected"),
    [
        (None, [(5, 105)], 100),
        (None, [(5, 105), (105, 106), (106, 109)], 3),
        (Pace(50, 2), [(5, 105)], 2),  # the first compiles
        (Pace(50, 200), [(5, 105)], 100),  # the machine was busy then
        (Pace(50, 2), [(5, 105), (105, 106)], 1),
    ],
)
def test_how_long_the_next_epoch_will_take(small, known, epochs, expected):
    tempo = Tempo(small(), "here", 0.0, known)
    assert tempo.told() == {}
    for started, ended in epochs:
        tempo.add(started, ended)
    assert tempo.epoch == expected
    assert tempo.told()["pace"] == {"like": alike(small()), "machine": "here", "begin": 105, "epoch": expected}
