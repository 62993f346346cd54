"""A program that passes its tests, run in a sandbox: functional correctness.

The example's prompt is the beginning of a function (or the details' `stub`, where the prompt
says more than that); its details hold `entry_point`, the function's name, and `test`, code
that defines `check(candidate)`, as HumanEval's rows do.

Why off by default: a program written by a model may do anything, and whoever runs it should
have decided so. A policy starts nothing: it is given a runner, or None, and then every
completion is unscored(code_not_allowed). `defs.resources.CodeSandbox` gives it one only where
CG_ALLOW_CODE says so. Where programs cannot be isolated they are unscored(sandbox_failed),
unless it is allowed to run them all the same; the answer then says so.

Why a time-out is unscored(timed_out): time on the clock depends on what else the machine does.
A program that never ends spends its processor time, and that is a failure; one that only
sleeps stays undecided, where the authors count it wrong.

A program cut at its limit that fails is unscored(truncated), unless the text had gone on to
something else after it: a model that never ends is judged by what it wrote first.

Source: Chen et al. 2021, arXiv 2107.03374. Several answers to one problem give pass@k.
"""

from cg_pipeline.answers.details import details_of
from cg_pipeline.answers.grading import grade, unanswered
from cg_pipeline.answers.programs import begins_function, is_finished, joined_program
from cg_pipeline.protocols import SANDBOX_FAILED, CodeRunner, ProgramRun
from cg_pipeline.records import Completion, Example, Score
from cg_pipeline.specs import ScoringPolicy


def score(example: Example, completion: Completion, runner: CodeRunner | None = None) -> Score:
    """1 when the program passes all tests, 0 when it fails, breaks down or computes for too long.

    Raises:
        ValueError: the details hold no tests.
    """
    if reason := unanswered(completion):
        return grade(completion, None, reason=reason)
    if runner is None:
        return grade(completion, None, reason="code_not_allowed")
    if not completion.text.strip():
        return grade(completion, None, reason="unparsed")
    name, program = _program(example, completion.text)
    run = runner.run(program)
    if run.outcome == "unusable":
        return grade(completion, None, answer=run.detail, reason=SANDBOX_FAILED)
    cut = completion.stop == "length" and not is_finished(completion.text, name)
    if run.outcome != "passed" and cut:
        return grade(completion, None, reason="truncated")
    if run.outcome == "timed_out":
        return grade(completion, None, answer=run.detail, reason="timed_out")
    return grade(completion, float(run.outcome == "passed"), answer=_told(run))


def _told(run: ProgramRun) -> str:
    where = "" if run.isolated else "(not isolated)"
    return " ".join(filter(None, [run.outcome, run.detail, where]))


def _program(example: Example, text: str) -> tuple[str, str]:
    """The function's name, and the program that tests it."""
    details = details_of(example)
    if not details.get("entry_point") or not details.get("test"):
        raise ValueError(
            f"details of example {example.example_id} are {sorted(details)}; "
            "expected 'entry_point' and 'test'. Add them."
        )
    name = details["entry_point"]
    program = joined_program(details.get("stub") or example.prompt, text, name)
    return name, f"{program}\n{details['test']}\ncheck({name})\n"


def fault(example: Example) -> str:
    """Why no program could pass an example's tests; empty where one can."""
    details = details_of(example)
    name, stub = details.get("entry_point"), details.get("stub") or example.prompt
    if not isinstance(name, str) or not name.isidentifier():
        return f"entry_point is {name!r}; expected the name of a function. Correct it."
    if not isinstance(test := details.get("test"), str) or "check" not in test:
        return f"test is {str(test)[:80]!r}; expected code that defines check(candidate). Correct it."
    if not begins_function(str(stub), name):
        return (
            f"stub, or else the prompt, is {str(stub)[:80]!r}; expected the beginning of a program with "
            f"'def {name}'. Add 'stub' to the details."
        )
    return ""


POLICY = ScoringPolicy(
    name="code_tests",
    score=score,
    runs_code=True,
    needs_targets=False,
    needs_details=("entry_point", "test"),
    example_fault=fault,
)
