import pytest

from cg_pipeline.answers.statements import emphasised, names, sides, without_greeting


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("The capital of France is Paris", ("Paris", "The capital of France")),
        ("Paris is the capital", ("the capital", "Paris")),
        ("It's Paris", ("Paris",)),
        ("It was Ann who did it", ("Ann who did it", "Ann")),
        ("It is Paris, a city on the Seine", ("Paris, a city on the Seine", "Paris")),
        ("It was written by Ann", ("written by Ann", "Ann")),
        ("I think it is Paris", ("Paris",)),
        ("It is not Paris", ()),
        ("It isn't Paris", ()),
        ("It is Paris or Rome", ()),
        ("Paris is Rome is Berlin", ()),
        ("Maybe it is Paris", ()),
        ("Is it Paris?", ()),
        ("Paris", ()),
    ],
)
def test_sides_of_a_statement(sentence: str, parts: tuple[str, ...]) -> None:
    assert sides(sentence) == parts


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("Paris", ("Paris",)),
        ("Paris, the capital", ("Paris, the capital", "Paris")),
        ("Paris (France)", ("Paris (France)", "Paris")),
        ("I believe Paris", ("I believe Paris", "Paris")),
        ("By Ann", ("By Ann", "Ann")),
        ("In France **Paris** rules", ("Paris", "In France Paris rules", "France Paris rules")),
        ("Paris, Rome, Berlin", ("Paris, Rome, Berlin",)),
    ],
)
def test_what_a_sentence_may_name(sentence: str, parts: tuple[str, ...]) -> None:
    assert names(sentence) == parts


def test_one_bold_part_is_the_emphasised_one():
    assert emphasised("It is **Paris**.") == "Paris"
    assert emphasised("**Paris** or **Rome**") is None
    assert emphasised("**Note:** no") is None


@pytest.mark.parametrize(
    ("text", "left"),
    [("Sure! Paris.", "Paris."), ("Great question! It is so.", "It is so."), ("Sure", "Sure")],
)
def test_without_greeting(text: str, left: str) -> None:
    assert without_greeting(text) == left
