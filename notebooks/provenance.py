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
# from the grids in `workflow/grids`, the records of the runs in `results` and the list of data sets. KK24 is
# {cite:t}`kk24`, M20 {cite:t}`m20`, KN24 {cite:t}`kn24`, L25 {cite:t}`l25`.

# %% tags=["parameters"]
record: str = "cifar10-record"  # folder in results: runs in bf16
again: str = "cifar10-precision"  # one of them in float32
pairs: str = "cifar10-bf16-gpu, cifar10-float32-gpu"  # the same seeds in both, on one GPU

# %% tags=["hide-input"]

import pandas as pd
from IPython.display import display

from reproduction.engine import data
from reproduction.engine.machine import spell_cores
from reproduction.pages.footer import foot
from reproduction.pages.notes import at_most, note
from reproduction.pages.tables import captioned, in_words
from reproduction.studies.cifar.other_training import compare_by_seed, compare_run_with_seeds
from reproduction.studies.shared import speed
from reproduction.studies.shared.experiments import experiment_table, list_experiments, recorded_data
from reproduction.studies.shared.over_seeds import say_seeds
from reproduction.studies.shared.recorded import load_recorded, read_table

found = list_experiments()

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
# record. `focal grid workflow/grids/NAME.yaml --dry-run` estimates the hours on your machine. Some chapters
# train networks without a grid: {ref}`ch-miscalibration`, {ref}`ch-simple`, {ref}`ch-raters`, {ref}`ch-fclnet`,
# {ref}`ch-looks` and {ref}`ch-text`. In what those differ, and what they cost where that is recorded, stands there.

# %% tags=["remove-input"]
words = 'class="dataframe words"'
listed = experiment_table(found).style.format(escape="html").set_properties(**{"white-space": "pre-line"})
listed.hide().set_uuid("experiments").set_table_attributes(words).set_caption("Grids, those that were run first")

# %% [markdown]
# (sec-provenance-speed)=
# ## How fast training is
#
# Images a second in training, in the papers' batches, as `python -m benchmarks.training` measures them. One is a loop
# with torchvision's transforms in float32, whose convolutions PyTorch does in TF32 on a GPU. The others are ours, with
# steps as PyTorch does them (plain) and, on a GPU, compiled, and replayed as a CUDA graph, one launch a step. Ours is
# deterministic as in a run, in float32, or in bf16 with the last layer in float32. The share is of the rate of a large
# matrix product in the same precision; of TF32 it was not measured. Torchvision's loop is never in bf16: ratios to it
# hold the change of precision, too. Where bf16 is slower and its share larger, a product in bf16 is slower, too. Runs
# share a card as processes (`--per-device`): several seeds in one process are not built.

# %% tags=["remove-input"]
for device, part in speed.read_training_rates().groupby("device", sort=False):
    networks = ", ".join(map(in_words, part["network"].unique()))
    caption = f"Speed of training {networks} on {device}"
    display(captioned(speed.tabulate_training(part), caption, precision=1, index=False))

# %% [markdown]
# (sec-provenance-precision)=
# ## What bf16 changes
#
# The main CIFAR runs of [](#ch-table1) are in bf16: where a network multiplies, numbers are rounded to eight
# significant bits; weights, sums, the last layer and the logits are in float32. One of them, cross-entropy with seed
# {glue:text}`provenance-seed`, was trained again in float32; and the same loss was trained in both precisions on a GPU,
# {glue:text}`provenance-paired:s` each. Does bf16 change what is reported? Every change here is bf16 minus float32.

# %% tags=["hide-input"]
by_precision = {load_recorded(n)[0].spec.training.precision: n for n in map(str.strip, pairs.split(","))}
if set(by_precision) != {"bf16", "float32"}:
    raise ValueError(f"pairs must name a grid in bf16 and one in float32. Got {pairs!r}.")
bf16, float32 = by_precision["bf16"], by_precision["float32"]
by_seed = compare_by_seed(read_table(bf16), read_table(float32))
of_pairs = load_recorded(bf16)
own = of_pairs[0].spec
heads = {"there": "float32", "here": "bf16", "change": "bf16 minus float32", "low": "95 % from", "high": "to"}
caption = f"{in_words(own.model)} on {in_words(own.dataset)}, {in_words(own.label)}, test images, paired by seed"
captioned(by_seed.drop(columns="seeds").rename(columns=heads), caption, precision=3)

# %% tags=["remove-input"]
both = [*of_pairs, *load_recorded(float32)]
card = spell_cores(" and ".join(dict.fromkeys(m for run in both for m in run.compute.machines)))
note("provenance", paired=say_seeds(len(of_pairs)), card=card)
without = by_seed[(by_seed["low"] > 0) | (by_seed["high"] < 0)]
changed = [f"{name} ({row.low:+.2f} to {row.high:+.2f})" for name, row in without.iterrows()]
note("provenance", changed="; ".join(changed) or "none", of_pairs=len(by_seed), chance_pairs=0.05 * len(by_seed))
widest = by_seed[by_seed.index.str.startswith("ECE")][["low", "high"]].abs().to_numpy().max()
widest_nll = by_seed.loc["NLL", ["low", "high"]].abs().max()
note("provenance", widest_ece=at_most(widest, 1), widest_nll=at_most(widest_nll, 2))
note("provenance", more_in_bf16=int((by_seed["change"] > 0).sum()))

