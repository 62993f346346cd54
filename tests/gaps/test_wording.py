from hypothesis import given, settings
from hypothesis import strategies as st

from cg_pipeline.gaps.wording import concept_document, first_free, name_groups, words
from tests.gaps.small_study import concept

HOSTILE_TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=12)


def plain(concept_id: int, label: str, *tokens: str):
    return concept(concept_id, label, top_tokens=tokens, contexts=())


def test_words_are_letters_and_digits_of_any_script():
    assert words("“Zürich”, x1 — naïve_数学!") == ["zürich", "x1", "naïve", "数学"]


def test_a_document_counts_label_tokens_and_contexts_three_two_one():
    document = concept_document(concept(0, "river", top_tokens=(" bank",), contexts=("the ⟦water⟧",)))
    assert sorted(document.split()) == sorted(["river"] * 3 + ["bank"] * 2 + ["the", "water"])


def test_a_group_is_named_by_what_sets_it_apart():
    cooking = [plain(0, "bread", " recipe"), plain(1, "soup", " recipe"), plain(2, "cake", " recipe", " the")]
    sailing = [
        plain(3, "mast", " ship"),
        plain(4, "sail", " ship", " the"),
        plain(5, "crew", " ship", " the"),
    ]
    names = name_groups([cooking, sailing])
    assert names[0].startswith("recipe, ")
    assert names[1].startswith("ship, ")
    assert not any("the" in name.split(", ") for name in names)


def test_words_are_written_as_they_mostly_are():
    assert name_groups([[plain(0, "Paris", " Paris"), plain(1, "paris", " Paris")]]) == ["Paris"]


def test_plurals_are_not_named_twice():
    assert name_groups([[plain(0, "dollar", " dollars", " price")]]) == ["dollar, price"]


def test_two_groups_with_the_same_words_get_two_names():
    twins = [plain(0, "tax", " law")], [plain(1, "tax", " law")], [plain(2, "tax", " law")]
    names = name_groups(twins)
    assert len(set(names)) == 3
    assert all(name.startswith(("tax", "law")) for name in names)


def test_a_group_without_words_goes_by_its_strongest_label():
    assert name_groups([[plain(4, "“→”", " →"), plain(5, "“←”")]]) == ["“→”"]
    assert name_groups([[plain(4, " \n")]]) == ["⏎"]


@settings(deadline=None, max_examples=60)
@given(groups=st.lists(st.lists(st.tuples(HOSTILE_TEXT, HOSTILE_TEXT), min_size=1, max_size=3), max_size=4))
def test_names_are_never_empty_and_never_twice(groups: list[list[tuple[str, str]]]):
    made = [[plain(number, label, token) for number, (label, token) in enumerate(group)] for group in groups]
    names = name_groups(made)
    assert all(name.strip() for name in names)
    assert len(set(names)) == len(names) == len(groups)


def test_the_first_free_name_is_taken():
    assert first_free(iter(["a", "b"]), []) == "a"
    assert first_free(iter(["a", "b"]), ["a"]) == "b"
    assert first_free(iter(["a", "b"]), ["a", "b"]) == "b (2)"
    assert first_free(iter(["a"]), ["a", "a (2)"]) == "a (3)"
