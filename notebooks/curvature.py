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
# (ch-curvature)=
# # Does focal loss reduce curvature?
#
# **The question.** {cite:t}`kn24` hold that focal loss calibrates because it flattens the loss surface. What can be
# said of the loss itself, before any network? **In short:** it depends on the coordinate and on the sample. As a
# function of the probability the curvature is never smaller for $\gamma \le 1$, and smaller only for confident samples
# above that. In the logit it is smaller for confident samples, larger in between (up to
# {glue:text}`curvature-most:.1f` times for $\gamma =$ {glue:text}`curvature-most-gamma:g`), and negative for very wrong
# ones. KN24's theorem is about networks; we could not read it.
# How curved the loss is in the weights of networks, {ref}`ch-landscape` measures.
#
# :::{admonition} As printed: KN24 Fig. 1 (caption)
# Focal loss coincides with cross-entropy when $\gamma = 1$. For $0 < \gamma < 1$ the gradient does not converge. When
# $\gamma \ge 1$ the gradient and loss for well-classified samples ($p$ close to 1) are smaller than those for
# cross-entropy.
# :::
#
# We had the abstract and the captions, not the theorems ([](#page-kn24)). So all that this chapter proves is ours: it
# is about the loss itself, point by point.

# %% tags=["parameters"]
gammas: str = "0.5, 1, 2, 5"  # curves to draw, comma separated
penalty_runs: str = "cifar10-hessian"  # recorded runs with a penalty: in results, their grid in workflow/grids

# %% tags=["hide-input"]
import numpy as np
import pandas as pd
import sympy as sp
from scipy.optimize import brentq

from focal_lib import theory
from focal_lib.plots.style import use_style
from reproduction.ledger import claims_of, show
from reproduction.pages.expected import written_for
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.plots.curves import line_figure, point_figure
from reproduction.pages.tables import captioned
from reproduction.studies.shared.over_seeds import format_mean_sd, summarise
from reproduction.studies.shared.recorded import load_recorded, read_table
from reproduction.theorems import symbols

use_style()
values = [float(g) for g in gammas.split(",")]
p = np.linspace(1e-3, 1 - 1e-3, 800)
expect = written_for("curvature", globals())

# %% [markdown]
# ## Lemma 1
#
# We could not read the formula of Lemma 1. Its words are cross-entropy and conditional entropy, so most likely it is
# the bound of [](#ch-gradient): focal loss is at least $\mathrm{CE} - \gamma H$. That is true for every $\gamma \ge 0$.

# %% tags=["remove-input"]
show("kn24.lemma1_reading")

# %% [markdown]
# ## Entropy and a posterior
#
# The paper's summary speaks of an entropy-constrained problem, of a Maxwell–Boltzmann posterior and of PAC-Bayes.
# Without its formulas two things can be said. A Maxwell–Boltzmann distribution solves a problem of that kind, whatever
# the loss. And the problem whose Lagrangian is the bound above has another solution than focal loss.

# %% tags=["remove-input"]
show("kn24.maxwell_boltzmann", "kn24.entropy_constrained")

# %% [markdown]
# ## The figure and its caption

# %%
losses = {rf"$\gamma = {g:g}$": theory.focal_loss_values(p, g) for g in (0.0, *values)}
slopes = {rf"$\gamma = {g:g}$": -np.exp([theory.log_gain(v, g) for v in p]) for g in (0.0, *values)}  # p L' = -g

# %% tags=["remove-input"] mystnb={"image": {"alt": "Focal loss over p for several gamma. Gamma zero, cross-entropy, is highest everywhere; the curves fall as gamma grows."}, "figure": {"name": "fig-curvature-loss", "caption": "Loss. Counterpart of KN24 Fig. 1, left. Cross-entropy is $\\gamma = 0$."}}
line_figure(p, losses, "probability of the true class $p$", "loss", ylim=(0, 4))

