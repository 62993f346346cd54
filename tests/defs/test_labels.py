"""Labels in the graph: new ones ask for new words and for nothing that runs a model."""

import html
import json
import re
import shutil
from collections import Counter
from pathlib import Path
from unittest.mock import patch

import dagster as dg
import duckdb
import pytest

from cg_pipeline.defs.freshness import Expected
from cg_pipeline.defs.jobs import DICTIONARY_JOB, LABELLING_JOB
from cg_pipeline.defs.label_runs import label_sae
from cg_pipeline.defs.labelling import ConceptChoice, Labeller
from cg_pipeline.defs.resources import Store
from cg_pipeline.defs.runs import Unit, run_study, run_unit, units_of
from cg_pipeline.defs.trust import Trust
from cg_pipeline.saes import SAES
from cg_pipeline.store.layout import Layout
from cg_pipeline.store.warehouse import Warehouse
from tests.defs.tiny_study import (
    LOADS,
    N_CONCEPTS,
    READER,
    STUDY,
    concept_of,
    tiny_data,
    tiny_definitions,
)
from tests.llm.fake_server import FakeServer, Step, completion, failure

pytestmark = pytest.mark.integration

SAE = "smollm2_l12"
WORDS = ["concept_labels"]
REPORT = ["concept_health", "gaps", "gap_clusters", "gap_report"]


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch):
    for name in ("CG_LLM_BASE_URL", "CG_LLM_MODEL", "CG_JUDGE_BASE_URL", "CG_JUDGE_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="module")
def instance():
    with patch.dict(SAES, READER), dg.DagsterInstance.ephemeral() as made:
        yield made


def expected(data_dir: Path) -> Expected:
    return Expected(Layout(data_dir), STUDY, "automatic")


def run(data_dir: Path, instance: dg.DagsterInstance) -> list[str]:
    """Run the study; returns what its checks warn of."""
    warnings: list[str] = []
    run_study(
        tiny_definitions(data_dir), instance, expected(data_dir), lambda unit, stale: None, warnings.append
    )
    return warnings


def stale(data_dir: Path, instance: dg.DagsterInstance) -> list[str]:
    """Assets of the study that would be run."""
    trust = Trust(Warehouse(Layout(data_dir)), expected(data_dir), instance)
    units = units_of(STUDY)
    return [asset for unit in units for asset in unit.job.assets if not trust.holds(asset, unit)]


def relabel(data_dir: Path, instance: dg.DagsterInstance) -> list[str]:
    """Put the labels together anew; returns what checks warn of."""
    unit = Unit(DICTIONARY_JOB, {"sae": SAE})
    return run_unit(tiny_definitions(data_dir), unit, ["label_files", "concept_labels"], instance)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory, instance: dg.DagsterInstance) -> Path:
    data_dir = tiny_data(tmp_path_factory.mktemp("data"))
    run(data_dir, instance)
    return data_dir


@pytest.fixture
def data_dir(finished: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished, tmp_path / "data"))


def put(data_dir: Path, name: str, content: str) -> Path:
    path = data_dir / "labels" / SAE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def ask(data_dir: Path, sql: str) -> list[tuple]:
    with duckdb.connect(str(Layout(data_dir).published), read_only=True) as connection:
        return connection.execute(sql).fetchall()


def chosen(data_dir: Path, concept: int) -> tuple:
    (row,) = ask(
        data_dir,
        f"select source, label, score, low_score from concept_labels where concept_id = {concept} and chosen",
    )
    return row


