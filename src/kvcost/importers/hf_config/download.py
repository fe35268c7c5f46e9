"""config.json of a hub id, fetched by the hub's own client (the optional extra `hf`)."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from ...errors import KvcostError

__all__ = ["download_config"]


def _library() -> Any:
    try:
        return importlib.import_module("huggingface_hub"), importlib.import_module("huggingface_hub.errors")
    except ImportError as error:
        raise KvcostError("downloading needs the package huggingface_hub", hint="pip install 'kvcost[hf]'", where="--download") from error


def _explained(name: str) -> tuple[str, str]:
    """What a failure of the client means, by the name of its exception, and what to do."""
    if name == "GatedRepoError":
        return "the model is gated", "ask for access on its page, then log in or set HF_TOKEN"
    if name in ("RepositoryNotFoundError", "RevisionNotFoundError", "HFValidationError"):
        return "there is no such model or revision, or it is private", "check the id (org/name); for a private one set HF_TOKEN"
    if name in ("EntryNotFoundError", "RemoteEntryNotFoundError"):
        return "the model has no config.json", "give the path of a config.json instead"
    if name in ("LocalEntryNotFoundError", "OfflineModeIsEnabled"):
        return "it is not in the local cache, and the hub cannot be reached", "unset HF_HUB_OFFLINE, or check the network and HF_ENDPOINT"
    return "the hub did not deliver it", "check the network, HF_ENDPOINT and HF_TOKEN"


def download_config(repo_id: str, *, revision: str | None = None, token: str | None = None) -> Path:
    """The path of a hub model's config.json in the local cache, fetched where it is not there yet.

    hf_quant_config.json is fetched beside it where the model has one. Token, mirror (HF_ENDPOINT), cache
    and offline switch (HF_HUB_OFFLINE) are the client's own.

    Raises KvcostError where the client is not installed, and for whatever keeps it from the file.
    """
    hub, errors = _library()
    try:
        path = Path(hub.hf_hub_download(repo_id, "config.json", revision=revision, token=token))
    except (errors.HfHubHTTPError, errors.LocalEntryNotFoundError, errors.HFValidationError, OSError, ValueError) as error:
        message, hint = _explained(type(error).__name__)
        raise KvcostError(f"config.json of {repo_id} cannot be fetched: {message}", hint=hint, where=repo_id) from error
    try:
        hub.hf_hub_download(repo_id, "hf_quant_config.json", revision=revision, token=token)
    except (errors.HfHubHTTPError, errors.EntryNotFoundError, OSError, ValueError):
        # Most models have none; what the cache holds of it is then taken as it is.
        return path
    return path
