"""A model → the catalog entry that describes it, as YAML to keep and to edit."""

from __future__ import annotations

from typing import Any

from ..cost.layers import Chunked, CrossAttention, FullAttention, Indexer, Layer, MlaLatent, Recurrent, SharedKv, SlidingWindow
from ..cost.model import Model

__all__ = ["entry_of", "yaml_of"]


def _heads(layer: FullAttention | SlidingWindow | Chunked | CrossAttention) -> dict[str, Any]:
    dims = {"head_dim": layer.k_dim} if layer.k_dim == layer.v_dim else {"k_dim": layer.k_dim, "v_dim": layer.v_dim}
    return {"kv_heads": layer.kv_heads, **dims}


def _layer(layer: Layer) -> dict[str, Any]:
    match layer:
        case FullAttention():
            return {"kind": "full", **_heads(layer)}
        case SlidingWindow():
            return {"kind": "window", **_heads(layer), "window_tokens": layer.window_tokens}
        case Chunked():
            return {"kind": "chunk", **_heads(layer), "chunk_tokens": layer.chunk_tokens}
        case CrossAttention():
            return {"kind": "cross", **_heads(layer), "encoder_tokens": layer.encoder_tokens}
        case MlaLatent():
            return {"kind": "mla", **layer._asdict()}
        case Indexer():
            return {"kind": "indexer", **layer._asdict()}
        case Recurrent():
            return {"kind": "recurrent", **layer._asdict()}
        case SharedKv():
            return {"kind": "shared"}


def entry_of(model: Model, *, checked: str) -> tuple[str, dict[str, Any]]:
    """The id and the catalog entry of a model; reading the entry back gives the same model.

    The id is the last part of the model's name in small letters; the whole name becomes an alias.
    """
    name = model.name.rpartition("/")[2].lower() or model.name
    entry: dict[str, Any] = {
        "title": model.title,
        "aliases": [] if model.name == name else [model.name],
        "layers": [{"count": group.layers, **_layer(group.layer)} for group in model.groups],
        "query_heads": model.query_heads,
        "head_dim": model.head_dim,
        "hidden_size": model.hidden_size,
        "dtype": model.dtype,
        "kv_dtype": model.kv_dtype,
        "weight_dtype": model.weight_dtype,
        "context_limit_tokens": model.context_limit_tokens,
        "params_total": model.params_total,
        "params_active": model.params_active,
        "params_input_embedding": model.params_input_embedding,
        "tied_embeddings": model.tied_embeddings,
        "params_towers": model.params_towers,
        "vocab_size": model.vocab_size,
    }
    unsaid = {
        "aliases": [],
        "kv_dtype": "auto",
        "weight_dtype": "auto",
        "params_input_embedding": 0,
        "tied_embeddings": False,
        "params_towers": 0,
        "vocab_size": 0,
    }
    kept = {key: value for key, value in entry.items() if value is not None and (key not in unsaid or value != unsaid[key])}
    if model.experts:
        kept["experts"] = {"count": model.experts.experts, "per_token": model.experts.per_token, "params": model.experts.params}
    kept |= {"source": model.source, "confidence": "spec" if not model.notes else "estimate", "checked": checked}
    if model.notes:
        kept["note"] = "; ".join(note.message for note in model.notes)
    return name, kept


def yaml_of(entries: dict[str, dict[str, Any]]) -> str:
    """The entries as a catalog file of models.

    >>> print(yaml_of({"mine": {"layers": [{"count": 2, "kind": "shared"}], "hidden_size": 8}}), end="")
    mine:
      layers:
      - {count: 2, kind: shared}
      hidden_size: 8
    """
    import yaml

    return yaml.safe_dump(entries, sort_keys=False, default_flow_style=None, width=1000, allow_unicode=True)
