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
# (ch-focal-loss)=
# # What focal loss asks for
#
# You replace cross-entropy by focal loss, one line of a training script. The accuracy hardly moves, and the network is
# less sure of everything. It looks like a side effect of the training. Is it one, or did you ask for it?
#
# **In short:** you asked for it. Where the truth is $p = 0.8$, cross-entropy is lowest for a network that says so.
# Focal loss with $\gamma = 2$ is lowest for one that says {glue:text}`focal-told:.2f`. No training set, however large,
# changes that.

# %% tags=["parameters"]
gammas: str = "1, 2, 5"  # losses to draw, comma separated
image: int = 841  # of CIFAR-10's test images, whose prediction is drawn

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
from scipy.special import softmax

from focal_lib import theory
from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, show
from reproduction.pages.expected import written_for
from reproduction.pages.explore import explore
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure
from reproduction.pages.tables import captioned
from reproduction.studies.shared.recorded import load_recorded

use_style()
values = [float(g) for g in gammas.split(",")]
expect = written_for("focal_loss", globals())

# %% [markdown]
# ## One prediction, by hand
#
# A network sees an image and gives probabilities to three classes. What does it pay? Under cross-entropy the negative
# logarithm of what it gave to the class that turns out to be right. Focal loss multiplies that by a power of what it
# did *not* give to it. Here the power is $\gamma = 2$:

# %%
q = np.array([0.7, 0.2, 0.1])  # cat, dog, fox
by_hand = pd.DataFrame({"right is": ["cat", "dog", "fox"], "prediction": q})
by_hand["cross-entropy"] = -np.log(q)
by_hand["factor"] = (1 - q) ** 2
by_hand["focal loss"] = by_hand["factor"] * by_hand["cross-entropy"]

# %%
captioned(by_hand, "What three classes cost", precision=3, index=False)

# %% [markdown]
# If it is a cat, the network was right, and focal loss forgives nearly all that cross-entropy charges. If it is a fox,
# the network was wrong, and it pays most of the price.
#
# ## The definition
#
# ```{index} ! gamma, ! focal loss
# ```
#
# Let $q_y$ be the probability that the network gives to the right class $y$. Focal loss {cite:p}`lin17` is
#
# ```{math}
# :label: eq-focal-loss
# L(q_y) = -(1 - q_y)^\gamma\,\log q_y .
# ```
#
# * $-\log q_y$ is cross-entropy: it is 0 for a certain, right prediction, and grows without bound for a wrong one.
# * $(1-q_y)^\gamma$ is a weight between 0 and 1. It is nearly 1 where the network is wrong, and nearly 0 where it is
#   right and sure. What is already learnt counts little; the loss *focuses* on the rest.
# * $\gamma \ge 0$ says how strongly. With $\gamma = 0$ it is cross-entropy; in papers on calibration $\gamma = 3$ is
#   common.


# %%
def focal_loss(q, gamma):
    """Of the probability of the right class."""
    return -((1 - q) ** gamma) * np.log(q)


grid = np.linspace(0.001, 0.999, 999)  # predictions
named = {"cross-entropy": 0} | {rf"focal loss, $\gamma = {g:g}$": g for g in values}
losses = {name: focal_loss(grid, gamma) for name, gamma in named.items()}

# %% tags=["remove-input"] mystnb={"image": {"alt": "Loss over the probability given to the right class, for cross-entropy and three gamma. All fall to zero at one; the larger gamma is, the sooner the curve is near zero."}, "figure": {"name": "fig-focal-loss", "caption": "The larger $\\gamma$, the less a prediction costs that is right but not sure. With $\\gamma = 5$ almost nothing is left to gain beyond one half."}}
line_figure(grid, losses, "probability of the right class $q_y$", "loss", ylim=(0, 3))

# %% [markdown]
# A network trained with cross-entropy still gains by going from 'fairly sure' to 'sure'. With focal loss that gain is
# nearly nothing. And if it is wrong? Then focal loss still charges most of the price. That will tip the balance.
#
# ## Which prediction is best?
#
# Suppose that of all images that look like this one, $p = 0.8$ are cats; the rest are dogs. No network can know which
# this one is. Let it say 'cat' with probability $q$. On average it pays
#
# $$
# \mathcal R(q) = p\,L(q) + (1-p)\,L(1-q),
# $$
#
# the *conditional risk*. Training makes it as small as it can. Where is it smallest?


# %%
def risk(q, gamma, p=0.8):
    """What the prediction q costs on average where p is true."""
    return p * focal_loss(q, gamma) + (1 - p) * focal_loss(1 - q, gamma)


best = {gamma: round(float(grid[risk(grid, gamma).argmin()]), 3) for gamma in named.values()}
best  # gamma: the prediction with the lowest risk

# %% tags=["remove-cell"]
told = {g: float(theory.focal_minimiser([0.8, 0.2], g)[0]) for g in (0.0, 2.0, *values)}
note("focal", told=told[2.0])
expect(abs(told[0.0] - 0.8) < 1e-9, "'cross-entropy is lowest at p'")
expect(all(abs(found - told[g]) < 2e-3 for g, found in best.items()), "the grid finds the minimisers")
expect(0.5 < told[2.0] < 0.65, "'less sure than the truth, on the same side of one half'")

