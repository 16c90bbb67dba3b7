"""Every data set that the package knows has a source with its terms."""

import pytest

from reproduction.engine.data import DATASETS, SOURCES, find_source


@pytest.mark.parametrize("name", [*DATASETS, "cifar10-c-frost-3", "glove"])
def test_each_data_set_has_a_source(name):
    source = find_source(name.replace("<corruption>-<severity>", "fog-3"))
    assert source.url.startswith("http")
    assert source.title
    assert source.terms
    assert source.cite


def test_the_longest_beginning_counts():
    assert find_source("cifar10-c-frost-3") is SOURCES["cifar10-c-frost-"]
    assert find_source("cifar10-c-fog-3") is SOURCES["cifar10-c-"]
    assert find_source("cifar100") is SOURCES["cifar100"]
    assert find_source("cifar10") is SOURCES["cifar10"]


def test_no_source_is_of_nothing():
    named = [name.replace("<corruption>-<severity>", "fog-3") for name in (*DATASETS, "cifar10-c-frost-3", "glove")]
    assert {id(find_source(name)) for name in named} == {id(source) for source in SOURCES.values()}


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="Got 'imagenet'"):
        find_source("imagenet")