def test_a_label_file_asks_for_words_alone(data_dir: Path, instance: dg.DagsterInstance):
    """No model is loaded but the reader's directions, by which clusters are made; no metric is touched."""
    before = ask(data_dir, "select asset, run_id from materialisations")
    LOADS.clear()
    rows = "".join(f"{concept},marked label {concept},0.3\n" for concept in range(4, N_CONCEPTS))
    put(data_dir, "mine.csv", f"concept_id,label,score\n3,fast days,0.9\n{rows}")

    assert stale(data_dir, instance) == ["label_files", *WORDS, *REPORT]
    assert run(data_dir, instance) == [
        f"check few_labels_score_low of concept_labels: {N_CONCEPTS - 4} of {N_CONCEPTS - 3} tested "
        "labels that are shown scored low"
    ]

    assert LOADS == [SAE]
    assert stale(data_dir, instance) == []
    after = ask(data_dir, "select asset, run_id from materialisations")
    redone = {asset for asset, run_id in set(before) - set(after)}
    assert redone == {"label_files", *WORDS, *REPORT}
    assert chosen(data_dir, 3) == ("own:mine.csv", "fast days", 0.9, False)
    assert chosen(data_dir, 4) == ("own:mine.csv", "marked label 4", 0.3, True)
    assert chosen(data_dir, 2) == ("automatic", "word 2", None, False)
    assert ask(data_dir, "select count(*) from concept_labels where concept_id = 3") == [(2,)]
    ((markdown,),) = ask(data_dir, "select markdown_path from gap_report")
    report = (data_dir / markdown).read_text(encoding="utf-8")
    assert f"{N_CONCEPTS - 3} own:mine.csv, 3 automatic" in report
    assert "(low score 0.30) marked label" in report
    assert ask(data_dir, "select count(*) from gap_clusters where name ilike '%low score%'") == [(0,)]
    assert ask(data_dir, "select count(*) from gap_clusters where name ilike '%marked%'") != [(0,)]


def test_a_label_file_that_is_edited_or_taken_away_shows(data_dir: Path, instance: dg.DagsterInstance):
    path = put(data_dir, "mine.jsonl", '{"concept_id": 3, "label": "one"}\n')
    relabel(data_dir, instance)
    assert chosen(data_dir, 3)[1] == "one"
    path.write_text('{"concept_id": 3, "label": "two"}\n', encoding="utf-8")
    assert stale(data_dir, instance) == ["label_files", *WORDS, *REPORT]
    relabel(data_dir, instance)
    assert chosen(data_dir, 3)[1] == "two"
    path.unlink()
    assert "label_files" in stale(data_dir, instance)
    relabel(data_dir, instance)
    assert chosen(data_dir, 3)[0] == "automatic"


def test_a_label_file_that_changes_between_two_stages_is_told(data_dir: Path, instance: dg.DagsterInstance):
    path = put(data_dir, "mine.csv", "concept_id,label\n3,one\n")
    relabel(data_dir, instance)
    path.write_text("concept_id,label\n3,two\n", encoding="utf-8")
    unit = Unit(DICTIONARY_JOB, {"sae": SAE})
    with pytest.raises(RuntimeError, match=r"mine\.csv has SHA-256 .*; expected .* Materialise it again"):
        run_unit(tiny_definitions(data_dir), unit, ["concept_labels"], instance)


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        (
            "a.csv",
            f"concept_id,label\n{N_CONCEPTS},x\n",
            rf"a\.csv:2: concept_id is {N_CONCEPTS}; expected 0 to",
        ),
        ("a.json", '["x"]', rf"a\.json lists 1 labels without ids; expected {N_CONCEPTS}"),
        ("a.txt", "x", r"a\.txt is no label file"),
    ],
)
def test_labels_of_another_width_stop_the_run(
    data_dir: Path, instance: dg.DagsterInstance, name, content, sentence
):
    """Fault F25."""
    put(data_dir, name, content)
    with pytest.raises((RuntimeError, ValueError), match=sentence):
        relabel(data_dir, instance)
    assert chosen(data_dir, 3)[0] == "automatic"


