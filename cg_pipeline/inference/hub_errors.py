"""What went wrong between us and the hub while weights were fetched, in one sentence with its remedy.

Why by status code: transformers, sae-lens and huggingface_hub wrap each other's errors; beneath them
lies one HTTP answer, or none.

Why a hub out of reach is a file that is not found: its client has tried six times over by then, and
what is missing is missing from its cache too; another try at once meets the same fate.
"""

from collections.abc import Iterator
from errno import ENOSPC
from typing import Any

_UNREACHABLE = {
    "OfflineModeIsEnabled", "ConnectError", "ConnectTimeout", "ReadTimeout", "ConnectionError",
    "LocalEntryNotFoundError",
}  # fmt: skip
_LONGEST_QUOTE = 200


def explained(
    error: BaseException,
    noun: str,
    repo: str,
    revision: str,
    gated: str = "",
    wanted: str = "safetensors weights",
) -> Exception:
    """The exception to raise for an error met while fetching.

    Args:
        error: what was caught.
        noun: what was wanted, for example `Model 'gemma'`.
        repo: where it was looked for.
        revision: the commit asked for, or `main`.
        gated: what a gated repository asks a reader to accept.
        wanted: what was expected there.
    """
    where = f"{repo} at {revision[:12]}"
    answer = next((found for each in _chain(error) if (found := _answer(each)) is not None), None)
    if answer is not None and answer.status_code in (401, 403):
        terms = gated or "its conditions"
        return PermissionError(
            f"{noun}: the hub does not give out {where} (HTTP {answer.status_code}); expected a token in "
            f"HF_TOKEN of an account that has accepted {terms}. Accept at https://huggingface.co/{repo} and "
            "set HF_TOKEN."
        )
    if answer is not None and answer.status_code == 404:
        return LookupError(
            f"{noun}: the hub has no {where}, or not all its files (HTTP 404); expected {wanted} there. "
            "Correct what its spec names."
        )
    if any(type(each).__name__ in _UNREACHABLE for each in _chain(error)) and answer is None:
        return FileNotFoundError(
            f"{noun}: the hub cannot be reached for {where} ({_root(error)}); expected a connection, "
            "once, or the files in the hub's cache. Connect and run again."
        )
    if full := next((each for each in _chain(error) if getattr(each, "errno", None) == ENOSPC), None):
        return OSError(
            ENOSPC, f"{noun}: no room on the disk for {where} ({_quoted(full)}). Free some, and run again."
        )
    return ConnectionError(
        f"{noun}: cannot read {where} from the hub ({_quoted(error)}); expected {wanted}. Check "
        "the network, HF_TOKEN and what files the repository holds."
    )


def _chain(error: BaseException) -> Iterator[BaseException]:
    each: BaseException | None = error
    for _ in range(20):
        if each is None:
            return
        yield each
        each = each.__cause__ or each.__context__


def _answer(error: BaseException) -> Any:
    found = getattr(error, "response", None)
    return found if isinstance(getattr(found, "status_code", None), int) else None


def _root(error: BaseException) -> str:
    return _quoted(list(_chain(error))[-1])


def _quoted(error: BaseException) -> str:
    """The first line of what an error says, shortened."""
    text = next(iter(str(error).strip().splitlines()), "").rstrip(".") or type(error).__name__
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]} …"
