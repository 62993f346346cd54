import textwrap
from pathlib import Path

import pytest

from cg_pipeline.processes.worker import Worker

ECHO = """
    import json, os, sys, time
    print("ready", flush=True)
    for line in sys.stdin:
        said = json.loads(line)
        if said == "die": os._exit(1)
        if said == "sleep": time.sleep(60)
        print("nonsense" if said == "babble" else json.dumps([os.getpid(), said]), flush=True)
"""


@pytest.fixture
def worker(tmp_path: Path, monkeypatch):
    (tmp_path / "echo_worker.py").write_text(textwrap.dedent(ECHO))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    worker = Worker("echo_worker")
    yield worker
    worker.stop()


def test_one_process_answers_question_after_question(worker: Worker):
    first, second = worker.ask("a\n'\"", 10.0), worker.ask({"b": [None]}, 10.0)
    assert (first[1], second[1]) == ("a\n'\"", {"b": [None]})
    assert first[0] == second[0]


@pytest.mark.parametrize(("question", "limit_s"), [("sleep", 0.2), ("die", 10.0), ("babble", 10.0)])
def test_a_fault_is_a_sentence_and_the_next_question_is_answered(worker: Worker, question, limit_s):
    with pytest.raises(TimeoutError, match=rf"echo_worker gave no answer within {limit_s:g} s; expected"):
        worker.ask(question, limit_s)
    assert worker.ask("again", 10.0)[1] == "again"


def test_a_process_that_does_not_start_is_no_slow_answer():
    with pytest.raises(RuntimeError, match=r"python -m no_such_module did not start .* Run it by hand"):
        Worker("no_such_module").ask("a", 10.0)


def test_stopping_twice_is_harmless(worker: Worker):
    worker.stop()
    worker.ask("a", 10.0)
    worker.stop()
    worker.stop()
