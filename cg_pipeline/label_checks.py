"""What must hold of labels and of the excerpts they are made from, as `checks` has it for other stages."""

from collections import Counter
from collections.abc import Mapping, Sequence

from cg_pipeline.checks import Finding
from cg_pipeline.label_records import ConceptContext, ConceptLabel, LlmLabel, StoredLabels
from cg_pipeline.labels.explaining import by_concept
from cg_pipeline.labels.merging import AUTOMATIC
from cg_pipeline.specs import Sae


def labels_whole(stored: Sequence[StoredLabels], found: Mapping[str, str]) -> Finding:
    """Every label file has the checksum it was stored with; `found` has the checksums by path."""
    wrong = [each.path for each in stored if found.get(each.path) != each.sha256]
    shown = f", for example {wrong[0]}" if wrong else ""
    sentence = f"{len(wrong)} of {len(stored)} label files missing or changed{shown}"
    return Finding(passed=not wrong, sentence=sentence, numbers={"n": len(stored)})


def one_label_chosen(labels: Sequence[ConceptLabel], sae: Sae) -> Finding:
    """Every concept of the dictionary has exactly one chosen label; no label is blank or a stranger's."""
    chosen = Counter(row.concept_id for row in labels if row.chosen)
    wrong = sum(chosen[concept] != 1 for concept in range(sae.d_sae))
    strangers = sum(not 0 <= row.concept_id < sae.d_sae for row in labels)
    blank = sum(not row.label.strip() for row in labels)
    return Finding(
        passed=bool(labels) and wrong == strangers == blank == 0,
        sentence=f"{wrong} of {sae.d_sae} concepts without exactly one chosen label, {strangers} labels of "
        f"concepts that do not exist, {blank} blank",
        numbers={"n": len(labels)},
    )


def labels_fit_the_width(labels: Sequence[ConceptLabel], sae: Sae) -> Finding:
    """No source looks as if it were a narrower SAE's: all ids below a bound labelled, and none above.

    A file for 16k latents read with a 64k dictionary pairs every label with the wrong concept.
    """
    ids: dict[str, set[int]] = {}
    for row in labels:
        if row.source != AUTOMATIC:
            ids.setdefault(row.source, set()).add(row.concept_id)
    narrow = {
        source: max(found) + 1
        for source, found in ids.items()
        if max(found) + 1 <= sae.d_sae // 2 and len(found) >= 0.9 * (max(found) + 1) and len(found) > 1
    }
    told = "; ".join(
        f"{source} labels nearly all concepts below {n} and none above" for source, n in narrow.items()
    )
    sentence = f"{len(narrow)} sources look like another SAE's{f': {told}' if told else ''}"
    return Finding(passed=not narrow, sentence=sentence, numbers={"sources": len(ids), "d_sae": sae.d_sae})


def few_score_low(labels: Sequence[ConceptLabel], *, largest_share: float) -> Finding:
    """Of the chosen labels that were tested, few scored low."""
    tested = [row for row in labels if row.chosen and row.score is not None]
    low = sum(row.low_score for row in tested)
    sentence = f"{low} of {len(tested)} tested labels that are shown scored low"
    passed = low <= largest_share * len(tested)
    return Finding(passed=passed, sentence=sentence, numbers={"tested": len(tested), "low": low})


def contexts_sound(contexts: Sequence[ConceptContext]) -> Finding:
    """Tokens lie within their excerpt; a concept fires where it is said to, and is silent elsewhere."""
    faults = Counter(fault for each in contexts if (fault := _fault_of(each)))
    told = "; ".join(f"{n} {fault}" for fault, n in faults.items()) or "all excerpts are sound"
    return Finding(passed=bool(contexts) and not faults, sentence=told, numbers={"n": len(contexts)})


def tested_on_others(contexts: Sequence[ConceptContext]) -> Finding:
    """No excerpt is both shown and tested with, and every concept has some to be tested with."""
    groups = by_concept(contexts)
    shared = untested = 0
    for group in groups.values():
        texts = {role: {each.text for each in group if each.role == role} for role in ("shown", "held_out")}
        shared += bool(texts["shown"] & texts["held_out"])
        untested += not texts["held_out"]
    sentence = (
        f"{shared} concepts tested on what was shown, {untested} of {len(groups)} that cannot be tested"
    )
    return Finding(passed=shared == untested == 0, sentence=sentence, numbers={"n": len(groups)})


def labelled_as_asked(labels: Sequence[LlmLabel], contexts: Sequence[ConceptContext]) -> Finding:
    """Every concept with excerpts to explain it by has a label, and both its tests have a score."""
    wanted = {each.concept_id for each in contexts if each.role == "shown"}
    missing = len(wanted - {label.concept_id for label in labels})
    untested = sum(label.detection is None or label.fuzzing is None for label in labels)
    sentence = (
        f"{missing} of {len(wanted)} concepts without the label asked for, {untested} labels not tested"
    )
    return Finding(
        passed=bool(labels) and missing == untested == 0, sentence=sentence, numbers={"n": len(labels)}
    )


def _fault_of(context: ConceptContext) -> str:
    fires = any(activation > 0 for activation in context.activations)
    if len({len(context.starts), len(context.ends), len(context.activations)}) > 1:
        return "with lists of different length"
    if any(
        not 0 <= first <= last <= len(context.text)
        for first, last in zip(context.starts, context.ends, strict=True)
    ):
        return "with tokens outside their text"
    if any(not 0 <= place < len(context.starts) for place in context.marked):
        return "with marks outside their tokens"
    return (
        ""
        if fires == (context.role in ("shown", "held_out"))
        else "firing where silent, or silent where firing"
    )
