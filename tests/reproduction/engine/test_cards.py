"""GPUs are shared out among jobs, the empty ones first, and a killed job frees its place."""

import contextlib
import re
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import yaml

from reproduction.checkout import ROOT
from reproduction.engine import cards, jobs
from reproduction.engine.cards import place_on_a_card
from reproduction.engine.locks import TimeUp


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cards.tempfile, "gettempdir", lambda: str(tmp_path))


def test_each_gpu_gets_a_job_before_one_gets_two():
    with contextlib.ExitStack() as stack:
        taken = [stack.enter_context(place_on_a_card(2, ["a", "b", "c"])) for _ in range(6)]
    assert taken == ["cuda:0", "cuda:1", "cuda:2"] * 2


def test_jobs_count_in_whatever_place_they_are():
    """Of two jobs that share a GPU the first ends; who wants a GPU of its own does not get this one."""
    with contextlib.ExitStack() as stack:
        with place_on_a_card(2, ["a"]):
            stack.enter_context(place_on_a_card(2, ["a"]))
        with pytest.raises(TimeUp), place_on_a_card(1, ["a"], until=0):
            pass
        with place_on_a_card(1, ["a", "b"]) as alone:
            assert alone == "cuda:1"
        with place_on_a_card(2, ["a", "b"]) as empty, place_on_a_card(2, ["a"]) as shared:
            assert (empty, shared) == ("cuda:1", "cuda:0")
    with place_on_a_card(1, ["a"]) as device:
        assert device == "cuda:0"


def test_jobs_that_choose_at_once_share_out_all_places():
    together = threading.Barrier(6)

    def choose(_):
        together.wait()
        with place_on_a_card(3, ["a", "b"], poll=0.01, until=time.time() + 60) as device:
            together.wait()  # nobody leaves before all have chosen
            return device

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(choose, range(6))) == ["cuda:0"] * 3 + ["cuda:1"] * 3


def test_a_full_machine_is_waited_for():
    holding, done = threading.Event(), threading.Event()

    def hold():
        with place_on_a_card(1, ["a"]):
            holding.set()
            done.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    holding.wait()
    threading.Timer(0.3, done.set).start()
    started = time.monotonic()
    with place_on_a_card(1, ["a"], poll=0.05) as device:
        assert device == "cuda:0"
    assert time.monotonic() - started > 0.2
    thread.join()


def test_a_full_machine_is_waited_for_until_the_time_is_up():
    with place_on_a_card(1, ["a"]):
        started = time.time()
        told = "time is up, and every GPU is still taken"
        with pytest.raises(TimeUp, match=told), place_on_a_card(1, ["a"], until=started + 0.1):
            pass
        assert 0.1 <= time.time() - started < 0.9  # not the second between two looks


def test_a_killed_job_frees_its_place(tmp_path):
    code = (
        "import sys, time; from reproduction.engine import cards; cards.tempfile.gettempdir = lambda: sys.argv[1]\n"
        "with cards.place_on_a_card(1, ['a', 'b']) as device: print(device, flush=True); time.sleep(600)"
    )
    process = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE)
    assert process.stdout.readline() == b"cuda:0\n"
    with place_on_a_card(1, ["a", "b"]) as device:
        assert device == "cuda:1"
    process.kill()
    process.wait()
    with place_on_a_card(1, ["a", "b"]) as device:
        assert device == "cuda:0"


@pytest.fixture
def no_gpu(monkeypatch):
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)


def test_no_gpu(no_gpu):
    with pytest.raises(ValueError, match=r"this machine has 0 GPUs. Got 'cuda'"), place_on_a_card(1):
        pass


