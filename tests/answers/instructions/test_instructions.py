"""The 25 kinds of instruction: for each, responses that follow it and responses that do not."""

import json
import time

import pytest

from cg_pipeline.answers.instructions import CHECKERS, follows, follows_loosely
from cg_pipeline.answers.instructions.length import count_sentences
from cg_pipeline.answers.instructions.relation import holds
from tests.scoring.cases import BOMBS

GERMAN = "Heute ist ein schöner Tag und wir gehen mit dem Hund in den Wald."
HINDI = "आज मौसम बहुत अच्छा है और हम बाहर घूमने जा रहे हैं।"
ENGLISH = "the weather is nice today and we are going for a walk."

CASES: dict[str, list[tuple[dict, list[str], list[str]]]] = {
    "change_case:capital_word_frequency": [
        (
            {"capital_relation": "at least", "capital_frequency": 2},
            ["YES, it is NASA.", "A-B C", "I think I am", "IT'S", "CAN'T.", "CANNOT", "YES—NO", "I'm, I'll"],
            ["Yes NASA", "U.S. only", "A-B", "AND/OR", "A_B", "I'm sure", "CAN"],
        ),
        ({"capital_relation": "less than", "capital_frequency": 1}, ["none here"], ["ONE here"]),
    ],
    "change_case:english_capital": [({}, [ENGLISH.upper()], [ENGLISH, GERMAN.upper(), "ENGLISH but"])],
    "change_case:english_lowercase": [({}, [ENGLISH], [ENGLISH.capitalize(), GERMAN.lower()])],
    "combination:repeat_prompt": [
        ({"prompt_to_repeat": "Say hi."}, ["Say hi.\nHi!", " say HI. Hi"], ["Hi! Say hi.", "Say hello."])
    ],
    "combination:two_responses": [
        (
            {},
            ["one\n******\ntwo", "******\none\n******\ntwo"],
            ["one", "one\n******\none", "a ****** b ****** c", "a ****** ****** b"],
        )
    ],
    "detectable_content:number_placeholders": [
        (
            {"num_placeholders": 2},
            ["[name], [address]", "[a][b][c]", "[] []"],
            ["[name]", "[]", "[[x]", "[a\nb] [c]"],
        )
    ],
    "detectable_content:postscript": [
        (
            {"postscript_marker": "P.S."},
            ["Bye.\nP.S. Write!", "bye p.s. x", "Hello.\n\n**P.S.** bye", "P. S. x", "(p.s. x)", "xP.S. y"],
            ["Bye.", "stops", "I own a PS 5 and a car.", "PS: x", "P.S x", "P.  S. x"],
        ),
        (
            {"postscript_marker": "P.P.S"},
            ["Bye.\nP.P.S Write!", "P.P.S. x", "*p. p. s*"],
            ["Bye.\nP.S. Write!", "PPS x"],
        ),
    ],
    "detectable_format:constrained_response": [
        ({}, ["My answer is yes.", "Well. My answer is maybe."], ["Yes.", "my answer is"])
    ],
    "detectable_format:json_format": [
        (
            {},
            ['{"a": 1}', "[]", '```json\n{"a": 1}\n```', "```\n1\n```", '```json\n{"a": 1}'],
            ["{'a': 1}", 'Here: {"a": 1}', "{" * 9000, "```python\n1\n```", "```"],
        )
    ],
    "detectable_format:multiple_sections": [
        (
            {"section_spliter": "Section", "num_sections": 2},
            ["Section 1\na\nSection 2\nb", "Section1 Section2", "**Section 1** **Section 2**"],
            ["Section 1", "section 1 2", "Section one Section two"],
        ),
        ({"section_spliter": " Day ", "num_sections": 1}, ["Day 1"], ["Days 1"]),
    ],
    "detectable_format:number_bullet_lists": [
        (
            {"num_bullets": 2},
            ["* a\n* b", "Here:\n  - a\n- b", "- a\n---", "*\n* a\n* b"],
            ["* a", "* a\n* b\n* c", "**a**\n**b**"],
        )
    ],
    "detectable_format:number_highlighted_sections": [
        (
            {"num_highlights": 2},
            ["*a* and *b*", "**a** and **b**", "*a* and **b**"],
            ["*a*", "** **, * *", "*a\nb* *", "**a** and b", "***"],
        )
    ],
    "detectable_format:title": [
        ({}, ["<<Joy>>\nText", "a <<b>>", "<< < >>"], ["Joy", "<<>>", "<< >>", "<<a\nb>>", ">> <<", "<<<>>>"])
    ],
    "keywords:existence": [({"keywords": ["mum", "Dad"]}, ["Mum and dads"], ["mum", ""])],
    "keywords:forbidden_words": [
        ({"forbidden_words": ["rock", "C++"]}, ["rocks", "ROCKET"], ["A Rock.", "rock"])
    ],
    "keywords:frequency": [
        ({"relation": "at least", "keyword": " war ", "frequency": 2}, ["War and wars"], ["war"]),
        ({"relation": "less than", "keyword": "war", "frequency": 2}, ["war"], ["War, war"]),
    ],
    "keywords:letter_frequency": [
        ({"let_relation": "at least", "letter": "t", "let_frequency": 2}, ["Tt"], ["t"]),
        ({"let_relation": "less than", "letter": "!", "let_frequency": 1}, ["a"], ["a!"]),
    ],
    "language:response_language": [
        ({"language": "de"}, [GERMAN], [ENGLISH]),
        ({"language": "hi"}, [HINDI, "123"], [GERMAN]),
        ({"language": "kn"}, ["ಇಂದು ಹವಾಮಾನ ತುಂಬಾ ಚೆನ್ನಾಗಿದೆ"], [HINDI]),
    ],
    "length_constraints:nth_paragraph_first_word": [
        (
            {"num_paragraphs": 2, "nth_paragraph": 2, "first_word": "sun"},
            ["Rain.\n\nSun is up.", 'Rain.\n\n"Sun," he said.', "Rain.\n\n'SUN' up", "a\n\nsun\n\n\n\n"],
            [
                "Sun is up.\n\nRain.",
                "Sun.",
                "a\n\nsun\n\nb",
                "Rain.\n\nSunny.",
                "Rain.\n\n**Sun**",
                "a\n\n\n\nsun",
            ],
        ),
        ({"num_paragraphs": 1, "nth_paragraph": 9, "first_word": "a"}, [], ["a"]),
    ],
    "length_constraints:number_paragraphs": [
        (
            {"num_paragraphs": 2},
            ["a\n***\nb", "a\n\n***\n\nb\n***\n"],
            ["a", "a\n***\nb\n***\nc", "a\n***\n\n***\nb"],
        )
    ],
    "length_constraints:number_sentences": [
        (
            {"relation": "at least", "num_sentences": 2},
            ["One. Two!", "Was it? No."],
            ["One.", "Dr. Who is in."],
        ),
        ({"relation": "less than", "num_sentences": 2}, ["One."], ["One. Two."]),
        (
            {"relation": "less than", "num_sentences": 3},
            ["# Title\n\nOne sentence here. Another one.", "- One\n\n- Two\n\n- Three"],
            ["One. Two. Three."],
        ),
    ],
    "length_constraints:number_words": [
        ({"relation": "at least", "num_words": 3}, ["one two, three"], ["one two"]),
        ({"relation": "less than", "num_words": 3}, ["one two"], ["one two three"]),
    ],
    "punctuation:no_comma": [({}, ["No comma"], ["One, comma"])],
    "startend:end_checker": [
        (
            {"end_phrase": "Any questions?"},
            ["Well. Any questions?", '"Well. any QUESTIONS?" '],
            ["Any questions? No."],
        )
    ],
    "startend:quotation": [({}, ['"All of it"', ' "x"\n'], ['"Not" all', '"', "'x'"])],
}