# %% [markdown]
# On {glue:text}`provenance-card:s`, paired by seed, with a 95 % t interval over {glue:text}`provenance-paired:s`: of
# {glue:text}`provenance-of-pairs` numbers, each for itself, the interval of the change excludes 0 for
# {glue:text}`provenance-changed:s`; by chance alone about {glue:text}`provenance-chance-pairs:.1f` of them would.
# Higher in bf16 are {glue:text}`provenance-more-in-bf16`; they depend on one another. The intervals allow changes of up
# to {glue:text}`provenance-widest-ece:.1f` points of ECE and {glue:text}`provenance-widest-nll:.2f` nats: smaller ones
# so few seeds do not tell from none.
#
# On a processor there is one run in float32, beside the seeds in bf16:

# %% tags=["hide-input"]
single = load_recorded(again)[0]
beside = compare_run_with_seeds(read_table(again), read_table(record))
asked = (single.spec.label, single.spec.seed)
same = next(run for run in load_recorded(record, part=True) if (run.spec.label, run.spec.seed) == asked)
precisions = {"there": same.spec.training.precision, "here": single.spec.training.precision}
heads = precisions | {"change": f"{precisions['there']} minus {precisions['here']}"}
heads |= {"low": "a further seed, from", "high": "to"}
shown = beside.assign(change=-beside["change"])[["here", "there", "change", "low", "high"]].rename(columns=heads)
what = f"{in_words(single.spec.model)} on CIFAR-10, {in_words(single.spec.label)}, seed {single.spec.seed}"
captioned(shown, f"{what}, test images; T chosen on validation images", precision=3)

# %% tags=["remove-input"]
outside = [name for name, inside in beside["inside"].items() if not inside]
inside, seeds = f"{len(beside) - len(outside)} of the" if outside else "all", int(beside["seeds"].iloc[0])
note("provenance", seed=single.spec.seed, seeds=seeds, inside=f"{inside} {len(beside)} numbers")
note("provenance", outside=f" Outside: {'; '.join(outside)}." if outside else "")
note("provenance", beyond=f"{beside['beyond'].sum()} of {len(beside)}", beyond_by_chance=2 / (seeds + 1))

# %% tags=["remove-input"]
half = (beside["high"] - beside["low"]) / 2
half_ece, half_t = (half[half.index.str.contains(name)].max() for name in ("^ECE", "^T by"))
note("provenance", half_ece=half_ece, half_nll=half["NLL"], half_t=half_t)
note("provenance", lower=int((beside["here"] < beside["there"]).sum()), compared=len(beside))
for how, run in {"there": same, "here": single}.items():
    machines = spell_cores(" and ".join(run.compute.machines))
    note("provenance", {f"precision-{how}": precisions[how], f"machine-{how}": machines})

# %% [markdown]
# The last two columns are a 95 % prediction interval, in which a further seed in
# {glue:text}`provenance-precision-there` is expected after {glue:text}`provenance-seeds` seeds. In it lie
# {glue:text}`provenance-inside` of the run in {glue:text}`provenance-precision-here`.{glue:text}`provenance-outside`
# Beyond the least and the largest of the seeds lie {glue:text}`provenance-beyond`; a number of a run with a new seed
# does so with probability {glue:text}`provenance-beyond-by-chance:.1f`, but this one repeats a seed, and its numbers go
# together: {glue:text}`provenance-lower` of {glue:text}`provenance-compared` are lower in it. The intervals reach up to
# {glue:text}`provenance-half-ece:.1f` points of ECE, {glue:text}`provenance-half-nll:.3f` nats and
# {glue:text}`provenance-half-t:.1f` of $T$ to either side of the mean of the seeds: whether bf16 changes less than that
# one run does not tell. The two were trained on {glue:text}`provenance-machine-there` and
# {glue:text}`provenance-machine-here`; another processor rounds sums in another order.

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
kept = recorded_data()
titles = list(dict.fromkeys(data.find_source(name).title for name in kept.values()))
note("provenance", kept=", ".join(titles[:-1]) + f" and {titles[-1]}", folders=len(kept))

# %% [markdown]
# ## What is passed on
#
# No image, text or rater's vote of these data sets is in the repository. `results` holds the logits and labels of
# validation and test samples of {glue:text}`provenance-kept`, in {glue:text}`provenance-folders` folders of runs, and
# tables of numbers; a test checks that it holds nothing else. The built book shows a few images of Fashion-MNIST
# ({numref}`fig-looks-maps`). Sentences of the papers stand as quotations, and the numbers of their tables as
# data with their source. What is ours, prose, figures, code and recorded results, is under the MIT licence, see
# `LICENSE`; `CITATION.cff` says how to cite it. `results/ro-crate-metadata.json` describes the records as an RO-Crate.

# %% tags=["remove-input"]
foot("provenance", record=record, again=again, pairs=pairs)
