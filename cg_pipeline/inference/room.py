"""How many tokens a device has room for, going by what the first batch of a job took.

The first batch is the longest, so what it took per token is the most that any takes. On a CPU
nothing is measured: an operating system that is out of memory ends the process instead of
refusing, and a larger batch is no faster there.
"""

from typing import Protocol, runtime_checkable

import torch

_USED_SHARE = 0.7
"""Share of the free memory that is planned with: what is left is for fragments and for longer answers."""
_MOST_TOKENS = 2**17
"""Beyond that a batch is no faster, and an interruption loses more."""


@runtime_checkable
class Memory(Protocol):
    """The memory of a device, in bytes."""

    def watch(self) -> None:
        """From now on keep in mind the most that is taken."""
        ...

    def taken(self) -> int:
        """The most that was taken at once, since `watch`, beyond what was taken then."""
        ...

    def free(self) -> int:
        """What could still be taken."""
        ...


class CudaMemory:
    """`Memory` of an NVIDIA or AMD device, as torch counts it."""

    def __init__(self, device: torch.device) -> None:
        """Nothing is measured before `watch`."""
        self._device = device
        self._before = 0

    def watch(self) -> None:
        """From now on keep in mind the most that is taken."""
        torch.cuda.reset_peak_memory_stats(self._device)
        self._before = torch.cuda.memory_allocated(self._device)

    def taken(self) -> int:
        """The most that was taken at once, since `watch`, beyond what was taken then."""
        return torch.cuda.max_memory_allocated(self._device) - self._before

    def free(self) -> int:
        """What the device has left, and what torch holds of it without using it."""
        held = torch.cuda.memory_reserved(self._device) - torch.cuda.memory_allocated(self._device)
        return torch.cuda.mem_get_info(self._device)[0] + held


def memory_of(device: torch.device) -> Memory | None:
    """The memory that batches may grow into; None where they keep to their bound."""
    return CudaMemory(device) if device.type == "cuda" else None


def tokens_that_fit(memory: Memory, n_tokens: int) -> int:
    """Padded tokens of a batch that fit, if `n_tokens` took what was taken since `watch`.

    A power of two, so that small differences in free memory do not change the batches.
    """
    affordable = int(n_tokens * _USED_SHARE * memory.free() / max(1, memory.taken()))
    return min(_MOST_TOKENS, 1 << max(0, affordable.bit_length() - 1))