# %% tags=["remove-input"] mystnb={"image": {"alt": "Slope of the focal loss times p, over p. For every positive gamma, one half included, it returns to zero at p equal to one; for gamma zero it is minus one."}, "figure": {"name": "fig-curvature-gradient", "caption": "$p\\,L'(p)$. Counterpart of KN24 Fig. 1, right. It tends to 0 at $p = 1$ for every $\\gamma > 0$."}}
line_figure(p, slopes, "probability of the true class $p$", "$p\\,L'(p)$", zero=True)

# %% [markdown]
# How do the caption's sentences fit focal loss as {cite:t}`lin17` define it, whom KN24's Definition 2 cites? Two do
# not. Cross-entropy is $\gamma = 0$, not 1. And for $0 < \gamma < 1$ the gradient converges to 0, as sympy confirms
# with $r = 1 - p$; the second derivative diverges, like $\gamma(1+\gamma)r^{\gamma-1}$. Both sentences are right for a
# loss $-(1-p)^{\gamma-1}\log p$, so KN24 may count $\gamma$ that way; the third, of $\gamma \ge 1$, then holds above 1.
# No exponent makes all three true. As we could not read the definition, the ledger judges none of them.

# %% tags=["nbval-check-output"]
r, g = sp.symbols("r gamma", positive=True)
print("log(1-r)/r ->", sp.limit(sp.log(1 - r) / r, r, 0, "+"), "  r^gamma ->", sp.limit(r**g, r, 0, "+"))
print(
    "L'' / r^(gamma-1) ->", sp.factor(sp.limit(sp.simplify(theory.convexity_factor(1 - r, g, sp.log) / r), r, 0, "+"))
)

# %% [markdown]
# With Lin et al.'s exponent the third sentence is right. 'Smaller loss' holds for every $\gamma > 0$ and every $p$;
# 'smaller gradient' holds exactly above $\tau(\gamma)$, which says how close to 1 is close enough.
#
# ## Curvature in the probability
#
# With $L' = -g/q$ the second derivative, over that of cross-entropy, is
#
# ```{math}
# :label: eq-curvature-probability
# q^2 L''(q) = g(q) - q\,g'(q).
# ```

# %%
f, q = sp.Function("g"), symbols.q
sp.expand(q**2 * sp.diff(-f(q) / q, q))

# %%
in_probability = {rf"$\gamma = {v:g}$": theory.probability_curvature_ratio(p, v) for v in values}
in_probability["cross-entropy"] = np.ones_like(p)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Second derivative in p relative to cross-entropy. For gamma up to one it is above one everywhere; for larger gamma it falls below one, the earlier the larger gamma is."}, "figure": {"name": "fig-curvature-probability", "caption": "Curvature in $p$ relative to cross-entropy. For $\\gamma \\le 1$ never below 1."}}
line_figure(p, in_probability, "probability of the true class $p$", "$p^2 L''(p)$", ylim=(0, 3.2))

# %% [markdown]
# For $\gamma \le 1$, $g$ is concave, so {eq}`eq-curvature-probability` increases from 1. For $\gamma > 1$, $g''$
# changes sign once, from negative to positive, so the ratio rises from 1 and then falls to 0: one crossing.
#
# ## Curvature in the logit
#
# A network moves logits, and with the logit of the true class free, the others fixed, the ratio is
#
# ```{math}
# :label: eq-curvature-logit
# \frac{d^2 L/ds^2}{q(1-q)} = g(q) - (1-q)\,g'(q).
# ```

# %%
in_logit = {rf"$\gamma = {v:g}$": theory.logit_curvature_ratio(p, v) for v in values}
in_logit["cross-entropy"] = np.ones_like(p)

# %% tags=["remove-input"] mystnb={"image": {"alt": "Second derivative in the logit relative to cross-entropy. Each curve is negative for small p, rises above one, the higher the larger gamma is, and falls below one again."}, "figure": {"name": "fig-curvature-logit", "caption": "Curvature in the logit relative to cross-entropy: negative for very wrong samples, larger in between, smaller for confident ones."}}
line_figure(p, in_logit, "probability of the true class $p$", "relative curvature", zero=True, ylim=(-2, 5))


# %% tags=["hide-input"]
def crossing(ratio, gamma, low, high, level):
    """Where the relative curvature passes a level."""
    return brentq(lambda v: float(ratio(v, gamma)) - level, low, high)


