# The runs of a grid, as `focal grid` asks for them:
#
#   snakemake --snakefile workflow/grid.smk --cores 2 runs --config grid=workflow/grids/fashion-mnist.yaml runs=_build/runs \
#       run_logs=$(mktemp -d)

import os
import sys
import time
from pathlib import Path

localrules: data

ROOT = Path(workflow.basedir).parent
workdir: ROOT
sys.path.insert(0, str(ROOT))

from focal_lib.atomic_write import remove_leftovers
from reproduction.engine import read_grid

RUNS = {spec.digest: spec for spec in read_grid(config["grid"])}
RUNS_AT, RUN_LOGS = config["runs"], config["run_logs"]
RUN_OPTIONS = config.get("run_options") or ""
MADE = Path(".snakemake") / f"made-{os.getpid()}"  # of this call, see workflow/tell.py


def then_tell(name):
    """The end of a shell command: how the job ended is told, and is its exit status."""
    return f" && status=0 || status=$?; python workflow/tell.py $status $SECONDS {name} {{log:q}}"


onstart:
    remove_leftovers(Path(RUNS_AT))  # what killed builds left
    jobs = [job for job in workflow.dag.needrun_jobs() if job.output]
    MADE.write_text(f"{len(jobs)} {time.time():.0f}\n")
    os.environ["FOCAL_MADE"] = str(MADE)


onsuccess:
    MADE.unlink(missing_ok=True)


onerror:
    MADE.unlink(missing_ok=True)


wildcard_constraints:
    digest="|".join(RUNS),


rule runs:
    input: expand(f"{RUN_LOGS}/{{digest}}.finished", digest=RUNS)


rule data:
    output: touch(f"{RUN_LOGS}/{{dataset}}.ready")
    log: f"{RUN_LOGS}/data-{{dataset}}.txt"
    message: "data set {wildcards.dataset}"
    shell: "python -m reproduction.engine.data {wildcards.dataset} > {log:q} 2>&1" + then_tell("'data set {wildcards.dataset}'")


# The files of a run are no outputs: Snakemake would delete what a killed job left, and a checkpoint is to be resumed, a
# finished run to be kept. Whether it is finished is for the run to say; the markers here are this call's alone, so that
# of two grids at once neither misses nor removes what the other has marked. `focal grid` marks what is finished before.
rule train:
    input: ancient(lambda wildcards: f"{RUN_LOGS}/{RUNS[wildcards.digest].dataset}.ready")
    output: touch(f"{RUN_LOGS}/{{digest}}.finished")
    params: name=lambda wildcards: f"run {RUNS[wildcards.digest].name}"
    message: "{params.name}"
    log: f"{RUN_LOGS}/run-{{digest}}.txt"
    threads: lambda wildcards: RUNS[wildcards.digest].threads
    resources: gpu_places=1  # limited where `focal grid --device cuda` counts them
    shell: "focal run --grid {config[grid]:q} --digest {wildcards.digest} --root {RUNS_AT:q} {RUN_OPTIONS} > {log:q} 2>&1" + then_tell("{params.name:q}")