def test_labels_of_a_narrower_dictionary_warn(data_dir: Path, instance: dg.DagsterInstance):
    """Fault F25: nothing in the file says that it is of another SAE."""
    put(data_dir, "a.csv", "concept_id,label\n" + "".join(f"{i},x{i}\n" for i in range(N_CONCEPTS // 4)))
    [warning] = relabel(data_dir, instance)
    assert "own:a.csv labels nearly all concepts below 128 and none above" in warning


def wise(path: str, request: dict) -> Step:
    """A language model that reads: names the marked words, and finds them again."""
    prompt = request["messages"][0]["content"]
    excerpts = re.findall(r"<excerpt_\d+>\n(.*?)\n</excerpt_\d+>", prompt, re.DOTALL)
    described = re.search(r"<description>\nthe words (.*?)\n</description>", prompt, re.DOTALL)
    if described is None:
        marked = dict.fromkeys(re.findall(r"⟦([^⟦⟧]*)⟧", "".join(excerpts)))
        named = " ".join(list(marked)[:6])[:100]
        return completion(json.dumps({"pattern": "Some words.", "label": f"the words {named}"}))
    wanted = set(html.unescape(described[1]).split())
    seen = [re.sub(r"[⟦⟧]", " ", html.unescape(text)).split() for text in excerpts]
    if "words are marked" in prompt:
        seen = [" ".join(re.findall(r"⟦([^⟦⟧]*)⟧", html.unescape(text))).split() for text in excerpts]
    verdicts = [bool(wanted & set(words)) for words in seen]
    return completion(json.dumps({f"excerpt_{i}": verdict for i, verdict in enumerate(verdicts, 1)}))


def most_firing(data_dir: Path) -> list[int]:
    """Alive concepts that fire on little but one word, which the sample repeats; the first by their ids."""
    texts = [json.loads(line)["text"] for line in (data_dir / "sample/texts.jsonl").open(encoding="utf-8")]
    words = Counter(word for text in texts for word in set(text.split()))
    totals = Counter[int]()
    for word, n in words.items():
        totals[concept_of(word)] += n
    of_one_word = {
        concept_of(word) for word, n in words.items() if n >= 8 and n >= 0.7 * totals[concept_of(word)]
    }
    return sorted(concept for concept in of_one_word if concept % 50)[:3]


def label(
    data_dir: Path, instance: dg.DagsterInstance, concepts: list[int], agree=lambda sentence: True
) -> list[str]:
    told: list[str] = []
    label_sae(
        tiny_definitions(data_dir),
        instance,
        Labeller(store=Store(data_dir=str(data_dir))),
        SAE,
        ConceptChoice(concepts=concepts),
        agree=agree,
        report=told.append,
    )
    return told


def point_at(server: FakeServer, monkeypatch: pytest.MonkeyPatch, model: str = "m") -> None:
    monkeypatch.setenv("CG_LLM_BASE_URL", server.url)
    monkeypatch.setenv("CG_LLM_MODEL", model)
    monkeypatch.setenv("CG_LLM_MAX_RETRIES", "0")


def test_a_language_model_labels_and_only_words_are_stale(
    data_dir: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    concepts = most_firing(data_dir)
    sentences: list[str] = []
    with FakeServer(rule=wise) as server:
        point_at(server, monkeypatch)
        monkeypatch.setenv("CG_LLM_INPUT_PRICE", "1")
        monkeypatch.setenv("CG_LLM_OUTPUT_PRICE", "2")
        told = label(data_dir, instance, concepts, lambda sentence: not sentences.append(sentence))
        n_asked = len(server.requests)
    assert re.match(
        r"llm:m: \d+ questions about 3 concepts, .*: about 0\.\d\d at the prices set", sentences[0]
    )
    assert f"{n_asked} questions" in sentences[0].replace(",", "")
    assert any("3 labels by language models, 3 of them shown" in line for line in told)
    assert f"calls {n_asked}" in told[-1]
    for concept, text, detection, n_detection, fuzzing, n_fuzzing in ask(
        data_dir,
        "select concept_id, label, detection, n_detection, fuzzing, n_fuzzing from llm_labels order by 1",
    ):
        assert concept in concepts
        assert text.startswith("the words ")
        assert detection > 0.6
        assert fuzzing > 0.6
        assert min(n_detection, n_fuzzing) >= 10
        assert chosen(data_dir, concept)[:2] == ("llm:m", text)
    LOADS.clear()
    monkeypatch.delenv("CG_LLM_BASE_URL")  # whoever reads labels needs no model
    monkeypatch.delenv("CG_LLM_MODEL")
    assert stale(data_dir, instance) == REPORT
    assert LOADS == []


def test_labels_are_added_and_none_is_lost(
    data_dir: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    one, two, three = most_firing(data_dir)
    with FakeServer(rule=wise) as server:
        point_at(server, monkeypatch)
        label(data_dir, instance, [one, two])
        n_asked = len(server.requests)
        label(data_dir, instance, [one, two])
        assert len(server.requests) == n_asked  # answers are kept
        label(data_dir, instance, [three])
        point_at(server, monkeypatch, "other")
        label(data_dir, instance, [one])
    rows = ask(data_dir, "select concept_id, explainer from llm_labels order by 1, 2")
    assert rows == [(one, "llm:m"), (one, "llm:other"), (two, "llm:m"), (three, "llm:m")]
    sources = ask(data_dir, f"select source from concept_labels where concept_id = {one} order by 1")
    assert sources == [("automatic",), ("llm:m",), ("llm:other",)]


def test_who_says_no_to_the_cost_is_not_asked_for(
    data_dir: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    with FakeServer(rule=wise) as server:
        point_at(server, monkeypatch)
        told = label(data_dir, instance, most_firing(data_dir), lambda sentence: False)
    assert server.requests == []
    assert told[-1] == "Nothing was asked."
    assert stale(data_dir, instance) == []


def test_a_run_that_broke_off_asks_only_what_is_missing(
    data_dir: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    answered = 0

    def tiring(path: str, request: dict) -> Step:
        nonlocal answered
        answered += 1
        return wise(path, request) if answered <= 4 else failure(401)

    concepts = most_firing(data_dir)
    with FakeServer(rule=tiring) as server:
        point_at(server, monkeypatch)
        label(data_dir, instance, concepts)
        server.rule = wise
        n_before = len(server.requests)
        label(data_dir, instance, concepts)
        asked_again = len(server.requests) - n_before
        label(data_dir, instance, concepts)
        assert len(server.requests) == n_before + asked_again
    assert ask(data_dir, "select count(*) from llm_labels where detection is not null") == [(3,)]


def test_without_a_language_model_it_is_said_at_once(data_dir: Path, instance: dg.DagsterInstance):
    with pytest.raises(
        ValueError, match=r"No language model is set; .* Set CG_LLM_BASE_URL and CG_LLM_MODEL"
    ):
        label(data_dir, instance, [3])


@pytest.mark.parametrize(
    ("price", "sentence"),
    [("1000000", r"Labelling is estimated at [\d.]+; expected at most 0.01"), ("", r"the price is unknown")],
)
def test_what_costs_too_much_is_not_asked(
    data_dir: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch, price: str, sentence: str
):
    unit = Unit(LABELLING_JOB, {"sae": SAE})
    with FakeServer(rule=wise) as server:
        point_at(server, monkeypatch)
        monkeypatch.setenv("CG_LLM_INPUT_PRICE", price)
        monkeypatch.setenv("CG_LLM_OUTPUT_PRICE", price)
        definitions = tiny_definitions(data_dir)
        choice = {"concepts": most_firing(data_dir)}
        with pytest.raises(RuntimeError, match=sentence):
            run_unit(
                definitions,
                unit,
                ["concept_contexts", "llm_labels"],
                instance,
                {"concept_contexts": choice, "llm_labels": {"ask": True, "max_cost": 0.01}},
            )
    assert server.requests == []


def test_materialising_everything_asks_nothing_and_keeps_what_is_there(
    data_dir: Path, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
):
    one, two, _ = most_firing(data_dir)
    unit = Unit(LABELLING_JOB, {"sae": SAE})
    assets = ["concept_contexts", "llm_labels"]
    with FakeServer(rule=wise) as server:
        point_at(server, monkeypatch)
        label(data_dir, instance, [one])
        n_asked = len(server.requests)
        [warning] = run_unit(
            tiny_definitions(data_dir), unit, assets, instance, {"concept_contexts": {"concepts": [two]}}
        )
        assert len(server.requests) == n_asked
    assert "1 of 1 concepts without the label asked for" in warning
    assert ask(data_dir, "select concept_id from llm_labels") == [(one,)]
