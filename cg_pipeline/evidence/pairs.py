"""Token activations of chosen pairs of an example and a concept: made, put together, looked up."""

from collections.abc import Mapping, Sequence

import numpy as np
from jaxtyping import Int
from scipy import sparse

from cg_pipeline.evidence_records import PairFirings
from cg_pipeline.label_records import TokenFirings

Wanted = Mapping[str, Sequence[int]]
"""Concepts wanted of each example, by its id: ascending, each once."""


def pairs_of(firings: TokenFirings, example_ids: Sequence[str], wanted: Wanted) -> PairFirings:
    """The wanted pairs of a stream of tokens, those that never fire among them.

    Args:
        firings: of the examples' prompts, in the order of `example_ids`.
        example_ids: what the numbers of texts in the stream mean.
        wanted: for each of the examples.
    """
    examples = np.repeat(np.arange(len(example_ids)), [len(wanted[name]) for name in example_ids])
    concept_ids = np.concatenate([np.zeros(0, np.int64), *(np.asarray(wanted[n]) for n in example_ids)])
    found = sparse.coo_array(firings.activations)
    columns, tokens = found.coords[1], found.coords[0]
    concepts, texts = np.asarray(firings.concept_ids, np.int64)[columns], firings.text_of[tokens]
    order = np.lexsort((tokens, concepts, texts))
    width = int(max(concept_ids.max(initial=0), concepts.max(initial=0))) + 1
    keys = examples * width + concept_ids
    fired = (texts * width + concepts)[order]
    inside = np.isin(fired, keys)
    order, fired = order[inside], fired[inside]
    return PairFirings(
        example_ids=tuple(example_ids),
        n_tokens=np.bincount(firings.text_of, minlength=len(example_ids)).astype(np.int64),
        examples=examples,
        concept_ids=concept_ids.astype(np.int64),
        edges=np.concatenate([np.searchsorted(fired, keys), [len(fired)]]).astype(np.int64),
        starts=firings.starts[tokens[order]].astype(np.int32),
        ends=firings.ends[tokens[order]].astype(np.int32),
        activations=found.data[order].astype(np.float32),
    )


def join_pairs(parts: Sequence[PairFirings]) -> PairFirings:
    """All parts together; an example that is in several of them is listed once."""
    names = tuple(dict.fromkeys(name for part in parts for name in part.example_ids))
    place = {name: index for index, name in enumerate(names)}
    n_tokens = np.zeros(len(names), np.int64)
    examples = [np.zeros(0, np.int64)]
    for part in parts:
        places = np.array([place[name] for name in part.example_ids], np.int64)
        n_tokens[places] = part.n_tokens
        examples.append(places[part.examples])
    lengths = np.concatenate([np.zeros(1, np.int64), *(np.diff(part.edges) for part in parts)])
    return PairFirings(
        example_ids=names,
        n_tokens=n_tokens,
        examples=np.concatenate(examples),
        concept_ids=np.concatenate([np.zeros(0, np.int64), *(part.concept_ids for part in parts)]),
        edges=np.cumsum(lengths),
        starts=np.concatenate([np.zeros(0, np.int32), *(part.starts for part in parts)]),
        ends=np.concatenate([np.zeros(0, np.int32), *(part.ends for part in parts)]),
        activations=np.concatenate([np.zeros(0, np.float32), *(part.activations for part in parts)]),
    )


def missing_pairs(wanted: Wanted, known: PairFirings) -> dict[str, list[int]]:
    """What of the wanted is not known yet; examples of which everything is known are left out."""
    there: dict[str, set[int]] = {name: set() for name in known.example_ids}
    names = known.example_ids
    for example, concept_id in zip(known.examples.tolist(), known.concept_ids.tolist(), strict=True):
        there[names[example]].add(concept_id)
    missing = {name: [c for c in ids if c not in there.get(name, ())] for name, ids in wanted.items()}
    return {name: ids for name, ids in missing.items() if ids}


def places_of(
    known: PairFirings, examples: Int[np.ndarray, " n"], concept_ids: Int[np.ndarray, " n"]
) -> Int[np.ndarray, " n"]:
    """Where in `known` each pair is.

    Args:
        known: what to look in.
        examples: of each pair, by its place in `known.example_ids`.
        concept_ids: of each pair.

    Raises:
        LookupError: one is not there.
    """
    width = int(max(known.concept_ids.max(initial=0), concept_ids.max(initial=0))) + 1
    keys, sought = known.examples * width + known.concept_ids, examples * width + concept_ids
    order = np.argsort(keys, kind="stable")
    places = np.searchsorted(keys, sought, sorter=order)
    found = places < len(keys)
    found[found] = keys[order[places[found]]] == sought[found]
    if not found.all():
        first = int(np.flatnonzero(~found)[0])
        raise LookupError(
            f"Token activations of concept {int(concept_ids[first])} in example "
            f"{known.example_ids[int(examples[first])]!r} were not read; expected those of all "
            f"{len(sought)} pairs that are kept. Read the missing ones first."
        )
    return order[places]
