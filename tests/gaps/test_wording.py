from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from cg_pipeline.gaps.wording import concept_document, first_free, name_groups, word_spread, words
from cg_pipeline.records import Concept
from tests.gaps.small_study import concept
from tests.strategies import TEXT


def plain(concept_id: int, label: str, *tokens: str) -> Concept:
    return concept(concept_id, label, top_tokens=tokens, contexts=())


def named(groups: Sequence[Sequence[Concept]]) -> list[str]:
    return name_groups(groups, word_spread([concept for group in groups for concept in group]))


def test_words_are_letters_and_digits_of_any_script():
    assert words("“Zürich”, x1 — naïve 数学!") == ["zürich", "x1", "naïve", "数学"]


def test_pieces_of_words_are_no_words():
    assert words("“pre…”, “…ing”, “…ab…” near “bread”") == ["near", "bread"]


def test_a_document_counts_the_label_twice():
    document = concept_document(concept(0, "river", top_tokens=(" bank",), contexts=("the ⟦water⟧",)))
    assert sorted(document.split()) == ["bank", "river", "river", "the", "water"]


def test_the_spread_of_a_word_is_the_number_of_concepts_that_have_it():
    assert word_spread([plain(0, "bread", " bread"), plain(1, "bread", " oven")]) == {"bread": 2, "oven": 1}


def test_a_group_is_named_by_what_sets_it_apart():
    cooking = [plain(0, "bread", " recipe"), plain(1, "soup", " recipe"), plain(2, "cake", " recipe", " the")]
    sailing = [
        plain(3, "mast", " ship"),
        plain(4, "sail", " ship", " the"),
        plain(5, "crew", " ship", " the"),
    ]
    names = named([cooking, sailing])
    assert names[0].startswith("recipe, ")
    assert names[1].startswith("ship, ")
    assert not any("the" in name.split(", ") for name in names)


def test_words_are_written_as_they_mostly_are():
    assert named([[plain(0, "Paris", " Paris"), plain(1, "paris", " Paris")]]) == ["Paris"]


def test_what_members_share_names_them_before_what_one_of_them_has():
    group = [plain(0, "alpha", " metal"), plain(1, "beta", " metal"), plain(2, "gamma", " metal")]
    others = [plain(number, f"other{number}", " metal") for number in range(3, 30)]
    assert name_groups([group], word_spread([*group, *others]))[0].startswith("metal, ")


def test_numbers_and_short_pieces_come_last():
    group = [plain(0, "42", " re", " violin"), plain(1, "42", " re", " cello")]
    assert named([group]) == ["violin, cello, 42"]


def test_plurals_are_not_named_twice():
    assert named([[plain(0, "dollar", " dollars", " price")]]) == ["dollar, price"]


def test_two_groups_with_the_same_words_get_two_names():
    twins = [plain(0, "tax", " law")], [plain(1, "tax", " law")], [plain(2, "tax", " law")]
    names = named(twins)
    assert len(set(names)) == 3
    assert all(name.startswith(("tax", "law")) for name in names)


def test_a_group_without_words_goes_by_its_strongest_label():
    assert named([[plain(4, "“→”", " →"), plain(5, "“←”")]]) == ["“→”"]
    assert named([[plain(4, " \n")]]) == ["⏎"]


@given(groups=st.lists(st.lists(st.tuples(*[TEXT.filter(bool)] * 2), min_size=1, max_size=3), max_size=4))
def test_names_are_never_empty_and_never_twice(groups: list[list[tuple[str, str]]]):
    made = [[plain(number, label, token) for number, (label, token) in enumerate(group)] for group in groups]
    names = named(made)
    assert all(name.strip() for name in names)
    assert len(set(names)) == len(names) == len(groups)


def test_the_first_free_name_is_taken():
    assert first_free(iter(["a", "b"]), []) == "a"
    assert first_free(iter(["a", "b"]), ["a"]) == "b"
    assert first_free(iter(["a", "b"]), ["a", "b"]) == "b (2)"
    assert first_free(iter(["a"]), ["a", "a (2)"]) == "a (3)"
