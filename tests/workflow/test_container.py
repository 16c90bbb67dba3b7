"""Container, development container, Binder and GitHub's workflows: one Python, one lock file, one list of packages."""

import http.client
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
import tomllib

import pytest
import yaml
from packaging.specifiers import SpecifierSet

from reproduction.checkout import ROOT

DOCKERFILE = (ROOT / "Dockerfile").read_text()
WORKFLOWS = {path.name: path for path in (ROOT / ".github" / "workflows").glob("*.yml")}
DEBIAN = "workflow/debian_packages.sh"


def _jobs():
    return [job for path in WORKFLOWS.values() for job in yaml.safe_load(path.read_text())["jobs"].values()]


def _commands(job):
    return [step["run"] for step in job.get("steps", ()) if "run" in step]


def _made(commands):
    """Targets that commands ask make for."""
    calls = [call for command in commands for call in re.findall(r"\bmake ([^&;\n]+)", command)]
    return {word for call in calls for word in call.split() if not re.match(r"-|\w+=", word)}


def test_workflows_make_what_the_makefile_has():
    targets = set(re.findall(r"^([\w./-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = _made(command for job in _jobs() for command in _commands(job))
    assert {"book", "dist", ".venv/ready"} <= asked <= targets
    assert _made(["make wheels SLOW=1 && cp a b"]) == {"wheels"}


def test_links_of_the_readme_lead_to_the_repository_on_pypi(tmp_path):
    shutil.copy(ROOT / "README.md", tmp_path)
    steps = yaml.safe_load(WORKFLOWS["release.yml"].read_text())["jobs"]["dist"]["steps"]
    [command] = [step["run"] for step in steps if "README.md" in step.get("run", "")]
    told = os.environ | {"GITHUB_REPOSITORY": "owner/name", "GITHUB_REF_NAME": "1.0.0"}
    subprocess.run(["bash", "-ec", command], cwd=tmp_path, env=told, check=True)
    links = re.findall(r"(!?)\[[^]]*\]\(([^)\s]+)\)", (tmp_path / "README.md").read_text())
    assert [link for _, link in links if not link.startswith("https://")] == []
    [picture] = [link for mark, link in links if mark]
    assert picture == "https://github.com/owner/name/raw/1.0.0/book/_static/law.png"


def test_one_version_of_python_everywhere():
    conda = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    [version] = [name.removeprefix("python=") for name in conda if str(name).startswith("python=")]
    [image] = re.findall(r"FROM (python:\S+)", DOCKERFILE)
    assert re.fullmatch(rf"python:{version}-bookworm@sha256:[0-9a-f]{{64}}", image)
    assert (ROOT / "binder/runtime.txt").read_text() == f"python-{version}\n"
    images = {job["container"] for job in _jobs() if "container" in job} - {"python:${{ matrix.python }}-bookworm"}
    assert images == {image}


def test_both_commands_run_on_each_supported_python():
    job = yaml.safe_load(WORKFLOWS["test.yml"].read_text())["jobs"]["test"]
    assert {"make book", "make test SLOW=1"} <= set(_commands(job))
    supported = SpecifierSet(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["requires-python"])
    possible = [f"3.{minor}" for minor in range(8, 30)]
    assert job["strategy"]["matrix"]["python"] == [v for v in possible if supported.contains(v)]


def test_github_runs_what_ci_run_does_and_makes_the_pdf():
    setting = ["set -euo pipefail", 'cd "$(dirname "$0")/.."']
    lines = [line.partition("  #")[0] for line in (ROOT / ".ci/run").read_text().splitlines()]
    first, *asked = [line for line in lines if line and not line.startswith("#") and line not in setting]
    [at_once] = [line for line in asked if line.startswith("make -j")]
    asked.remove(at_once)
    asked += [f"make {target}" for target in at_once.split()[2:] if target != ".venv/ready"]  # which all make first
    assert first == f"bash {DEBIAN}"
    jobs = yaml.safe_load(WORKFLOWS["test.yml"].read_text())["jobs"].values()
    done = [command for job in jobs for command in _commands(job)]
    assert set(done) == {first, *asked, "make pdf"}


def test_all_take_the_one_lock_file():
    assert (ROOT / "binder/requirements.txt").read_text() == "-r ../requirements.lock\n"
    assert "pip install --no-cache-dir -qq -r requirements.lock" in DOCKERFILE
    container = json.loads((ROOT / ".devcontainer/devcontainer.json").read_text())
    stages = re.findall(r"FROM \S+ AS (\w+)", DOCKERFILE)
    assert container["build"]["dockerfile"] == "../Dockerfile"
    assert container["build"]["target"] in stages
    assert container["postCreateCommand"] == "make .venv/ready"


def test_debian_packages_have_one_list():
    listed = (ROOT / "workflow/debian_packages.txt").read_text().split()
    assert listed == sorted(set(listed))
    assert set((ROOT / "binder/apt.txt").read_text().split()) <= set(listed)
    assert f"bash {DEBIAN}\n" in (ROOT / ".ci/run").read_text()
    assert all(path in DOCKERFILE for path in (DEBIAN, DEBIAN.replace(".sh", ".txt")))
    for job in _jobs():
        if "container" in job:
            assert _commands(job)[0] == f"bash {DEBIAN}"


def test_scripts_and_files_of_the_container_are_there():
    [command] = re.findall(r"^CMD (\[.*\])$", DOCKERFILE, re.MULTILINE)
    assert json.loads(command)[:2] == ["bash", "workflow/serve.sh"]
    copied = re.findall(r"^COPY (?:--\S+ )*(.+) \S+$", DOCKERFILE, re.MULTILINE)
    assert copied
    assert all((ROOT / path).exists() for line in copied for path in line.split())


def test_actions_are_pinned_by_commit():
    used = [step["uses"] for job in _jobs() for step in job.get("steps", ()) if "uses" in step]
    assert used
    assert [name for name in used if not re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", name)] == []


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.citation-file-format", ["CITATION.cff"]),
        ("vendor.dependabot", [".github/dependabot.yml"]),
        ("vendor.github-workflows", [f".github/workflows/{name}" for name in WORKFLOWS]),
    ],
)
def test_files_fit_their_schema(schema, files):
    command = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", schema, *files]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_the_default_command_builds_and_serves(tmp_path):
    """With a make that writes one page."""
    (tmp_path / "workflow").mkdir()
    shutil.copy(ROOT / "workflow/serve.sh", tmp_path / "workflow")
    make = tmp_path / "bin" / "make"
    make.parent.mkdir()
    make.write_text('#!/bin/sh\n[ "$1" = book ] && mkdir -p _build/html && echo the book > _build/html/index.html\n')
    make.chmod(0o755)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = os.environ | {"PATH": f"{make.parent}:{os.environ['PATH']}", "PYTHON": sys.executable}
    command = ["bash", tmp_path / "workflow/serve.sh", str(port)]
    server = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        for _ in range(100):
            try:
                connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
                connection.request("GET", "/")
                page = connection.getresponse().read()
                break
            except OSError:
                assert server.poll() is None, server.stdout.read()
                time.sleep(0.1)
        assert page == b"the book\n"
    finally:
        server.terminate()
        server.wait()
