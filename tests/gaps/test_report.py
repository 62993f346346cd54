import dataclasses
import math
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from markdown_it import MarkdownIt

from cg_pipeline.gaps import report as report_module
from cg_pipeline.gaps.clustering import group_gaps
from cg_pipeline.gaps.drawing import Chart
from cg_pipeline.gaps.findings import collect_findings
from cg_pipeline.gaps.glossary import glossary
from cg_pipeline.gaps.inputs import ReportInputs
from cg_pipeline.gaps.report import build_report
from tests.gaps.small_study import SmallStudy, concept

SCRIPT = "<script>alert('x')</script>"
HOSTILE_LABEL = f"{SCRIPT} | `a` [x](http://evil.example) \u202eevil\u202c **b** \x1b[31m"
HOSTILE_PROMPT = (
    f"{SCRIPT}</style></svg>| a | `b` |\n# head\n- item ![i](http://evil.example/i.png) \u2066q\u2069 "
    + "long " * 400
)


def with_groups(inputs: ReportInputs) -> ReportInputs:
    directions = np.random.default_rng(0).normal(size=(len(inputs.concepts), 8))
    clusters = group_gaps(inputs.gaps, inputs.concepts, directions, max_clusters=4, seed=0)
    return dataclasses.replace(inputs, clusters=clusters)


STUDIES = {
    "plain": SmallStudy(),
    "hostile": SmallStudy(
        concepts=[
            concept(
                number, f"{number} {HOSTILE_LABEL}", top_tokens=(SCRIPT, "|"), contexts=(f"⟦{SCRIPT}⟧ ⟦",)
            )
            for number in range(12)
        ],
        prompts={number: f"{number} {HOSTILE_PROMPT}" for number in range(30)},
        answer=f"{SCRIPT}|`x`\u202e" + "y" * 5000,
    ),
    "all unscored": SmallStudy(unscored=1.0),
    "one benchmark": SmallStudy(benchmarks=("north",)),
    "one example": SmallStudy(n_examples=1),
    "nothing alive": SmallStudy(concepts=[concept(number, status="dense", rate=0.5) for number in range(12)]),
}
VOID = {"meta", "br", "use", "image", "path", "rect", "link"}


class Reader(HTMLParser):
    """Collects tags, ids, text and addresses, and checks that tags close in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.addresses: list[str] = []
        self.handlers: list[str] = []
        self.text: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            self.ids += [value or ""] if name == "id" else []
            self.addresses += [value or ""] if name in ("src", "href", "xlink:href", "action") else []
            self.handlers += [name] if name.startswith("on") else []
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)


@pytest.fixture(scope="module", params=STUDIES.values(), ids=STUDIES)
def built(request: pytest.FixtureRequest):
    inputs = with_groups(request.param.build())
    return inputs, build_report(inputs)


@pytest.fixture
def undrawn(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts as empty frames, for tests of words: drawing takes most of a report's time."""
    for name in ("accuracy", "coverage", "overlap", "performance", "landscape"):
        frame = Chart(name=name, title=name, alt=name, svg="<svg></svg>", figure=None)
        monkeypatch.setattr(report_module, f"draw_{name}", lambda *_, frame=frame: frame)


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


def test_the_html_is_well_formed_self_contained_and_without_script(built):
    _, report = built
    page = read(report.html)
    assert page.open == []
    assert not {"script", "iframe", "object", "embed", "link", "img"} & set(page.tags)
    assert page.handlers == []
    assert all(address.startswith(("#", "data:image/png;base64,")) for address in page.addresses)
    assert "@import" not in report.html
    assert not re.findall(r"url\((?!#)", report.html)


def test_ids_are_unique_and_the_contents_lead_somewhere(built):
    _, report = built
    page = read(report.html)
    assert len(page.ids) == len(set(page.ids))
    assert {address[1:] for address in page.addresses if address.startswith("#")} <= set(page.ids)


def test_the_html_has_language_title_headings_and_described_figures(built):
    _, report = built
    assert '<html lang="en">' in report.html
    assert re.search(r"<title>Competency gaps of Tiny model – A small study</title>", report.html)
    assert report.html.count("<h1>") == 1
    assert len(re.findall(r'role="img" aria-label="[^"]{20,}"', report.html)) == 5
    assert "@media print" in report.html


def test_nothing_invisible_or_endless_reaches_either_form(built):
    _, report = built
    for form in (report.html, report.markdown):
        assert not re.search("[\u202a-\u202e\u2066-\u2069\x1b\x00]", form)
        assert "y" * 200 not in form
        assert not re.search(r"\bnan\b", form)
        form.encode("utf-8")