FOLLOWED = [(k, a, r) for k, cases in CASES.items() for a, yes, _ in cases for r in yes]
MISSED = [(k, a, r) for k, cases in CASES.items() for a, _, no in cases for r in no]


def test_every_kind_has_cases_of_both_sorts():
    assert set(CASES) == set(CHECKERS) == {kind for kind, *_ in FOLLOWED} & {kind for kind, *_ in MISSED}
    assert len(CHECKERS) == 25


@pytest.mark.parametrize(("kind", "arguments", "response"), FOLLOWED)
def test_followed(kind: str, arguments: dict, response: str) -> None:
    assert follows(response, kind, arguments)


@pytest.mark.parametrize(("kind", "arguments", "response"), MISSED)
def test_not_followed(kind: str, arguments: dict, response: str) -> None:
    assert not follows(response, kind, arguments)


def test_an_empty_response_follows_nothing():
    assert not follows(" \n", "punctuation:no_comma", {})


def test_arguments_of_other_instructions_are_passed_over():
    """Rows written as one table hold every argument of every kind, most of them null."""
    assert follows("a", "punctuation:no_comma", {"num_words": None, "relation": None})


def test_an_unknown_instruction_or_argument_is_refused():
    with pytest.raises(ValueError, match=r"instruction is 'no:such'; expected one of change_case:"):
        follows("a", "no:such", {})
    with pytest.raises(ValueError, match=r"arguments of .* are {'x': 1}; expected those of IFEval"):
        follows("a", "punctuation:no_comma", {"x": 1})
    with pytest.raises(ValueError, match="relation is 'at most'; expected 'at least' or 'less than'"):
        holds(1, "at most", 2)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("", 0),
        ("One", 1),
        ("Hi. There", 2),
        ("Dr. Smith went. Home!", 2),
        ("Wait... what? Yes!", 2),
        ("Wait... What? Yes!", 3),
        ("3.5 is a number. Yes.", 2),
        ("Heading\n\nA text.", 1),
        ("J. K. Rowling wrote it.", 1),
        ("Box A. How big is it? It is at 35°N. Fine.", 4),
        ("Fruit, e.g. Apples, of Foo Inc. The end.", 2),
        ("**Bold.** Next.", 2),
        ("今天很好。我们走吧。", 2),
    ],
)
def test_count_sentences(text: str, count: int) -> None:
    assert count_sentences(text) == count


ANY = {kind: cases[0][0] for kind, cases in CASES.items()}


@pytest.mark.parametrize("kind", CHECKERS)
def test_no_response_holds_a_checker_up(kind: str) -> None:
    follows(ENGLISH, kind, ANY[kind])  # loads what is loaded once
    for bomb in BOMBS:
        started = time.process_time()
        follows(bomb, kind, json.loads(json.dumps(ANY[kind])))
        assert time.process_time() - started < 1, (bomb[:12], kind)


@pytest.mark.parametrize(
    ("response", "loosely"),
    [
        ("no comma", True),
        ("Sure, here:\nno comma", True),
        ("no comma\nThere, done.", True),
        ("Sure, here:\nno comma\nThere, done.", True),
        ("Sure, here:\none, two\nThere, done.", False),
        ("one, two", False),  # nothing is left without its only line
    ],
)
def test_an_introduction_and_a_closing_remark_are_forgiven_loosely(response: str, loosely: bool):
    assert follows_loosely(response, "punctuation:no_comma", {}) == loosely


def test_emphasis_is_forgiven_loosely():
    asked = {"end_phrase": "The end"}
    assert not follows("This is **the end**", "startend:end_checker", asked)
    assert follows_loosely("This is **the end**", "startend:end_checker", asked)