# %% tags=["remove-input"] mystnb={"image": {"alt": "Conditional risk above its minimum over the prediction, for cross-entropy and focal losses. Cross-entropy touches zero at the true probability, the focal losses nearer one half."}, "figure": {"name": "fig-binary-risk", "caption": "With $p = 0.8$ cross-entropy is lowest for the truth. Focal loss is lowest for a prediction nearer one half."}}
above = {name: risk(grid, gamma) - risk(grid, gamma).min() for name, gamma in named.items()}
line_figure(grid, above, "prediction $q$", "risk above the minimum", ylim=(0, 0.25), points={"truth": (0.8, 0.0)})

# %% [markdown]
# Cross-entropy is lowest at the truth, whatever $p$ is. A loss with this property is called *proper*: it asks a
# network for the truth. Focal loss is not proper. With $\gamma = 2$ it asks for {glue:text}`focal-told:.3f` where
# $p = 0.8$ is true, as {cite:t}`kk24` say: 'around 0.62'.
#
# Why lower? At $q = p$ cross-entropy is in balance: what a little more confidence gains with all the cats is what it
# costs with the few dogs, $0.8 \cdot \frac{1}{0.8} = 0.2 \cdot \frac{1}{0.2}$. Focal loss tips this balance. With a cat
# the network was right, the factor is small, and the gain counts little. With a dog it was wrong, the factor is large,
# and the cost counts. A constant factor would change nothing; this one differs between right and wrong.

# %%
p = np.linspace(0.001, 0.999, 999)  # the truth
two = np.column_stack([p, 1 - p])
asked = {rf"$\gamma = {g:g}$": theory.focal_minimiser(two, g)[:, 0] for g in values}

# %% tags=["remove-input"] mystnb={"image": {"alt": "What focal loss asks for over the true probability, for three gamma: curves through one half that are flatter than the diagonal and meet it at zero and one."}, "figure": {"name": "fig-focal-asks", "caption": "What focal loss asks for, over what is true. Every $\\gamma > 0$ asks for something nearer one half; the larger, the nearer."}}
line_figure(p, asked, "true probability $p$", "prediction with the lowest risk", diagonal=True)

# %% [markdown]
# What is above one half stays above one half, so the network chooses the same class, and the accuracy need not suffer.
# (Trained networks do err a little more often with focal loss; [](#ch-fts) counts.) But only 0, one half and 1 are
# reported as they are.
#
# ## Ten bars of a real prediction
#
# With more classes the same happens, now to all bars together. Take one test image of CIFAR-10, and what a small
# ResNet trained with cross-entropy says of it. Suppose that this is the truth. What would focal loss ask for?

# %%
network = next(run for run in load_recorded("cifar10-resnet8", part=True) if run.spec.label == "cross-entropy")
truth = softmax(network.test.logits[image].astype(float))
names = ["plane", "car", "bird", "cat", "deer", "dog", "frog", "horse", "ship", "truck"]
asked = theory.focal_minimiser(truth, 2.0)  # with gamma = 2
{name: (round(float(p), 2), round(float(q), 2)) for name, p, q in zip(names, truth, asked, strict=True)}

# %% tags=["remove-input"]
explore("bars", probs=truth, names=names)

# %% tags=["remove-cell"]
order = truth.argsort()
expect(asked.max() < truth.max(), "'the tallest bar gives'")
expect((asked[order[:5]] > truth[order[:5]]).all(), "'and the short ones take'")
expect((asked.argsort() == order).all(), "'their order stays'")

# %% [markdown]
# The tallest bar gives, the short ones take, and their order stays. Nothing is lost: each set of true bars has its own
# set of reported ones, so there is a way back. The dots in the picture take it. How, the next chapters say: first for
# [two classes](#ch-binary), then for [many](#ch-confidence), where a surprise waits.
#
# ## A network that is asked for less says less
#
# So a network that minimises focal loss, and has learnt all there is, is *underconfident* wherever the truth is not
# certain: it is right more often than it says. Why then do people use it for calibration? Because networks err the
# other way
# ([](#ch-overconfidence)): on new data they are surer than they should be. A proper loss does not prevent that. It asks
# for the truth about the data it is averaged over, and in a training set learnt by heart all is certain. The two errors
# can cancel. When they do is the subject of [](#ch-when-it-helps).
#
# :::{admonition} What to remember
# :class: tip
# * Focal loss is cross-entropy times $(1-q_y)^\gamma$. The factor makes what is right and sure count little.
# * A *proper* loss is lowest, on average, for the true probability. Cross-entropy is proper; focal loss is not proper
#   for what the network says.
# * With two classes and $p = 0.8$, focal loss with $\gamma = 2$ asks for {glue:text}`focal-told:.2f`.
# * Larger $\gamma$ asks for less confidence, always so with two classes. The order of the classes stays, so the
#   accuracy need not change.
# * A network that fits its data perfectly with focal loss is underconfident. That helps only against an
#   overconfidence that comes from elsewhere.
# :::
#
# ```{exercise}
# :label: ex-focal-half
# Where $p = \frac12$, focal loss asks for $q = \frac12$ with every $\gamma$. Why? And for three classes with $p =
# (\frac12, \frac12, 0)$?
# ```
#
# ```{solution} ex-focal-half
# :class: dropdown
# The risk is the same for $q$ and $1 - q$, and it is convex ([](#ch-convexity)), so its minimum is in the middle. With
# three classes a probability on the third costs and never pays, and we are back at two.
# ```

# %% tags=["remove-input"]
show("kk24.minimiser", "kk24.minimiser_range")

# %% tags=["remove-input"]
claims_of("focal_loss")

# %% tags=["remove-input"]
foot("focal_loss", gammas=gammas, image=image)
