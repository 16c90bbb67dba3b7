"""Every data set that the package knows has a source with its terms."""

import pytest

from reproduction.engine.data import DATASETS, SOURCES, find_source

NAMES = [name.replace("<corruption>-<severity>", "fog-3") for name in (*DATASETS, "cifar10-c-frost-3", "glove")]


def test_each_data_set_has_a_source_and_no_source_is_of_nothing():
    found = [find_source(name) for name in NAMES]
    assert {id(source) for source in found} == {id(source) for source in SOURCES.values()}
    assert all(source.url.startswith("http") and all((source.title, source.terms, source.cite)) for source in found)


def test_the_longest_beginning_counts():
    for name in ("cifar10-c-frost-", "cifar10-c-", "cifar100", "cifar10"):
        assert find_source(f"{name}fog-3" if name == "cifar10-c-" else name) is SOURCES[name]
    with pytest.raises(ValueError, match="Got 'imagenet'"):
        find_source("imagenet")