def test_every_table_of_the_markdown_is_whole(built):
    _, report = built
    widths: set[int] = set()
    for line in report.markdown.splitlines():
        cells = len(re.findall(r"(?<!\\)\|", line)) if line.startswith("|") else 0
        if cells:
            widths.add(cells)
            assert len(widths) == 1, line
        else:
            widths.clear()
    assert not re.search(r"\n\n\n", report.markdown)


def test_the_markdown_holds_no_link_no_html_and_only_its_own_figures(built):
    _, report = built
    tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(report.markdown)
    inline = [child for token in tokens for child in token.children or ()]
    assert not [
        token
        for token in [*tokens, *inline]
        if token.type in ("link_open", "html_block", "code_inline", "fence")
    ]
    assert {token.content for token in inline if token.type == "html_inline"} <= {"<br>"}
    pictures = [str(token.attrs["src"]) for token in inline if token.type == "image"]
    assert pictures == [f"figures/{name}.svg" for name in report.figures]


def test_the_markdown_has_the_same_sections_as_the_html(built):
    _, report = built
    of_markdown = re.findall(r"^## (.*)$", report.markdown, re.MULTILINE)
    assert of_markdown == re.findall(r"<h2[^>]*>(.*?)</h2>", report.html)


def test_hostile_text_is_shown_as_text():
    report = build_report(STUDIES["hostile"].build())
    assert "&lt;script&gt;" in report.html
    assert "⟨U+202E⟩evil" in report.html
    assert "⟨U+202E⟩evil" in report.markdown
    assert "\\<script\\>" in report.markdown
    assert "long…" in report.html or "lo…" in report.html or "…</bdi>" in report.html


@pytest.mark.usefixtures("undrawn")
def test_the_report_says_what_was_found():
    inputs = with_groups(SmallStudy().build())
    report = build_report(inputs)
    found = collect_findings(inputs)
    assert found.suite.n_missing == 2
    for form in (report.html, report.markdown):
        assert "Missing concepts: 2" in form
        assert "are missing: active in no example" in form
        assert inputs.clusters[0].name in form
        assert np.__version__ in form
        assert "is not a proven gap" in form


def test_the_weakest_come_first_and_no_concept_is_in_both_lists():
    found = collect_findings(SmallStudy().build())
    weakest = [row.performance for row in found.weakest]
    strongest = [row.performance for row in found.strongest]
    assert weakest == sorted(weakest)
    assert strongest == sorted(strongest, reverse=True)
    assert max(weakest) <= min(strongest)
    assert not {row.concept.concept_id for row in found.weakest} & {
        row.concept.concept_id for row in found.strongest
    }
    assert all(row.concept.status == "alive" for row in found.weakest)


def test_each_gap_that_fires_has_right_and_wrong_examples():
    found = collect_findings(SmallStudy().build())
    for scope, kinds in (("suite", found.kinds), *found.by_benchmark.items()):
        for kind in kinds:
            for row in kind.rows if kind.kind != "missing" else ():
                shown = found.evidence[scope, row.gap.concept_id]
                assert {excerpt.side for excerpt in shown} == {"right", "wrong"}
                assert scope == "suite" or {excerpt.benchmark for excerpt in shown} == {scope}
    for row in (*found.weakest, *found.strongest):
        sides = [excerpt.side for excerpt in found.evidence["suite", row.concept.concept_id]]
        assert sides == ["right", "right", "wrong", "wrong"]


@pytest.mark.usefixtures("undrawn")
def test_tokens_are_marked_in_both_forms_and_escaped():
    prompts = {number: f"<b>|{number} a*b& the rest of it" for number in range(30)}
    report = build_report(SmallStudy(prompts=prompts).build())
    assert re.search(
        r'<mark class="s2">&lt;b&gt;\|\d+</mark> <mark class="s3">a\*b&amp;</mark> the rest of it',
        report.html,
    )
    assert re.search(r"⟦\\<b\\>\\\|\d+⟧ ⟦a\\\*b\\&⟧ the rest of it", report.markdown)


def test_the_strongest_missing_concept_is_the_commonest_elsewhere():
    found = collect_findings(SmallStudy().build())
    assert [row.concept.firing_rate for row in found.kinds[0].rows] == [0.05, 0.01]


