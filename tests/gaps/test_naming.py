from collections.abc import Sequence
from dataclasses import dataclass, field

from cg_pipeline.gaps.naming import name_clusters
from cg_pipeline.protocols import NamedGroup, NamingFailed
from cg_pipeline.records import GapCluster
from tests.gaps.small_study import concept

CONCEPTS = [concept(number) for number in range(60)]


@dataclass
class ScriptedNamer:
    """Answers from a list; an exception in it is raised."""

    answers: list[str | NamingFailed]
    asked: list[tuple[str, list[str]]] = field(default_factory=list)

    @property
    def source(self) -> str:
        return "scripted"

    def name_group(self, kind: str, labels: Sequence[str]) -> NamedGroup:
        self.asked.append((kind, list(labels)))
        answer = self.answers[len(self.asked) - 1]
        if isinstance(answer, NamingFailed):
            raise answer
        return NamedGroup(name=answer, explanation=f"About {answer}.")


def cluster(number: int, kind: str = "missing", members: tuple[int, ...] = (0, 1)) -> GapCluster:
    return GapCluster(
        model="m",
        kind=kind,
        cluster_id=number,
        name=f"auto {number}",
        name_source="automatic",
        explanation="",
        note="",
        concept_ids=members,
    )


def test_without_a_namer_nothing_changes():
    clusters = [cluster(0)]
    assert name_clusters(clusters, CONCEPTS, None) == clusters


def test_a_namer_gives_name_explanation_and_source():
    namer = ScriptedNamer(["Water"])
    [named] = name_clusters([cluster(0, "model_gap", (2, 0))], CONCEPTS, namer)
    assert (named.name, named.explanation, named.name_source, named.note) == (
        "Water",
        "About Water.",
        "scripted",
        "",
    )
    assert namer.asked == [("model_gap", [CONCEPTS[2].label, CONCEPTS[0].label])]


def test_a_large_group_shows_its_strongest_labels_only():
    namer = ScriptedNamer(["Much"])
    name_clusters([cluster(0, members=tuple(range(60)))], CONCEPTS, namer)
    assert namer.asked[0][1] == [concept.label for concept in CONCEPTS[:40]]


def test_a_failure_keeps_the_automatic_name_says_why_and_stops_nothing():
    namer = ScriptedNamer([NamingFailed("The server gave no JSON."), "Bread"])
    first, second = name_clusters([cluster(0), cluster(1)], CONCEPTS, namer)
    assert (first.name, first.name_source, first.note) == ("auto 0", "automatic", "The server gave no JSON.")
    assert (second.name, second.note) == ("Bread", "")


def test_three_failures_in_a_row_end_the_asking():
    failure = NamingFailed("No answer within 30 s.")
    namer = ScriptedNamer([failure, failure, "Comets", failure, failure, failure])
    named = name_clusters([cluster(number) for number in range(8)], CONCEPTS, namer)
    assert len(namer.asked) == 6
    assert named[5].note == "No answer within 30 s."
    assert [named[6].note, named[7].note] == ["Not asked: scripted failed 3 times in a row before."] * 2
    assert [named[6].name, named[6].name_source] == ["auto 6", "automatic"]


def test_an_empty_or_hostile_name_is_made_harmless():
    empty, hostile = name_clusters(
        [cluster(0), cluster(1)], CONCEPTS, ScriptedNamer([" \n ", "Ri\u202ever\nbank"])
    )
    assert (empty.name, empty.name_source) == ("auto 0", "automatic")
    assert empty.note == "scripted gave an empty name."
    assert hostile.name == "Ri⟨U+202E⟩ver ⏎ bank"


def test_two_groups_of_a_kind_never_share_a_name():
    namer = ScriptedNamer(["Water", "Water", "Water"])
    named = name_clusters([cluster(0), cluster(1), cluster(0, "model_gap")], CONCEPTS, namer)
    assert [one.name for one in named] == ["Water", "Water (2)", "Water"]


def test_a_silent_failure_still_gets_a_note():
    [named] = name_clusters([cluster(0)], CONCEPTS, ScriptedNamer([NamingFailed()]))
    assert named.note == "scripted gave no name and no reason."
