"""Random inputs that the property tests share: texts, data, records, benchmarks with their scores.

A new record or a new kind of text joins here, so that every property is tried on it.
`pytest --hypothesis-profile=thorough` tries 20 times as many cases.
"""

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cg_pipeline.ink import is_blank
from tests.oracle import OracleBenchmark


def few(share: float) -> settings:
    """A share of the profile's cases, for a property whose cases take long."""
    return settings(max_examples=max(1, round(share * settings().max_examples)))


ANY_TEXT = st.text(st.characters())
"""Every code point, unpaired surrogates too: what a JSON file may hold."""

TEXT = st.text()
"""What can be written as UTF-8."""

WORDS = st.text(min_size=1).filter(lambda text: not is_blank(text))
"""Not blank."""

STORED_TEXT = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"))
"""What a table takes: quotes, emoji, right-to-left …, but neither NUL nor unpaired surrogates."""

STORED_WORDS = STORED_TEXT.map(lambda text: f"{text}?")
"""Not blank, and takes its place in a table."""

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=6,
)
"""Values that a JSON file can hold, NaN and infinity included."""

EXAMPLE_FIELDS = st.fixed_dictionaries(
    {
        "benchmark": STORED_TEXT,
        "category": STORED_WORDS,
        "cluster": STORED_TEXT,
        "prompt": STORED_WORDS,
        "targets": st.tuples(STORED_WORDS),
    }
)
"""Of an open question. Fields, not records: beartype looks at a random item of each tuple, and
hypothesis forbids `random` while it draws."""

COMPLETION_FIELDS = st.fixed_dictionaries(
    {
        "model": STORED_TEXT,
        "benchmark": STORED_TEXT,
        "example_id": STORED_TEXT,
        "text": STORED_TEXT,
        "choice_logprobs": st.lists(st.floats(allow_nan=False), max_size=5).map(tuple),
        "choice_tokens": st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5).map(tuple),
        "stop": st.sampled_from(["end", "length", "choice", "overflow"]),
        "n_prompt_tokens": st.integers(0, 2**63 - 1),
        "n_completion_tokens": st.integers(0, 9),
    }
)
"""Of an answer, with numbers as large as a column takes."""

_SALIENCY = st.floats(2**-10, 1000, width=32).map(float)
_SCORE = st.one_of(st.none(), st.sampled_from([0.0, 1.0]), st.floats(0, 1, width=32))


@st.composite
def benchmarks(draw: st.DrawFn, n_concepts: int | None = None, max_examples: int = 8) -> OracleBenchmark:
    """A benchmark of any number of examples, none included, scored or not."""
    width = n_concepts or draw(st.integers(1, 5))
    n = draw(st.integers(0, max_examples))
    rows = draw(arrays.arrays(np.float64, (n, width), elements=_SALIENCY, fill=st.just(0.0)))
    scores = draw(st.lists(_SCORE, min_size=n, max_size=n))
    return OracleBenchmark(saliency=rows.tolist(), scores=scores, n_concepts=width)


@st.composite
def matrices(draw: st.DrawFn) -> list[np.ndarray]:
    """One to four matrices with as many columns, some rows and some whole matrices empty."""
    width = draw(st.integers(1, 5))
    value = st.sampled_from([0.0, 0.0, 0.5, 1.0, 2.0])
    rows = st.lists(st.lists(value, min_size=width, max_size=width), max_size=4)
    return [np.array(draw(rows)).reshape(-1, width) for _ in range(draw(st.integers(1, 4)))]
