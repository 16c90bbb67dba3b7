"""No number is typed in prose, in captions or in alternative texts."""

import inspect
import re

import pytest

from focal_lib import metrics
from reproduction.checkout import ROOT
from tests.book.prose import passages, typed_numbers

PAGES = [*sorted((ROOT / "notebooks").glob("*.py")), *sorted((ROOT / "book").glob("*.md"))]

# page: as it is found in the text, and why it may stand
EXCEPTIONS = [
    ("", r"15 (bins|of equal)", "how an ECE is binned: a default, which a test below holds to"),
    ("verdicts", r"a probability of 80 %", "the power of the rule that this page states"),
    ("verdicts", r"1 - 0\.05/k|^.*interval at 0\.05", "the formula of the level of one of k parts"),
    ("advice", r"a rate of at most 5 %", "the level of the tests that the sentence names"),
    ("in_use", r"a difference of two points", "an example of the tolerance that stands behind it"),
]


def excused(page: str, found: str) -> list[str]:
    return [pattern for where, pattern, _ in EXCEPTIONS if where in ("", page) and re.search(pattern, found)]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_no_number_is_typed_in_prose(path):
    found = [number for text in passages(path) for number in typed_numbers(text) if not excused(path.stem, number)]
    assert not found, "compute it (note, glue), quote it, or name the parameter:\n" + "\n".join(found)


def test_every_exception_is_needed():
    used = {p for path in PAGES for text in passages(path) for n in typed_numbers(text) for p in excused(path.stem, n)}
    assert used == {pattern for _, pattern, _ in EXCEPTIONS}


def test_an_ece_has_as_many_bins_as_the_pages_say():
    for metric in (metrics.ece, metrics.adaptive_ece, metrics.classwise_ece, metrics.mce):
        assert inspect.signature(metric).parameters["n_bins"].default == 15, metric.__name__


@pytest.mark.parametrize(
    "text",
    [
        "falls by 12.5 points",
        "an ECE of 3 %, after it",
        "rises by 1 point",
        "stays near 0.83",
        "about eleven points lower",
        "ninety-six per cent",
        "about $T = 0.76$ of it".replace("T", "x"),
        r"which is $\approx 0.386$",
        "after 2,000 images",
        "```{admonition} Verdict\nIt is 0.4.\n```",
        "- 24 runs",
    ],
)
def test_a_typed_number_is_found(text):
    assert len(typed_numbers(text)) == 1, typed_numbers(text)


@pytest.mark.parametrize(
    "text",
    [
        "falls by {glue:text}`page-x:.1f` points",
        "'around 0.62', as the paper's text says",
        r"with $\gamma = 0.5$ and $q = \frac12$, gamma 3 or T = 2.5",
        "in Table 1, Figs. 4 and 8, section 3.2, Prop. 5, App. A.9, steps 3 to 5 and Eq. (1)",
        "[arXiv:2002.09437](https://arxiv.org/abs/2002.09437)",
        "CIFAR-10, ResNet-50, FLSD-53, float32 and 20 Newsgroups, since 2020",
        "from 0 to 1, at 1/2, with a 95 % interval, at 5 %",
        "`--max-ece 0.02` and\n\n    focal run -p seed 7\n",
        ":::{admonition} As printed: A\nIt is 0.95.\n:::",
        "```{math}\nx = 3.14\n```",
        "```\nx = 3.14\n```",
    ],
)
def test_what_may_hold_a_number_is_left_alone(text):
    assert typed_numbers(text) == []


def test_captions_alternative_texts_and_strings_are_prose(tmp_path):
    page = tmp_path / "page.py"
    settings = '{"image": {"alt": "It falls to 0.2."}, "figure": {"name": "fig-x", "caption": "It rises to 0.3."}}'
    cells = [
        "# %% [markdown]\n# It is 0.1.",
        f"# %% mystnb={settings}\ndraw(0.7)",
        '# %%\nMarkdown(f"It is {x:.2f}, not 0.4")',
    ]
    page.write_text("\n\n".join(cells))
    assert [number for text in passages(page) for number in typed_numbers(text)] == [
        "It is 0.1.",
        "It rises to 0.3.",
        "It falls to 0.2.",
        "It is §, not 0.4",
    ]