in_p, in_s, rows = theory.probability_curvature_ratio, theory.logit_curvature_ratio, []
for v in (1.0, 2.0, 3.0, 5.0):
    top = p[np.argmax(in_s(p, v))]
    above_in_p = crossing(in_p, v, 0.3, 1 - 1e-9, 1) if v > 1 else np.nan
    above_in_s, below = crossing(in_s, v, top, 1 - 1e-9, 1), crossing(in_s, v, 1e-6, top, 0)
    rows.append((v, above_in_p, above_in_s, float(in_s(top, v)), below))
columns = ["gamma", "smaller in p above", "smaller in the logit above", "largest ratio", "negative below"]
turns = pd.DataFrame(rows, columns=columns)

# %% tags=["hide-input"]
caption = "Where the curvature of focal loss is smaller than that of cross-entropy, and where negative, in p"
numbers = captioned(turns, caption, index=False).format(precision=4, na_rep="never")
numbers.format("{:g}", subset="gamma")

# %% tags=["remove-input"]
two = turns.set_index("gamma").loc[2.0]
last = turns.iloc[-1]
note("curvature", most=last["largest ratio"], most_gamma=last["gamma"])
note("curvature", max_two=two["largest ratio"], negative_two=two["negative below"])

# %% [markdown]
# The ratio in the logit has one maximum for every $\gamma$, and its mean over $0 < p < 1$ is 1. So the maximum is above
# 1, and there are exactly two crossings: a lower one, below which even a wrong sample has less curvature, and the upper
# one of the table.
#
# So a focal loss with $\gamma = 2$ has up to {glue:text}`curvature-max-two:.2f` times the curvature of cross-entropy
# in the logit where a sample is unsure, and is not convex there at all for $p$ below
# {glue:text}`curvature-negative-two:.3f`. What late training sees, confident samples, is flat. Whether a Hessian in
# the weights shrinks is a question about where a network's samples lie: [](#ch-landscape) measures it on small
# networks, as in KN24's Figs. 2 and 3. At KN24's size `focal grid workflow/grids/kn24-curvature.yaml` would train
# them, and with `--dry-run` tells its cost. KN24's experiment with a penalty can be repeated:
#
# ## A penalty on the trace
#
# KN24 Fig. 4 trains a two-layer network 'using a loss function that explicitly incorporates' a regularization by
# $\operatorname{Tr}(H_\text{val})$. We could not read that loss. Ours, `losses.HessianTraceLoss`, is
# cross-entropy plus a weight times $\lvert\operatorname{Tr}(H)\rvert$, $H$ the Hessian of the batch's cross-entropy in
# the weights, with Hutchinson's estimate $v^\top H v$, $v$ of random signs, once a step. Recorded on
# {glue:text}`curvature-penalty-n` images of CIFAR-10, {glue:text}`curvature-penalty-epochs` epochs,
# {glue:text}`curvature-penalty-seeds` seeds. ECE has 15 bins of equal width here. In what all this differs from KN24's
# experiment is on [](#page-kn24).

# %% tags=["hide-input"]
penalised = load_recorded(penalty_runs)
last = [r.history[r.history["split"] == "test"].iloc[-1].to_dict() | {"tau": r.spec.lam} for r in penalised]
groups = pd.DataFrame(last)[["tau", "accuracy", "hessian_trace", "nll"]].groupby("tau")
columns = {"accuracy": "accuracy", "hessian_trace": "trace of the Hessian", "nll": "NLL"}
by_penalty = format_mean_sd(groups, digits=3).rename(columns=columns).rename_axis(index="penalty")
caption = "On test data after training, mean ± standard deviation over seeds"
captioned(by_penalty.reset_index(), caption, index=False).format("{:g}", subset="penalty")

# %% tags=["hide-input"]
eces = summarise(read_table(penalty_runs)).query("metric == 'ece'")
trace = groups["hessian_trace"].mean().to_numpy()
stages = {"as trained": ("none", ""), "after temperature scaling": ("temperature", "ece")}
ece = {w: eces[(eces["method"] == m) & (eces["objective"] == o)] for w, (m, o) in stages.items()}
ece_groups = {when: (trace, part["mean"].to_numpy(), part["sd"].to_numpy()) for when, part in ece.items()}

