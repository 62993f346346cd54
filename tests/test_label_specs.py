"""What an SAE's spec may say of labels."""

import pytest

from cg_pipeline.label_specs import KINDS, Labelling, NeuronpediaExport

EXPORT = NeuronpediaExport(model_id="m", source_id="s", as_of="2026-05-31")


def test_without_a_word_the_users_labels_come_first_and_automatic_ones_last():
    assert Labelling().precedence == KINDS == ("own", "llm", "neuronpedia", "hub", "automatic")


def test_a_source_stands_once():
    with pytest.raises(ValueError, match=r"expected each once. Remove what is repeated"):
        Labelling(sources=(EXPORT, EXPORT))


def test_precedence_of_what_there_is_not():
    with pytest.raises(ValueError, match=r"names 'mine.csv'; expected a kind \(own, llm"):
        Labelling(precedence=("own:good.csv", "mine.csv"))
