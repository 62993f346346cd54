"""Inspect's own reader where it is installed; where it is not, objects of the same shape."""

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from cg_pipeline.sources.eval_logs.inspect_log import read_inspect


def sample(**fields):
    choices = fields.pop("output_choices", [1])
    output = SimpleNamespace(
        completion="ANSWER: B",
        stop_reason=fields.pop("stop_reason", "stop"),
        choices=choices,
        usage=SimpleNamespace(input_tokens=10, output_tokens=3),
    )
    standard = {"id": 1, "epoch": 1, "input": "Which animal barks?", "choices": ["cat", "dog"], "target": "B"}
    scores = {"choice": SimpleNamespace(value="C", answer="B")}
    return SimpleNamespace(
        **{**standard, "output": output, "scores": scores, "error": None, "limit": None, **fields}
    )


@pytest.fixture
def read(tmp_path: Path, monkeypatch):
    def read(*samples, **settings):
        package, module = ModuleType("inspect_ai"), ModuleType("inspect_ai.log")
        module.read_eval_log = lambda path, resolve_attachments: SimpleNamespace(samples=list(samples))
        monkeypatch.setitem(sys.modules, "inspect_ai", package)
        monkeypatch.setitem(sys.modules, "inspect_ai.log", module)
        (tmp_path / "a.eval").write_bytes(b"")
        return read_inspect([tmp_path / "a.eval"], **settings)

    return read


def test_an_answer(read):
    [answer] = read(sample())
    assert (answer.text, answer.answer, answer.value) == ("ANSWER: B", "B", 1.0)
    assert (answer.prompt, answer.orders, answer.target) == ("Which animal barks?", (("cat", "dog"),), "B")
    assert (answer.n_prompt_tokens, answer.n_completion_tokens, answer.sample) == (10, 3, 0)
    assert answer.place == "a.eval sample 1 epoch 1"


def test_epochs_are_samples(read):
    assert [answer.sample for answer in read(sample(epoch=1), sample(epoch=2))] == [0, 1]


def test_the_last_user_message_is_the_question(read):
    said = [
        SimpleNamespace(role=role, text=text)
        for role, text in (("system", "s"), ("user", "q"), ("user", "r"))
    ]
    assert read(sample(input=said))[0].prompt == "r"


@pytest.mark.parametrize(
    ("value", "expected", "reason"),
    [
        ("C", 1.0, ""),
        ("P", 0.5, ""),
        ("I", 0.0, ""),
        ("N", None, "no_answer"),
        (0.25, 0.25, ""),
        (True, 1.0, ""),
        (7, None, "score_out_of_range"),
        ({"a": 1}, None, "score_not_a_number"),
        ("yes", None, "score_not_a_number"),
    ],
)
def test_grades(read, value, expected, reason):
    [answer] = read(sample(scores={"s": SimpleNamespace(value=value, answer=None)}))
    assert (answer.value, answer.reason, answer.answer) == (expected, reason, "")


@pytest.mark.parametrize(
    ("fields", "stop"),
    [
        ({"stop_reason": "max_tokens"}, "length"),
        ({"stop_reason": "model_length"}, "overflow"),
        ({"stop_reason": "content_filter"}, "refused"),
        ({"stop_reason": "unknown"}, "end"),
        ({"limit": SimpleNamespace(type="time")}, "timed_out"),
        ({"limit": SimpleNamespace(type="message")}, "end"),
        ({"error": SimpleNamespace(message="boom")}, "failed"),
        ({"output_choices": []}, "failed"),
    ],
)
def test_how_it_stopped(read, fields, stop):
    assert read(sample(**fields))[0].stop == stop


def test_a_sample_that_failed_has_no_score(read):
    [answer] = read(sample(error=SimpleNamespace(message="boom"), scores=None))
    assert (answer.value, answer.reason) == (None, "failed")
    assert read(sample(scores=None))[0].reason == "no_score_logged"


def test_one_of_several_scorers_has_to_be_named(read):
    scores = {name: SimpleNamespace(value=value, answer="") for name, value in (("a", "C"), ("b", "I"))}
    with pytest.raises(ValueError, match=r"has scorers a, b; expected one. Name it with --metric"):
        read(sample(scores=scores))
    assert read(sample(scores=scores), metric="b")[0].value == 0.0
    with pytest.raises(ValueError, match="scorer 'c' is not among a, b"):
        read(sample(scores=scores), metric="c")


def test_a_log_without_samples_is_refused(read):
    with pytest.raises(ValueError, match=r"a\.eval holds no samples"):
        read()


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"output": SimpleNamespace(choices=[1])}, "no attribute 'stop_reason'"),
        ({"input": None}, "'NoneType'"),
    ],
)
def test_a_sample_of_another_shape_is_one_sentence(read, fields, fault):
    with pytest.raises(ValueError, match=r"a\.eval, sample 2 of the file, is not of the shape") as caught:
        read(sample(), sample(**fields))
    assert fault in str(caught.value)


def test_a_log_that_inspect_cannot_read_is_one_sentence(tmp_path: Path, monkeypatch):
    def read_eval_log(path, resolve_attachments):
        raise KeyError("version 99 of the log format\nis not known")

    module = ModuleType("inspect_ai.log")
    module.read_eval_log = read_eval_log
    monkeypatch.setitem(sys.modules, "inspect_ai", ModuleType("inspect_ai"))
    monkeypatch.setitem(sys.modules, "inspect_ai.log", module)
    (tmp_path / "a.eval").write_bytes(b"")
    with pytest.raises(
        ValueError, match=r"a\.eval cannot be read by Inspect \('version 99 .*Update inspect_ai"
    ):
        read_inspect([tmp_path / "a.eval"])


def test_the_scorer_taken_is_named(read):
    assert read(sample())[0].metric == "choice"


def test_without_inspect_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch):
    monkeypatch.setitem(sys.modules, "inspect_ai", None)
    monkeypatch.setitem(sys.modules, "inspect_ai.log", None)
    (tmp_path / "a.eval").write_bytes(b"")
    with pytest.raises(ModuleNotFoundError, match=r"which is not installed\. Install it with: pip install"):
        read_inspect([tmp_path / "a.eval"])


def test_a_log_that_inspect_wrote(tmp_path: Path):
    log = pytest.importorskip("inspect_ai.log")
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score

    output = ModelOutput.from_content("mockllm/m", "ANSWER: B", stop_reason="max_tokens")
    made = log.EvalSample(
        id=1,
        epoch=2,
        input="Which animal barks?",
        choices=["cat", "dog"],
        target="B",
        messages=[],
        output=output,
        scores={"choice": Score(value="C", answer="B")},
    )
    spec = log.EvalSpec(
        created="2026-01-01T00:00:00+00:00",
        task="toy",
        dataset=log.EvalDataset(name="toy", samples=1),
        model="mockllm/m",
        config=log.EvalConfig(),
    )
    log.write_eval_log(log.EvalLog(status="success", eval=spec, samples=[made]), str(tmp_path / "a.eval"))
    [answer] = read_inspect([tmp_path / "a.eval"])
    assert (answer.value, answer.text, answer.stop, answer.sample) == (1.0, "ANSWER: B", "length", 1)