@pytest.fixture
def asked(monkeypatch):
    """The command that do_grid would give to Snakemake."""
    monkeypatch.delenv("SNAKEMAKE_PROFILE", raising=False)
    commands = []
    monkeypatch.setattr(jobs.subprocess, "Popen", lambda command, **_: commands.append(command))
    monkeypatch.setattr(jobs, "_wait", lambda process, minutes: commands[-1].append(minutes) or 0)
    monkeypatch.setattr(jobs, "cards_here", lambda: ["a", "b"])

    def ask(tmp_path, **options):
        (tmp_path / "grid.yaml").write_text("gamma: 1\n")
        assert jobs.do_grid(tmp_path / "grid.yaml", tmp_path / "runs", **options).code == 0
        *command, minutes = commands[-1]
        given = [part.removeprefix("run_options=") for part in command if str(part).startswith("run_options=")]
        return command, given[0].split() if given else [], minutes

    return ask


def test_here_the_scheduler_knows_the_places_and_a_job_takes_one(asked, tmp_path):
    command, options, _ = asked(tmp_path, device="cuda", per_device=3)
    assert command[command.index("--resources") + 1] == "gpu_places=6"
    assert options == ["--device", "cuda", "--per-device", "3"]
    command, options, _ = asked(tmp_path)
    assert "--resources" not in command
    assert options == []


def test_on_a_cluster_a_job_takes_what_it_was_given_and_has_its_own_minutes(asked, tmp_path):
    more = ["--profile", "workflow/slurm/gpu"]
    command, options, minutes = asked(tmp_path, device="cuda", minutes=110, more=more)
    assert "--resources" not in command
    assert options == ["--device", "cuda", "--minutes", "110"]
    assert minutes is None  # Snakemake is not stopped
    _, options, minutes = asked(tmp_path, minutes=9, again=True)
    assert options[:2] == ["--again", "--until"]
    assert 500 < float(options[2]) - time.time() <= 541
    assert options[3] == "--since"  # a run that is begun late knows that an earlier one would have had more
    assert float(options[2]) - float(options[4]) == pytest.approx(540, abs=1)
    assert minutes == 9


@pytest.mark.parametrize(
    ("more", "profile", "cluster"),
    [
        ("", "", False),
        ("--jobs 3 --verbose", "none", False),
        ("--executor slurm", "", True),
        ("--executor=slurm", "", True),
        ("--jobs 9 -e slurm", "", True),
        ("-eslurm", "", True),
        ("--executor local", "", False),
        ("-e local", "a-cluster", False),  # of a profile, the resources
        ("-e local -e slurm", "", True),
        ("--executor dryrun", "", False),
        ("--profile workflow/slurm/gpu", "", True),
        ("--profile=workflow/slurm/gpu", "", True),
        ("--profile none", "a-cluster", False),
        ("--workflow-profile there", "", True),
        ("--workflow-profile none", "", False),
        ("--workflow-profile none", "a-cluster", True),
        ("--executor-like x", "", False),
        ("", "a-cluster", True),
    ],
)
def test_what_hands_jobs_to_other_machines(monkeypatch, more, profile, cluster):
    monkeypatch.setenv("SNAKEMAKE_PROFILE", profile)
    assert jobs.is_for_cluster(more.split()) == cluster


def test_a_job_takes_a_place_here_and_a_gpu_on_the_cluster():
    """Of the places that `focal grid` counts, and of the GPUs that Slurm knows."""
    (train,) = re.findall(r"^rule train:\n((?:    .*\n)+)", (ROOT / "workflow" / "Snakefile").read_text(), re.M)
    assert re.findall(r"^    resources: (\S+)", train, re.M) == ["gpu_places=1"]
    profile = yaml.safe_load((ROOT / "workflow" / "slurm" / "gpu" / "config.yaml").read_text())
    assert profile["executor"] == "slurm"
    assert profile["default-resources"]["gres"] == "gpu:1"


def test_no_gpu_here(no_gpu, tmp_path):
    with pytest.raises(ValueError, match=r"this machine has 0 GPUs. Got 'cuda'"):
        jobs.do_grid(tmp_path / "grid.yaml", tmp_path, device="cuda")
