"""Film reviews and other rated texts from small files of their form."""

import numpy as np
import pytest

from reproduction.engine import data
from reproduction.engine.data import snippets, text, tokens


def test_the_middle_fifth_is_neutral():
    ratings = np.array([-4, -0.81, -0.8, 0, 0.8, 0.81, 4])
    assert snippets.label_ratings(ratings, 3).tolist() == [0, 0, 1, 1, 1, 2, 2]
    assert snippets.label_ratings(ratings, 2).tolist() == [0, 0, -1, -1, -1, 1, 1]


def _ratings(folder, source=snippets.FILMS):
    lines = (folder / snippets.SOURCES[source]).read_text(encoding="utf-8-sig").splitlines()
    return [(float(r), t.split()) for _, r, t in (line.split("\t") for line in lines)]


@pytest.mark.parametrize("classes", [2, 3])
def test_films_are_read_and_split(rated, classes):
    found = data.load(f"film-snippets-{classes}")
    kept = [(r, w) for r, w in _ratings(rated) if classes == 3 or abs(r) > 0.8]
    labels = [int(np.sign(r)) if abs(r) > 0.8 else 0 for r, _ in kept]
    wanted = [sign + 1 if classes == 3 else int(sign > 0) for sign in labels]
    np.testing.assert_array_equal(found.test.labels, wanted[3::4])
    assert len(found.train) + len(found.test) == len(kept)
    assert [found.vocabulary[t] for t in found.test.inputs[0] if t] == kept[3][1]
    assert found.test.inputs.shape[1] == snippets.LENGTH


def test_trees_have_the_words_in_their_leaves(rated):
    flat, tall = (data.load(f"film-snippets-2{end}") for end in ("", "-trees"))
    assert tall.kind == "trees"
    np.testing.assert_array_equal(flat.test.labels, tall.test.labels)
    leaves = tall.test.inputs[0][:, 2]
    assert sorted(leaves[leaves > 0]) == sorted(t for t in flat.test.inputs[0] if t)


def test_a_balanced_tree_halves_its_words():
    tree = tokens.balanced_tree(["a", "b", "c"])
    assert tokens.words_of(tree) == ["a", "b", "c"]
    assert [child.word for child in tree.children] == ["a", None]
    heights = tokens.encode_trees([tokens.balanced_tree([str(i) for i in range(9)])], ("", "<unknown>"))[0][:, 3]
    assert heights.max() == 4
    with pytest.raises(ValueError, match=r"a tree must have a word at least"):
        tokens.balanced_tree([])


@pytest.mark.parametrize("name", list(snippets.SETS))
def test_other_sources_are_in_the_words_of_the_films(rated, name):
    found = data.load(name)
    others = text.load_elsewhere(found)
    assert set(others) == {"product reviews", "tweets", "news"}
    for source, part in others.items():
        assert len(part) == sum(abs(r) > 0.8 or found.classes == 3 for r, _ in _ratings(rated, source))
        assert tokens.share_unknown(part.inputs) == pytest.approx(2 / 7)  # '&' and 'elsewhere', of seven
    assert tokens.share_unknown(found.train.inputs) == 0
    assert text.load_elsewhere(found, rated).keys() == others.keys()
    assert text.load_elsewhere(data.Dataset("sst", 2, found.train, found.test)) == {}


def test_what_is_no_rated_text_is_named(rated):
    path = rated / snippets.SOURCES[snippets.FILMS]
    path.write_text("1\t2.0\tgood\n2\tmuch\tbad\n")
    with pytest.raises(ValueError, match=r"movieReview.* must hold a number, a mean rating, a text.*line 2: '2"):
        data.load("film-snippets-2")
    path.write_text("1\t2.0\tgood\n2\t2.0\tgood\n")
    with pytest.raises(ValueError, match=r"must have texts of 2 classes. Got 2"):
        data.load("film-snippets-2")


def _papers_data(name, folder):
    """A tiny data set in its published form."""
    if name == "sst":
        for side in ("train", "dev", "test"):
            (folder / f"{side}.txt").write_text("(3 (2 good) (3 film))\n(1 (2 bad) (1 film))\n" * 8)
    elif name == "ag-news":
        for side in ("train", "test"):
            rows = [f'"{k}","Title {k}","words of {k}"' for k in (1, 2, 3, 4)]
            (folder / f"{side}.csv").write_text("\n".join(rows * 8) + "\n")
    else:
        for side in ("train", "test"):
            for k in range(20):
                group = folder / f"20news-bydate-{side}" / f"group.{k:02d}"
                group.mkdir(parents=True)
                (group / "1").write_text(f"about {k}\n\nwords of {k}")
                (group / "2").write_text(f"about {k}\n\nmore of {k}")


@pytest.mark.parametrize(
    ("name", "file", "expected"),
    [
        ("sst", "dev.txt", r"sst must hold train.txt, dev.txt and test.txt of parse trees. Missing in .*: dev.txt"),
        ("ag-news", "test.csv", r"ag-news must hold train.csv and test.csv. Missing in .*: test.csv"),
        ("20-newsgroups", "20news-bydate-test", r"20-newsgroups must hold 20news-bydate-train .*: 20news-bydate-test"),
    ],
)
def test_the_papers_data_from_a_folder(tmp_path, name, file, expected):
    _papers_data(name, tmp_path)
    found = text.load_text(name, tmp_path)
    assert found.name == name
    assert len(found.test) >= 16
    (tmp_path / file).rename(tmp_path / "moved")
    with pytest.raises(FileNotFoundError, match=expected):
        text.load_text(name, tmp_path)
    with pytest.raises(FileNotFoundError, match=r"must hold"):
        text.load_text(name, tmp_path / "nowhere")


def test_an_unknown_text_set_is_named():
    with pytest.raises(ValueError, match=r"text data set must be one of 20-newsgroups.*Got 'imdb'"):
        text.load_text("imdb")
