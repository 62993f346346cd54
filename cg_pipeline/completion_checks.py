"""What must hold of answers that were read, as plain functions that Dagster runs as asset checks."""

from collections import Counter
from collections.abc import Sequence

from cg_pipeline.checks import Finding, finding_of
from cg_pipeline.records import Completion, ConceptActivations, answer_id


def same_answers(completions: Sequence[Completion], found: ConceptActivations) -> Finding:
    """Every answer was read once, and each that has words has tokens."""
    wanted, names = Counter(map(answer_id, completions)), Counter(found.example_ids)
    read = {name for name, n in zip(found.example_ids, found.n_tokens.tolist(), strict=True) if n}
    unread = [answer_id(each) for each in completions if each.text.strip() and answer_id(each) not in read]
    difference = [*(wanted - names), *(names - wanted)]
    sentence = (
        f"{len(found.example_ids)} rows for {len(completions)} answers, {len(difference)} without a partner, "
        f"{len(unread)} without a token"
    )
    return finding_of(completions, not (difference or unread), sentence, first=[*difference, *unread])
