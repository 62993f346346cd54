"""What labelling is expected to cost, and what it has cost."""

from pathlib import Path

import pytest

from cg_pipeline.llm.chat import ChatModel
from cg_pipeline.llm.endpoint import Endpoint
from cg_pipeline.llm.labelling import LlmExplainer, LlmTester, explain_prompt
from cg_pipeline.llm.labelling_cost import BYTES_PER_TOKEN, estimate, spent
from tests.llm.fake_server import FakeServer
from tests.llm.test_labelling import explained, says

FREE = Endpoint(base_url="http://127.0.0.1:1/v1", model="m")
PRICED = Endpoint(base_url="http://127.0.0.1:1/v1", model="m", input_price=2.0, output_price=8.0)
SHOWN = ["on ⟦Monday⟧"] * 16
CONCEPT = (SHOWN, [["a", "b"], ["c"]], [["d", "e"]])


def test_every_question_is_counted():
    found = estimate([CONCEPT, CONCEPT], FREE, FREE)
    assert (found.n_concepts, found.n_questions) == (2, 8)
    assert found.cost is None
    assert found.sentence.startswith("8 questions about 2 concepts, about ")
    assert "price unknown" in found.sentence


def test_tokens_are_a_quarter_of_the_bytes():
    only = estimate([(SHOWN, [], [])], FREE, FREE)
    assert only.input_tokens == pytest.approx(len(explain_prompt(SHOWN).encode()) / BYTES_PER_TOKEN, abs=1)


def test_each_model_has_its_price():
    whole = estimate([CONCEPT], PRICED, PRICED)
    assert whole.cost == pytest.approx((whole.input_tokens * 2 + whole.output_tokens * 8) / 1e6)
    explaining = estimate([(SHOWN, [], [])], PRICED, PRICED)
    free = Endpoint(base_url="http://127.0.0.1:1/v1", model="n", input_price=0.0, output_price=0.0)
    assert estimate([CONCEPT], PRICED, free).cost == pytest.approx(explaining.cost)
    assert estimate([CONCEPT], PRICED, FREE).cost is None
    assert f"about {whole.cost:.2f} at the prices set" in whole.sentence


def test_concepts_without_excerpts_cost_nothing():
    found = estimate([([], [], [])], PRICED, PRICED)
    assert (found.n_questions, found.cost) == (0, 0.0)


def test_what_it_has_cost_cached_answers_left_out(tmp_path: Path):
    with FakeServer([explained(), says(excerpt_1=True)]) as server:
        endpoint = Endpoint(base_url=server.url, model="m", input_price=2.0, output_price=8.0)
        for _ in range(2):
            one, other = ChatModel(endpoint, tmp_path), ChatModel(endpoint, tmp_path)
            LlmExplainer(one).explain(["⟦a⟧"])
            LlmTester(other).judge("fuzzing", "days", ["⟦a⟧"])
            totals = spent([one, other, one])
    assert totals["llm_calls"] == totals["llm_calls_cached"] == 2
    assert totals["llm_cost"] == 0.0
