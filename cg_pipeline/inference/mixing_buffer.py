"""States of tokens in one block of memory that never grows, from which batches are drawn at random.

Tokens that stand side by side in a text are alike; a batch of them would teach an SAE that text. What is
drawn leaves free places, which new states take, so that old and new are mixed for as long as both last.

Why not sae-lens's `mixing_buffer`: it joins and shuffles whole tensors, which takes three times its size
for a moment, shuffles with torch's global generator, and cannot be put down and taken up again.
"""

from collections.abc import Iterator

import torch
from jaxtyping import Bool, Float
from torch import Tensor


class MixingBuffer:
    """Room for the states of `capacity` tokens, in main memory."""

    def __init__(self, capacity: int, d_model: int, dtype: torch.dtype) -> None:
        """All of its memory is taken here."""
        self._states = torch.empty(capacity, d_model, dtype=dtype)
        self._held = torch.zeros(capacity, dtype=torch.bool)

    @property
    def capacity(self) -> int:
        """How many states there is room for."""
        return len(self._held)

    @property
    def n_held(self) -> int:
        """How many states it holds."""
        return int(self._held.sum())

    @property
    def n_bytes(self) -> int:
        """What its states take, full or empty."""
        return self._states.nbytes

    def put(self, states: Float[Tensor, "n_tokens d_model"]) -> None:
        """Into the first free places.

        Raises:
            ValueError: there is not room enough, or a state is not a finite number.
        """
        free = (~self._held).nonzero()[:, 0]
        if len(states) > len(free):
            raise ValueError(
                f"The mixing buffer has {len(free)} free places for {len(states)} states; expected as many. "
                "Draw batches first."
            )
        check_finite(states)
        places = free[: len(states)]
        self._states[places] = states
        self._held[places] = True

    def held(self, at_most: int | None = None) -> Float[Tensor, "n_tokens d_model"]:
        """A copy of the states it holds, in the order of their places; of so many, evenly spaced."""
        places = self._held.nonzero()[:, 0]
        return self._states[places[:: max(1, len(places) // at_most)] if at_most else places]

    def draw(
        self, batch_tokens: int, keep: int, generator: torch.Generator
    ) -> Iterator[Float[Tensor, "batch d_model"]]:
        """Batches in float32 of states drawn without repetition, as many as leave `keep` of them.

        A state's place is free as soon as its batch is handed out.
        """
        places = self._held.nonzero()[:, 0]
        places = places[torch.randperm(len(places), generator=generator)]
        n_batches = max(0, len(places) - keep) // batch_tokens
        for batch in places[: n_batches * batch_tokens].split(batch_tokens):
            self._held[batch] = False
            yield self._states[batch].float()

    def snapshot(self) -> dict[str, Tensor]:
        """What `restore` needs: the states held, and their places."""
        return {"states": self.held(), "held": self._held.to(torch.uint8)}

    def restore(self, snapshot: dict[str, Tensor]) -> None:
        """Hold what another buffer held, each state in its place."""
        held: Bool[Tensor, " capacity"] = snapshot["held"].bool()
        self._states[held] = snapshot["states"].to(self._states.dtype)
        self._held = held


def check_finite(states: Float[Tensor, "n_tokens d_model"]) -> None:
    """Refuse states that are no numbers, or too large for their precision.

    Raises:
        ValueError: one of them is not finite.
    """
    if not states.isfinite().all():
        raise ValueError(
            f"A hidden state is not a finite {str(states.dtype).removeprefix('torch.')} number; expected "
            "numbers only. Read in bfloat16, or choose another hookpoint."
        )
