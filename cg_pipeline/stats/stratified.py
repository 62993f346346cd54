"""A sample that keeps the proportions of its strata and only ever grows.

*Why not largest remainders:* shares rounded anew for each size can take a unit away from a
stratum when the sample grows (the Alabama paradox), so that a sample of 100 would not be
part of one of 200. Here every unit has a fixed place in one line, and a sample is its head.
"""

import hashlib
from collections.abc import Sequence


def stratified_sample(names: Sequence[str], strata: Sequence[str], n: int, seed: int) -> list[int]:
    """Indices, ascending, of `n` units (all, if there are fewer) drawn in proportion to their strata.

    The unit ranked k-th (from 0) of its stratum by a hash of seed and name stands at
    (k + u) / N, where N is the stratum's size and u in [0, 1) a hash of seed and stratum;
    the first n in line are taken. So each stratum is sampled systematically with a random
    start, a larger sample contains a smaller one, and the order of the units does not matter.
    """
    ranked = sorted(range(len(names)), key=lambda index: (_hash(seed, "unit", names[index]), names[index]))
    members: dict[str, list[int]] = {}
    for index in ranked:
        members.setdefault(strata[index], []).append(index)
    places = {
        index: ((rank + _hash(seed, "stratum", stratum) / 2**64) / len(found), stratum, rank)
        for stratum, found in members.items()
        for rank, index in enumerate(found)
    }
    return sorted(sorted(places, key=places.__getitem__)[:n])


def _hash(seed: int, kind: str, name: str) -> int:
    text = f"{seed}\n{kind}\n{name}".encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest())
