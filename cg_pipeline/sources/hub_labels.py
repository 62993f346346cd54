"""Label files of a repository on the Hugging Face hub, at a pinned commit. Nothing of it is run."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cg_pipeline.label_specs import HubLabels
from cg_pipeline.sources.label_rows import Fetched, LabelReading, read_labels
from cg_pipeline.specs import Sae


def fetch_hub_labels(pin: HubLabels, sae: Sae, cache_dir: Path) -> Fetched:
    """The labels of all files of the pin, in their order, and the day of the commit.

    Raises:
        PermissionError: the repository is gated, and the token in HF_TOKEN has no access to it.
        LookupError: repository, commit or file do not exist.
        ConnectionError: the hub cannot be reached or refuses for now; worth another try.
        ValueError: the revision is no commit, or a file holds no labels of this SAE.
    """
    from huggingface_hub import errors

    token = os.environ.get("HF_TOKEN") or None
    named = f"Repository {pin.repo!r} ({pin.repo_type})"
    try:
        return _fetch(pin, sae, cache_dir, token)
    except errors.GatedRepoError as error:
        has = "the token in HF_TOKEN has no access to it" if token else "HF_TOKEN is not set"
        raise PermissionError(
            f"{named} is gated and {has}; expected the token of an account that has accepted "
            f"{pin.gated or 'the conditions on its page'}. Accept there and set HF_TOKEN."
        ) from error
    except errors.RevisionNotFoundError as error:
        raise LookupError(
            f"{named} has no commit {pin.revision}; expected the pinned one. Pin one that exists."
        ) from error
    except (errors.RemoteEntryNotFoundError, errors.RepositoryNotFoundError) as error:
        raise LookupError(
            f"{named} or one of its files {', '.join(pin.files)} was not found at commit {pin.revision}; "
            "expected all that the SAE's labels name. Correct them, or set HF_TOKEN if it is private."
        ) from error
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, OSError) as error:
        first = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        raise ConnectionError(
            f"{named} cannot be fetched from the hub ({first[:200]}); expected a connection, once. "
            "Connect and materialise label_files, or put the files into data/labels/."
        ) from error


def _fetch(pin: HubLabels, sae: Sae, cache_dir: Path, token: str | None) -> Fetched:
    from huggingface_hub import HfApi

    found = HfApi(token=token).repo_info(pin.repo, revision=pin.revision, repo_type=pin.repo_type)
    if found.sha != pin.revision:
        raise ValueError(
            f"Repository {pin.repo!r} is at commit {found.sha}; expected {pin.revision}, which the labels "
            "pin. Pin a full commit hash."
        )
    readings = list(_readings(pin, sae, cache_dir, token))
    labels = dict.fromkeys(label for reading in readings for label in reading.labels)
    return Fetched(
        reading=LabelReading(labels=tuple(labels), n_rows=sum(reading.n_rows for reading in readings)),
        dated=found.last_modified.date().isoformat() if found.last_modified else "",
    )


def _readings(pin: HubLabels, sae: Sae, cache_dir: Path, token: str | None) -> Iterator[LabelReading]:
    from huggingface_hub import hf_hub_download

    cache_dir.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache_dir) as scratch:
        for file in pin.files:
            path = hf_hub_download(
                pin.repo, file, repo_type=pin.repo_type, revision=pin.revision, token=token, cache_dir=scratch
            )
            yield read_labels(f"{pin.repo}/{file}", Path(path).read_bytes(), sae, pin.columns)