@pytest.mark.usefixtures("undrawn")
def test_quarantined_concepts_are_told_and_nowhere_else():
    inputs = SmallStudy().build()
    found = collect_findings(inputs)
    assert (found.n_left_out, found.left_out_by_reason) == (1, {"dense": 1})
    shown = {
        row.gap.concept_id
        for kinds in (found.kinds, *found.by_benchmark.values())
        for kind in kinds
        for row in kind.rows
    }
    assert found.left_out[0].concept.concept_id not in shown
    report, n_tables = build_report(inputs), sum(bool(kind.rows) for kind in found.kinds)
    assert "40.0%" in report.html
    assert report.html.count("; 1 concept left out</caption>") == n_tables
    assert report.markdown.count("; 1 concept left out:") == n_tables
    for form in (report.html, report.markdown):
        assert form.count("1 concept is left out (1 dense)") == 3  # in the lede, the first table, its section
        assert "First 1 of 1, highest firing rate first" in form


@pytest.mark.usefixtures("undrawn")
def test_a_duplicate_names_the_concept_that_says_the_same():
    inputs = SmallStudy().build()
    verdicts = [
        dataclasses.replace(each, verdict="quarantined", reasons=("duplicate",), nearest_concept_id=7)
        if each.concept_id == 3
        else each
        for each in inputs.health
    ]
    report = build_report(dataclasses.replace(inputs, health=verdicts))
    assert "duplicate of #7" in report.html
    assert "duplicate of 7" in report.markdown
    assert "2 concepts are left out (1 dense, 1 duplicate)" in report.html


@pytest.mark.usefixtures("undrawn")
def test_without_gaps_the_report_says_none():
    inputs = dataclasses.replace(SmallStudy().build(), gaps=[], clusters=[])
    report = build_report(inputs)
    assert report.html.count("None.") >= 4
    assert "There are no gaps to group." in report.html
    assert "There are no gaps to group." in report.markdown


@pytest.mark.usefixtures("undrawn")
def test_names_by_an_llm_come_with_explanation_and_failures_with_a_note():
    inputs = with_groups(SmallStudy().build())
    first = dataclasses.replace(
        inputs.clusters[0], name="Rivers & <ice>", name_source="tiny-llm", explanation="Cold water."
    )
    second = dataclasses.replace(inputs.clusters[1], note="No answer within 30 s.")
    report = build_report(dataclasses.replace(inputs, clusters=[first, second]))
    for part in ("Rivers &amp; &lt;ice&gt;", "tiny-llm", "Cold water.", "No answer within 30 s."):
        assert part in report.html
    assert "Rivers \\& \\<ice\\>" in report.markdown


def test_equal_inputs_give_equal_reports():
    first, second = (build_report(with_groups(SmallStudy().build())) for _ in range(2))
    assert (first.html, first.markdown, dict(first.figures)) == (
        second.html,
        second.markdown,
        dict(second.figures),
    )


@pytest.mark.usefixtures("undrawn")
def test_a_study_without_scores_has_dashes_and_no_ranking():
    inputs = STUDIES["all unscored"].build()
    report = build_report(inputs)
    assert math.isnan(collect_findings(inputs).headlines[0].accuracy)
    assert "No concept has enough scored examples to be ranked." in report.html
    assert "30 unparsed" in report.html


@pytest.mark.parametrize("normaliser", ["grand_mean", "active_mean", "none"])
@pytest.mark.usefixtures("undrawn")
def test_every_word_is_explained_once_and_heads_lead_there(normaliser: str):
    inputs = SmallStudy().build()
    inputs = dataclasses.replace(inputs, study=dataclasses.replace(inputs.study, normaliser=normaliser))
    report = build_report(inputs)
    for term in glossary(inputs.study):
        assert report.html.count(f'id="term-{term.key}"') == 1
        assert report.markdown.count(f"- **{term.word}**") == 1
    leading = set(re.findall(r'<a href="#term-([a-z-]+)"', report.html))
    assert {"coverage", "performance", "lift", "n", "n-eff", "firing-rate", "skew"} <= leading


@pytest.mark.usefixtures("undrawn")
def test_small_coverages_are_told_apart():
    inputs = SmallStudy().build()
    values = (0.000442, 0.000481)
    low = [gap for gap in inputs.gaps if gap.kind == "under_represented" and gap.scope == "suite"]
    gaps = [
        dataclasses.replace(low[0], concept_id=place, rank=place + 1, value=value)
        for place, value in enumerate(values)
    ]
    report = build_report(dataclasses.replace(inputs, gaps=gaps))
    for form in (report.html, report.markdown):
        assert all(f"{value}" in form for value in values)


@pytest.mark.usefixtures("undrawn")
def test_the_report_states_the_rules_that_were_applied():
    rules = dataclasses.replace(SmallStudy().rules, under_coverage=0.2, model_gap_below=0.35)
    report = build_report(SmallStudy(rules=rules).build())
    for form in (report.html, report.markdown):
        assert form.count("The supported concepts with a performance below 0.35.") == 2
        assert form.count("The concepts that fire in the suite with a coverage below 0.2.") == 2
        assert "lowest 10%" not in form
