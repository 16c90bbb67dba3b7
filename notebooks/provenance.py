# ---
# jupyter:
#   jupytext:
#     cell_metadata_filter: tags,mystnb,-all
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# (page-provenance)=
# # Experiments, their cost, their data
#
# **What is this?** What somebody needs who cites or checks this reproduction: in what each experiment differs from the
# one in its paper, what became of it and what it cost, whose data it uses, and under which terms. The tables are made
# from the grids in `workflow/grids`, the records of the runs in `results` and the list of data sets.

# %% tags=["parameters"]
grid: str = "workflow/grids/fashion-mnist.yaml"  # the grid whose runs make book trains
runs: str = "_build/runs"  # where they are

# %% tags=["hide-input"]
from pathlib import Path

import pandas as pd
from IPython.display import Markdown

from focal_lib import results, training
from focal_lib.pages.footer import foot
from focal_lib.pages.notes import note
from focal_lib.pages.tables import captioned, in_words
from focal_lib.results import speed
from focal_lib.training import data

live = {Path(grid).stem: training.load_runs(grid, runs)}
found = results.list_experiments(live)

# %% tags=["remove-input"]
waiting = [one for one in found if one.status == "not run"]
note("provenance", experiments=len(found), not_run=len(waiting))
note("provenance", images_not_run=sum(one.images for one in waiting))

# %% [markdown]
# ## In what they differ
#
# {glue:text}`provenance-experiments` grids say which table or figure they stand for; {glue:text}`provenance-not-run` of
# them have not been run, which would take {glue:text}`provenance-images-not-run:,` images. Images count once for every
# pass of training. What a run cost is in its own record, and where that is older than the records of cost, it is not on
# record. `focal grid workflow/grids/NAME.yaml --dry-run` estimates the hours on the machine at hand. Some chapters
# train networks without a grid: {ref}`ch-miscalibration`, {ref}`ch-simple`, {ref}`ch-raters`, {ref}`ch-fclnet`,
# {ref}`ch-looks` and {ref}`ch-text`. In what those differ, and what they cost where that is recorded, stands there.

# %% tags=["remove-input"]
words = 'class="dataframe words"'
table = results.experiment_table(found).style.format(escape="html").set_properties(**{"white-space": "pre-line"})
table.hide().set_uuid("experiments").set_table_attributes(words).set_caption("Grids, those that were run first")

# %% [markdown]
# ## How fast a GPU is
#
# Images a second in training, in the papers' batches, as `python -m benchmarks.training` measures them: a loop with
# torchvision's transforms in float32, and ours with its steps as PyTorch does them (plain), compiled, and replayed as a
# CUDA graph, one launch a step; deterministic as in a run, in bf16 with the last layer in float32. The share is of the
# rate of a large matrix product in the same precision.

# %% tags=["remove-input"]
rates = speed.read_training_rates()
made_on = [] if rates is None else [*map(in_words, rates["network"].unique()), *rates["device"].unique()]
caption = f"Speed of training: {', '.join(made_on)}"
None if rates is None else captioned(speed.tabulate_training(rates), caption, precision=1, index=False)

# %% tags=["remove-input"]
Markdown(speed.say_training(rates))

# %% [markdown]
# ## Whose data
#
# The terms are abridged, as far as the authors' pages and packages state any; who uses the data has to read them there.

# %% tags=["remove-input"]
columns = ["data", "home", "terms", "to cite"]
sources = pd.DataFrame([(s.title, s.url, s.terms, s.cite) for s in data.SOURCES.values()], columns=columns)
listed = sources.style.format(escape="html").set_properties(subset=["home"], **{"overflow-wrap": "anywhere"})
listed.hide().set_uuid("sources").set_table_attributes(words)
listed.set_caption("Data sets and word vectors that the package reads")

# %% tags=["remove-input"]
kept = results.recorded_data()
titles = list(dict.fromkeys(data.find_source(name).title for name in kept.values()))
note("provenance", kept=" and ".join(titles), folders=len(kept))

# %% [markdown]
# ## What is passed on
#
# No image, text or rater's vote of these data sets is in the repository. `results` holds the logits and labels of
# validation and test samples of {glue:text}`provenance-kept`, in {glue:text}`provenance-folders` folders of runs, and
# tables of numbers; a test looks that it holds nothing else. The built book shows a few images of Fashion-MNIST
# ({numref}`fig-miscalibration-images`). Sentences of the papers stand as quotations, and the numbers of their tables as
# data with their source. What is ours, prose, figures, code and recorded results, is under the MIT licence, see
# `LICENSE`; `CITATION.cff` says how to cite it. `results/ro-crate-metadata.json` describes the records as an RO-Crate.

# %% tags=["remove-input"]
foot("provenance", grid=grid, runs=runs)
