"""Where tensors live: the one place that turns the word `auto` into a device."""

import torch


def resolve_device(device: str) -> torch.device:
    """The device meant: `auto` is CUDA, else Apple's MPS, else the CPU; any other word is taken as it is.

    Raises:
        ValueError: torch does not know the word, or the machine has no such device.
    """
    if device == "auto":
        return torch.device(_best_available())
    try:
        found = torch.device(device)
        torch.empty(0, device=found)
    except (RuntimeError, AssertionError) as problem:
        raise ValueError(
            f"Device {device!r} cannot be used here ({str(problem).splitlines()[0]}); "
            "expected 'auto', 'cpu', 'cuda', 'cuda:0' … or 'mps'."
        ) from problem
    return found


def _best_available() -> str:
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"
