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
# (page-experiment)=
# # Train one network
#
# **What is this?** One training run as a page: give it a data set, a network, a loss and a seed, and read what came
# out. `focal run -p loss focal -p gamma 3 --page run.ipynb` fills it in, and so does plain papermill. A run that exists
# is not repeated; one that was interrupted goes on. With its default parameters the run is so small that its
# numbers mean nothing.

# %% tags=["parameters"]
dataset: str = "fashion-mnist"  # see the table below; or a folder in FOCAL_DATA
model: str = "small-cnn"  # see the table below
loss: str = "focal"  # see the table below
gamma: float = 2.0  # of the focal losses; none where the loss has no gamma; at least 0
lam: float = None  # weight of the added term, or the smoothing; none where the loss has no lam; at least 0
seed: int = 0  # of the split, the weights and the order of the batches; at least 0
recipe: str = "book-fast"  # see the table below
n_train: int = 500  # training samples; at least 1
n_validation: int = 1000  # validation samples; at least 1
epochs: int = 20  # 0: as in the recipe
batch_size: int = 0  # 0: as in the recipe
learning_rate: float = 0.0  # 0: as in the recipe
evaluate_every: int = 2  # epochs between rows of the history; at least 1
precision: str = "recipe"  # or float32, or bf16
keep_every: int = 0  # epochs between test logits that are kept; 0: those of the end alone; at least 0
threads: int = 1  # of the processor, to train with; at least 1
runs: str = ""  # folder of the runs; empty for the default

# %% tags=["hide-input"]
import pandas as pd
from scipy.special import softmax

from focal_lib import metrics
from focal_lib.calibration import TemperatureScaling
from focal_lib.plots.reliability import reliability_diagrams
from focal_lib.plots.style import use_style
from reproduction import engine
from reproduction.engine import LOSSES, RECIPES
from reproduction.engine.data import DATASETS
from reproduction.engine.models import MODELS
from reproduction.pages.differences import differences
from reproduction.pages.footer import foot
from reproduction.pages.plots.curves import line_figure
from reproduction.pages.tables import captioned

use_style()

# %% [markdown]
# ## What can be chosen
#
# A recipe is the whole schedule; the papers' are named after them, and a short one says that it is one.

# %% tags=["hide-input"]
rows = [(name, r.epochs, r.optimiser, r.source) for name, r in RECIPES.items()]
recipes = pd.DataFrame(rows, columns=["recipe", "epochs", "optimiser", "source"])
captioned(recipes, "Recipes of training", index=False)

# %%
uses = pd.DataFrame([(name, ", ".join(own) or "none") for name, own in LOSSES.items()], columns=["loss", "parameters"])
captioned(uses, "Losses and the parameters they take", index=False)

# %% [markdown]
# Cross-entropy is the focal loss with $\gamma = 0$: `loss="focal", gamma=0`.

# %%
choices = {"data set": DATASETS, "network": MODELS}
choices = pd.DataFrame([(kind, ", ".join(names)) for kind, names in choices.items()], columns=["what", "names"])
captioned(choices, "Data sets and networks", index=False)

# %% [markdown]
# ## The run

# %% tags=["hide-input"]
chosen = {"dataset": dataset, "model": model, "loss": loss, "gamma": gamma, "lam": lam, "seed": seed, "recipe": recipe}
chosen |= {"n_train": n_train, "n_validation": n_validation, "evaluate_every": evaluate_every}
chosen |= {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate, "precision": precision}
chosen |= {"keep_every": keep_every, "threads": threads}
spec = engine.Spec(**{name: value for name, value in chosen.items() if value is not None})

# %%
result = engine.run(spec, runs or None)
print(engine.describe(result), "in the folder", spec.digest)

# %% tags=["remove-input"]
differences(engine.differences_from_papers(spec))

# %% tags=["hide-input"]
test = result.history[result.history["split"] == "test"]
columns = {
    "NLL, right": "nll_right",
    "NLL, wrong": "nll_wrong",
    "entropy, right": "entropy_right",
    "entropy, wrong": "entropy_wrong",
}
curves = {name: test[column].to_numpy() for name, column in columns.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Negative log-likelihood and entropy of right and of wrong test samples over the epochs."}, "figure": {"name": "fig-experiment-history", "caption": "NLL and entropy of right and wrong test samples over the epochs, as in M20 Figs. 1 and 3."}}
line_figure(test["epoch"].to_numpy(), curves, "epoch", "nats")

# %% tags=["hide-input"]
scaling = TemperatureScaling("nll").fit(result.validation.logits, result.validation.labels)
before, after = softmax(result.test.logits, -1), scaling.predict_proba(result.test.logits)
panels = {"before": before, f"T = {scaling.temperature_:.2f}": after}
bins = {name: metrics.reliability_bins(probs, result.test.labels) for name, probs in panels.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Reliability diagrams of the test set before and after temperature scaling."}, "figure": {"name": "fig-experiment-reliability", "caption": "Reliability on the test set, before and after temperature scaling."}}
reliability_diagrams(bins)

# %% tags=["remove-input"]
foot(
    "experiment",
    dataset=dataset,
    model=model,
    loss=loss,
    gamma=gamma,
    lam=lam,
    seed=seed,
    recipe=recipe,
    n_train=n_train,
    n_validation=n_validation,
    epochs=epochs,
    batch_size=batch_size,
    learning_rate=learning_rate,
    evaluate_every=evaluate_every,
    precision=precision,
    keep_every=keep_every,
    threads=threads,
    runs=runs,
)