# %% tags=["remove-input"]
spec, before, after = penalised[0].spec, *(part["mean"].to_numpy() for part in ece.values())
note("curvature", penalty_n=spec.n_train, penalty_epochs=spec.training.epochs)
note("curvature", penalty_seeds=len({r.spec.seed for r in penalised}))
note("curvature", penalty_none=before[0], penalty_most=before[-1])
note("curvature", penalty_none_after=after[0], penalty_most_after=after[-1])

# %% tags=["remove-input"] mystnb={"image": {"alt": "ECE over the trace of the Hessian for five penalties. As trained it rises steeply with the trace; after temperature scaling it is low throughout, and highest at the smallest trace."}, "figure": {"name": "fig-curvature-penalty", "caption": "ECE (equal width, %) over the trace of the Hessian for five penalties, as trained and after temperature scaling by that ECE; mean and standard deviation over seeds. Counterpart of KN24 Fig. 4."}}
point_figure(ece_groups, "trace of the Hessian of the test loss", "ECE (%)", ylim=(0, None))

# %% [markdown]
# The paper's observation shows here, too: with the largest penalty the trace is smallest, and ECE falls from
# {glue:text}`curvature-penalty-none:.1f` to {glue:text}`curvature-penalty-most:.1f` %. One temperature does as much.
# After it ECE is {glue:text}`curvature-penalty-none-after:.1f` % without a penalty, and no lower,
# {glue:text}`curvature-penalty-most-after:.1f` %, with the largest. Less curvature made a network that is less
# overconfident, not one that is easier to calibrate. With few images and one learning rate this is out of regime: it
# counts neither for KN24 nor against.

# %% tags=["remove-cell"]
expect(before[-1] < before[0], "the text says that ECE falls with the penalty")
expect(after[-1] >= after[0], "the text says that after a temperature it is no lower with the penalty")
expect((np.diff(trace) < 0).all(), "the text says that the trace is smallest with the largest penalty")

# %% [markdown]
#
# ```{exercise}
# :label: ex-curvature-one
# Show that for $\gamma = 1$ the relative curvature in $p$ is exactly $1 + p$.
# ```
#
# ```{solution} ex-curvature-one
# :class: dropdown
# $g = 1 - p - p\log p$, so $g' = -2 - \log p$ and $g - pg' = 1 - p - p\log p + 2p + p\log p = 1 + p$.
# ```
#
# :::{admonition} What to remember
# :class: tip
# * 'Less curvature' needs a coordinate. In the probability, focal loss with $\gamma \le 1$ is nowhere less curved than
#   cross-entropy; with $\gamma > 1$ it is less curved exactly above one point.
# * In the logit of the true class it is less curved for confident samples, more in between (up to
#   {glue:text}`curvature-max-two:.1f` times for $\gamma = 2$), and for very wrong ones not convex.
# * What the paper's theorems say is not judged: we could not read them ([](#page-kn24)).
# * A penalty on the trace of the Hessian lowers the trace and the ECE, here from
#   {glue:text}`curvature-penalty-none:.1f` to {glue:text}`curvature-penalty-most:.1f` % with the largest. After a
#   temperature fitted by ECE it is {glue:text}`curvature-penalty-none-after:.1f` % without a penalty and
#   {glue:text}`curvature-penalty-most-after:.1f` % with it.
# * That experiment is small: {glue:text}`curvature-penalty-n` images, {glue:text}`curvature-penalty-seeds` seeds.
# :::
#
# ## Verdict

# %% tags=["remove-input"]
show(
    "kn24.fig1_coincide",
    "kn24.fig1_gradient_diverges",
    "kn24.theorem1",
    "kn24.curvature_logit_high",
    "kn24.fig4",
    "kn24.fig4_after_scaling",
)

# %% tags=["remove-input"]
claims_of("curvature")

# %% tags=["remove-input"]
foot("curvature", gammas=gammas, penalty_runs=penalty_runs)
