"""Reading times are counted: what is shown counts, what is folded or code does not."""

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from workflow.reading_time import (
    FIGURE_MINUTES,
    WORDS_PER_MINUTE,
    count_words,
    minutes_of_notebook,
    minutes_of_text,
)


def shown(**data):
    kinds = {"png": "image/png", "html": "text/html", "markdown": "text/markdown", "plain": "text/plain"}
    return new_output("display_data", {kinds[kind]: value for kind, value in data.items()})


def test_words_are_counted_as_they_are_read():
    assert count_words("Six words, and {glue:text}`page-x:.2f` per [cent](#ch-a).") == 6
    assert count_words(r"With $\gamma = 2$ and `a b c` four more") == 6
    assert count_words("(ch-a)=\n# A title\n:::{admonition} As printed\nTwo words.\n:::") == 4
    assert count_words("| a | b |\n|---|---|\n| c | d |") == 4


def test_what_is_folded_is_not_read():
    assert count_words("Seen.\n\n<details>\n<summary>Evidence</summary>\n\nmany words\n\n</details>\n\nSeen.") == 2
    assert count_words("Seen.\n\n```{solution} ex-a\n:class: dropdown\nmany words\n```\nSeen.") == 2
    assert count_words("Seen.\n\n````{dropdown} Schema\n```{literalinclude} x\n```\n````\nSeen.") == 2


def test_a_page_takes_its_words_and_what_is_looked_at():
    words = " ".join(["word"] * (2 * WORDS_PER_MINUTE))
    assert minutes_of_text(words) == 2
    assert minutes_of_text(words + " one") == 3
    assert minutes_of_text("$$\nx\n$$\n" * 4) == 4 * FIGURE_MINUTES
    assert minutes_of_text("") == 1


def test_code_is_not_read_and_its_outputs_are():
    text = new_markdown_cell(" ".join(["word"] * WORDS_PER_MINUTE))
    code = new_code_cell(" ".join(["word"] * 1000))
    assert minutes_of_notebook([text, code]) == 1
    figure = new_code_cell("draw()", outputs=[shown(png="")])
    table = new_code_cell("table", outputs=[shown(html="<table>")])
    assert minutes_of_notebook([text, code, figure, table]) == 1 + 2 * FIGURE_MINUTES
    verdict = new_code_cell("show()", outputs=[shown(markdown=text.source, plain="x " * 1000)])
    assert minutes_of_notebook([text, verdict]) == 2
