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
# (page-three-models)=
# # Models of other libraries, from start to end
#
# Does the tool serve models that come from elsewhere? Here are three on real data, with scores of three kinds. A
# support vector machine of scikit-learn has decision values, and boosted trees of LightGBM have probabilities. VADER
# {cite:p}`hutto14`, a list of words with rules for English sentiment, has one number a sentence. Each is taken the
# whole way, as a new user would take it: a file, a command, its advice, new scores calibrated; and {ref}`at the end
# <sec-kept-aside>` what that was worth on samples that neither the fits nor the advice had seen. A language model shows
# what happens {ref}`where there is nothing to calibrate <sec-language-model>`.

# %% tags=["parameters"]
images: int = 2000  # images of Fashion-MNIST that the trees are trained on; at least 100
trees: int = 50  # rounds of boosting; at least 1
sentences: int = None  # of film reviews, drawn at random; none for all; at least 200
resamples: int = 400  # number of resamples of the bootstrap; at least 1
seed: int = 0  # seed of the splits, and of the trees; at least 0

# %% tags=["hide-input"]
import sys
from contextlib import chdir, redirect_stderr
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd
from scipy.special import expit, softmax
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC
from vaderSentiment.vaderSentiment import SentimentIntensityAnalyzer

try:
    from lightgbm import LGBMClassifier
except OSError:  # its wheel takes OpenMP from the system
    LGBMClassifier = None

# %% tags=["hide-input"]
from focal_lib import metrics
from focal_lib.cli import main
from focal_lib.metrics.intervals import paired_t_interval
from focal_lib.metrics.scores import sample_scores
from focal_lib.plots.reliability import reliability_diagrams
from focal_lib.plots.style import use_style
from reproduction.checkout import ROOT
from reproduction.engine.data import class_names, load
from reproduction.engine.data.snippets import REVIEWS
from reproduction.engine.data.text import text_folder
from reproduction.pages.footer import foot
from reproduction.pages.notes import note
from reproduction.pages.tables import captioned

use_style()
home = TemporaryDirectory()  # removed with the kernel
folder = Path(home.name)
aside = {}  # model -> probabilities as given, probabilities after, labels


def focal(line):
    """The command `focal`, as in a shell, in the folder of this page."""
    with chdir(folder), redirect_stderr(sys.stdout):
        main(line.split(), standalone_mode=False)


# %% [markdown]
# ## Decision values: a support vector machine
#
# Small images of handwritten digits, which scikit-learn brings along. `decision_function` gives a score for each class;
# the highest is that of the predicted class, but none is a logarithm of anything. Half of the images train the machine,
# a quarter goes into a table with the column `digit`, and a quarter is kept aside. For so few images
# the five folds of the default tell most:

# %%
x, y = load_digits(return_X_y=True)
x_train, x_rest, y_train, y_rest = train_test_split(x, y, test_size=1 / 2, random_state=seed, stratify=y)
machine = SVC(random_state=seed).fit(x_train, y_train)
scores = pd.DataFrame(machine.decision_function(x_rest)).add_prefix("score_").assign(digit=y_rest)
given, new = train_test_split(scores, test_size=1 / 2, random_state=seed, stratify=y_rest)
given.to_csv(folder / "digits.csv", index=False)
new.drop(columns="digit").to_csv(folder / "new-digits.csv", index=False)

# %%
focal(f"calibrate digits.csv --label-column digit --resamples {resamples} --out digits")

# %%
focal("apply digits/calibrator.json new-digits.csv --out digits-probs.csv")

# %% tags=["hide-input"]
before = softmax(new.drop(columns="digit").to_numpy(), axis=-1)
after = pd.read_csv(folder / "digits-probs.csv").to_numpy()
aside["support vector machine"] = before, after, new["digit"].to_numpy()

# %% [markdown]
# ## Probabilities: boosted trees
#
# LightGBM on the pixels of Fashion-MNIST. `predict_proba` gives probabilities, so the command is told
# `--given probs`; classes have names, and so have the columns. Half of the test images go into the file, half are kept
# aside.


# %%
def calibrate_trees():
    """Train them, write their probabilities, let `focal` calibrate; what became of those kept aside."""
    data, names = load("fashion-mnist"), class_names("fashion-mnist", 10)
    model = LGBMClassifier(n_estimators=trees, max_bin=31, n_jobs=1, verbose=-1, random_state=seed)  # 31: quicker
    model.fit(data.train.inputs[:images].reshape(images, -1), data.train.labels[:images])
    probs = pd.DataFrame(model.predict_proba(data.test.inputs.reshape(len(data.test), -1)), columns=names)
    given, new, y_given, y_new = train_test_split(probs, data.test.labels, test_size=1 / 2, random_state=seed)
    given.assign(garment=np.array(names)[y_given]).to_parquet(folder / "garments.parquet")
    np.save(folder / "new-garments.npy", new.to_numpy())
    focal(f"calibrate garments.parquet --given probs --label-column garment --resamples {resamples} --out garments")
    focal("apply garments/calibrator.json new-garments.npy --out garments-probs.npy")
    return new.to_numpy(), np.load(folder / "garments-probs.npy"), y_new


# %%
if LGBMClassifier:
    aside["boosted trees"] = calibrate_trees()
else:
    print("LightGBM needs OpenMP of the system: install libgomp1 and run again.")

# %% [markdown]
# ## One number: a list of words
#
# VADER was not trained on anything: its authors wrote rules, and raters scored words. Its compound score of a sentence
# is positive for praise, and says nothing of probability. The sentences are the film reviews that its authors had rated
# ({ref}`ch-raters`); a label is whether the mean rating is positive. The score is one of one class, and `focal`
# takes it as its logit:

# %%
analyser = SentimentIntensityAnalyzer()
file = text_folder("movie-reviews") / REVIEWS[0]
reviews = pd.read_csv(file, sep="\t", quoting=3, header=None, names=["id", "mean", "text"], encoding_errors="replace")
reviews = reviews if sentences is None else reviews.sample(sentences, random_state=seed)
compound = np.array([analyser.polarity_scores(text)["compound"] for text in reviews["text"]])
praise = (reviews["mean"] > 0).to_numpy().astype(int)
given, new, y_given, y_new = train_test_split(compound, praise, test_size=1 / 2, random_state=seed)
np.savez(folder / "sentiment.npz", logits=given, labels=y_given)
np.save(folder / "new-sentiment.npy", new)

# %%
focal(f"calibrate sentiment.npz --class-names critical,praise --resamples {resamples} --out sentiment")

# %% [markdown]
# A split tests on half of the sentences. Folds test on all of them, each by fits on the others:

# %%
focal(f"calibrate sentiment.npz --class-names critical,praise --resamples {resamples} --out sentiment")

# %%
focal("apply sentiment/calibrator.json new-sentiment.npy --out sentiment-probs.npy")


# %% tags=["hide-input"]
def both(positive):
    """Probabilities (n, 2) of those of one class."""
    return np.stack([1 - positive, positive], -1)


aside["VADER"] = both(expit(new)), both(np.load(folder / "sentiment-probs.npy")), y_new

# %% [markdown]
# (sec-language-model)=
# ## Lists of options: a language model that guesses
#
# The smallest SmolLM2 was asked {glue:text}`three-models-questions` questions of BIG-Bench Hard
# {cite:p}`suzgun23`, of {glue:text}`three-models-fewest` to {glue:text}`three-models-most` lettered options
# (`reproduction/studies/options` asks them again). On file are its scores of the letters, `-inf` where a question has
# no such option:

# %%
answers = ROOT / "results" / "options" / "answers.npz"
try:
    focal(f"calibrate {answers} --layout options --resamples {resamples} --out answers")
except SystemExit as refused:
    print(f"exit status {refused.code}")

# %% tags=["hide-input"]
with np.load(answers) as found:
    scores, right = found["logits"], found["labels"]
options, said = np.isfinite(scores).sum(-1), softmax(scores, -1)
note("three-models", questions=len(right), fewest=options.min(), most=options.max())
rows = {}
for fewest, most in ((2, 2), (3, 3), (4, 7), (8, 26)):
    some = (fewest <= options) & (options <= most)
    rows[f"{options[some].min()} to {options[some].max()}" if fewest < most else str(fewest)] = {
        "questions": f"{some.sum()}",
        "chance (%)": f"{100 * (1 / options[some]).mean():.1f}",
        "accuracy (%)": f"{100 * metrics.accuracy(said[some], right[some]):.1f}",
        "mean confidence (%)": f"{100 * said[some].max(-1).mean():.1f}",
    }
captioned(pd.DataFrame(rows).T.rename_axis("options"), "A small language model, by the number of options")

# %% [markdown]
# The command refuses: these answers say no more of the right option than a draw among them would. A temperature that
# makes such a model calibrated makes it say nothing. With two or three options its confidence happens to be right; with
# more it is far above its accuracy, which is no better than chance.

# %% [markdown]
# (sec-kept-aside)=
# ## What it was worth
#
# On the samples kept aside, the scores read as given (decision values as logits, probabilities as they are) and after
# the calibrator that was advised. The change of the NLL is after minus before over the same samples, with its 95 % t
# interval; each of the three stands for itself.

# %% tags=["hide-input"]
rows = {}
for name, (before, after, labels) in aside.items():
    both_ways = {"before": before, "after": after}
    rows[name] = {"samples": f"{len(labels):,}"}
    rows[name] |= {
        f"error {when} (%)": f"{100 * (1 - metrics.accuracy(p, labels)):.1f}" for when, p in both_ways.items()
    }
    rows[name] |= {f"ECE {when} (%)": f"{100 * metrics.ece(p, labels):.1f}" for when, p in both_ways.items()}
    change = paired_t_interval(*(sample_scores(p, labels).log_loss for p in (after, before)))
    rows[name]["change of the NLL"] = f"{change.estimate:+.3f} [{change.low:+.3f}, {change.high:+.3f}]"
captioned(pd.DataFrame(rows).T, "Samples kept aside: error, ECE (15 bins of equal width), NLL")

# %% tags=["remove-input"] mystnb={"image": {"alt": "A reliability diagram of each model's scores as given, on the samples kept aside; the errors stand in the table above."}, "figure": {"name": "fig-three-models", "caption": "Accuracy over confidence in bins of equal width, on the samples kept aside: the scores as given."}}
reliability_diagrams({name: metrics.reliability_bins(p, y) for name, (p, _, y) in aside.items()})

# %% tags=["remove-input"] mystnb={"image": {"alt": "A reliability diagram of each model after its calibrator, on the same samples; the errors stand in the table above."}, "figure": {"name": "fig-three-models-after", "caption": "The same samples after the calibrator that was advised."}}
reliability_diagrams({name: metrics.reliability_bins(p, y) for name, (_, p, y) in aside.items()})

# %% tags=["remove-input"]
foot("three_models", images=images, trees=trees, sentences=sentences, resamples=resamples, seed=seed)
