"""Functional correctness, in the real sandbox and with a runner that says what it was given."""

import pytest

from cg_pipeline.processes.sandbox import Limits, Sandbox
from cg_pipeline.protocols import ProgramRun
from cg_pipeline.scoring.code_tests import POLICY
from tests.scoring.cases import completion, example

STUB = 'def double(x):\n    """Twice x."""\n'
TESTS = "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-1) == -2\n"
DOUBLE = example(prompt=STUB, details={"entry_point": "double", "test": TESTS})


class Runner:
    """Says how every program ended, and keeps it."""

    source = "test"

    def __init__(self, outcome: str = "passed") -> None:
        self.ended = ProgramRun(outcome=outcome, detail="E", isolated=True)  # type: ignore[arg-type]
        self.programs: list[str] = []

    def run(self, program: str) -> ProgramRun:
        self.programs.append(program)
        return self.ended


def test_without_leave_no_program_is_run():
    score = POLICY.score(DOUBLE, completion("    return 2 * x"))
    assert (score.value, score.reason) == (None, "code_not_allowed")
    assert POLICY.runs_code


@pytest.mark.parametrize(
    ("text", "value", "answer"),
    [
        ("    return 2 * x", 1.0, "passed"),
        ("```python\ndef double(x):\n    return x + x\n```", 1.0, "passed"),
        ("    return x", 0.0, "failed AssertionError"),
        ("    return 2 *", 0.0, "failed SyntaxError"),
        ("    import sys; sys.exit(0)", 0.0, "failed SystemExit"),
        ("    import os; os._exit(0)", 0.0, "stopped ended by a limit or by itself"),
    ],
)
def test_in_the_sandbox(text, value, answer) -> None:
    score = POLICY.score(DOUBLE, completion(text), Sandbox(Limits(cpu_s=2), isolate=False))
    assert (score.value, score.answer.removesuffix(" (not isolated)")) == (value, answer)


@pytest.mark.parametrize(
    ("outcome", "stop", "value", "reason"),
    [
        ("passed", "length", 1.0, ""),
        ("failed", "length", None, "truncated"),
        ("timed_out", "end", None, "timed_out"),  # says more of the machine than of the program
        ("stopped", "end", 0.0, ""),
        ("unusable", "end", None, "sandbox_failed"),
    ],
)
def test_outcomes(outcome, stop, value, reason) -> None:
    score = POLICY.score(DOUBLE, completion("    return 2", stop), Runner(outcome))
    assert (score.value, score.reason) == (value, reason)


def test_a_program_that_was_not_isolated_is_told():
    runner = Runner()
    assert POLICY.score(DOUBLE, completion("    return 2"), runner).answer == "passed E"
    runner.ended = ProgramRun(outcome="failed", detail="KeyError")
    assert POLICY.score(DOUBLE, completion("    return 2"), runner).answer == "failed KeyError (not isolated)"


def test_a_model_that_never_ends_is_judged_by_what_it_wrote_first():
    endless = completion("    return 2\n\n\ndef triple(x):\n    ret", "length")
    assert POLICY.score(DOUBLE, endless, Runner("failed")).value == 0.0


def test_what_has_no_answer_is_not_run():
    runner = Runner()
    assert POLICY.score(DOUBLE, completion(" \n"), runner).reason == "unparsed"
    assert POLICY.score(DOUBLE, completion(stop="overflow"), runner).reason == "overflow"
    assert runner.programs == []


def test_the_program_is_stub_answer_and_tests():
    runner = Runner()
    asked = example(
        prompt=f"Complete:\n{STUB}", details={"entry_point": "double", "test": TESTS, "stub": STUB}
    )
    POLICY.score(asked, completion("    return 2 * x\n\nHope that helps"), runner)
    assert runner.programs == [f"{STUB}    return 2 * x\n\n\n{TESTS}\ncheck(double)\n"]


def test_an_example_without_tests_is_refused():
    with pytest.raises(ValueError, match=r"details of example \w+ are \['test'\]; expected 'entry_point'"):
        POLICY.score(example(details={"test": "x"}), completion("x"), Runner())
