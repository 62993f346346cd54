"""What must hold of answers that were read, as plain functions that Dagster runs as asset checks."""

from collections import Counter
from collections.abc import Sequence

import numpy as np

from cg_pipeline.checks import Finding, activations_sound, finding_of, performance_in_score_range
from cg_pipeline.gaps.tables import numbers
from cg_pipeline.records import Completion, ConceptActivations, ConceptMetrics, Score, answer_id


def same_answers(completions: Sequence[Completion], found: ConceptActivations) -> Finding:
    """Exactly the answers have rows, each one."""
    wanted, names = Counter(map(answer_id, completions)), Counter(found.example_ids)
    difference = [*(wanted - names), *(names - wanted)]
    sentence = f"{names.total()} rows for {len(completions)} answers, {len(difference)} without a partner"
    return finding_of(completions, not difference, sentence, first=difference)


def answers_read(completions: Sequence[Completion], found: ConceptActivations) -> Finding:
    """Every answer with words was read; one beyond the positions of the model that reads is not."""
    read = {name for name, n in zip(found.example_ids, found.n_tokens.tolist(), strict=True) if n}
    said = [answer_id(each) for each in completions if each.text.strip()]
    unread = [name for name in said if name not in read]
    return finding_of(said, not unread, f"{len(unread)} answers with words were not read", first=unread)


def answers_sound(found: ConceptActivations) -> Finding:
    """Saliency is finite and positive, ids fit the dictionary; that no answer has a token is no fault."""
    if not found.n_tokens.any() and not len(found.concept_ids):
        return Finding(passed=True, sentence="no answer has a token to read", numbers={"n": 0})
    return activations_sound(found)


def performance_sound(metrics: ConceptMetrics, scores: Sequence[Score]) -> Finding:
    """χ_model lies between the lowest and the highest score; that nothing fires there is no fault."""
    if len(metrics) and np.isnan(numbers(metrics, "performance")).all():
        return Finding(passed=True, sentence="no concept fires in an answer that is scored", numbers={"n": 0})
    return performance_in_score_range(metrics, scores)
