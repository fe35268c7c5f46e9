"""`models`, `links`, `gpus`, `engines`, `techniques`: the catalog's entries as rows."""

from typing import Any

from ..catalog.names import near_names, normalise
from ..catalog.store import Catalog
from ..cost.dtypes import parse_kv_dtype
from ..cost.kv import kv_layout, marginal_bytes, state_bytes
from ..cost.technique import Caution, Published
from ..errors import Notice
from .document import Document

__all__ = ["entries_document"]

_HIDDEN = {"aliases", "layers", "experts", "constants", "change"}


def _model_row(catalog: Catalog, name: str, values: dict[str, Any]) -> dict[str, Any]:
    model = catalog.model(name)
    layout = kv_layout(model.groups, parse_kv_dtype("bf16"))
    limit = model.context_limit_tokens
    kinds = ", ".join(
        " ".join(map(str, filter(None, (layer["count"], layer["kind"], layer.get("window_tokens"), layer.get("chunk_tokens"))))) for layer in values["layers"]
    )
    return {
        "model": name,
        "title": values["title"],
        "layers": kinds,
        "bf16_bytes_per_token": marginal_bytes(layout, limit or 10**9),
        "state_bytes": state_bytes(layout),
        "context_limit_tokens": limit,
        "params_total": values["params_total"],
        "params_active": values["params_active"],
        "dtype": values["dtype"],
    }


def _link_row(catalog: Catalog, name: str, values: dict[str, Any]) -> dict[str, Any]:
    link = catalog.link(name)
    return {
        "link": name,
        "title": values["title"],
        "kind": values["kind"],
        "per": values["per"],
        "rails": link.rails or 1,
        "bandwidth_bytes_per_s": link.bandwidth_bytes_per_s,
        "achieved_bytes_per_s": link.achieved_bytes_per_s,
        "achieved_low_bytes_per_s": link.achieved_low_bytes_per_s,
        "achieved_high_bytes_per_s": link.achieved_high_bytes_per_s,
        "efficiency": link.efficiency,
    }


def _engine_row(catalog: Catalog, name: str, values: dict[str, Any]) -> dict[str, Any]:
    engine = catalog.engine(name)
    return {
        "engine": name,
        "title": values["title"],
        "t0_s": engine.t0_s,
        "t0_low_s": engine.t0_low_s,
        "t0_high_s": engine.t0_high_s,
        "descriptor_s": engine.descriptor_s,
        "descriptor_low_s": engine.descriptor_low_s,
        "descriptor_high_s": engine.descriptor_high_s,
        "block_tokens": engine.block_tokens,
        "regions": engine.regions,
        "overlap": engine.overlap,
        "first_token": engine.first_token,
    }


def _gpu_row(catalog: Catalog, name: str, values: dict[str, Any]) -> dict[str, Any]:
    gpu = catalog.gpu(name)
    constants = gpu.constants
    return {
        "gpu": name,
        "title": values["title"],
        "bf16_flops_per_s": gpu.bf16_flops_per_s,
        "fp8_flops_per_s": gpu.fp8_flops_per_s,
        "int8_flops_per_s": gpu.int8_flops_per_s,
        "fp4_flops_per_s": gpu.fp4_flops_per_s,
        "hbm_bytes": gpu.hbm_bytes,
        "hbm_bytes_per_s": gpu.hbm_bytes_per_s,
        "scaleup_kind": values["scaleup_kind"],
        "scaleup_bytes_per_s": gpu.scaleup_bytes_per_s,
        "peer_bytes_per_s": gpu.peer_bytes_per_s,
        "constants": constants.basis,
        **{key: value.value for key, value in constants._asdict().items() if key not in ("basis", "evidence")},
        "evidence": constants.evidence,
    }


def _published(item: Published) -> str:
    where = filter(None, (", ".join(item.models), f"{item.length:,} tokens" if item.length else ""))
    return f"{', '.join(where)}: {item.effect} ({item.source})"


def _caution(item: Caution) -> str:
    """A caution behind the conditions under which it holds."""
    conditions = (
        ", ".join(item.models),
        f"from {item.min_tokens:,} tokens" if item.min_tokens else "",
        f"heads from {item.min_head_dim}" if item.min_head_dim else "",
        f"layers {item.layers}" if item.layers else "",
        f"overlap {item.overlap}" if item.overlap else "",
        f"below {item.below_bits} bits" if item.below_bits else "",
    )
    return f"{', '.join(filter(None, conditions))}: {item.text} ({item.source})"


def _technique_row(catalog: Catalog, name: str, values: dict[str, Any]) -> dict[str, Any]:
    technique = catalog.technique(name)
    return {
        "technique": name,
        "title": values["title"],
        "group": technique.group,
        "risk": technique.risk,
        "research": technique.research,
        "codec": technique.codec,
        "excludes": ", ".join(values["excludes"]),
        "quality": technique.quality,
        "measured": technique.measured,
        "published": "; ".join(map(_published, technique.published)),
        "cautions": "; ".join(map(_caution, technique.cautions)),
    }


_ROWS = {"models": _model_row, "links": _link_row, "gpus": _gpu_row, "engines": _engine_row, "techniques": _technique_row}


def _whole(row: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
    """A row with what it is found under and where it is from."""
    rest = {key: value for key, value in values.items() if key not in row and key not in _HIDDEN and value not in (None, "")}
    shown = {key: row[key] for key in row}
    shown["aliases"] = ", ".join(values["aliases"])
    for key in ("note", "vendor_trap", "basis", "gpudirect", "staging", "confidence", "checked", "source"):
        if key in rest:
            shown[key] = rest[key]
    return shown


def entries_document(catalog: Catalog, kind: str, name: str | None, like: str | None) -> Document:
    """The entries of a kind, one of them, or those whose names hold a text (a warning with the nearest where none does).

    Raises KvcostError for a name that is not there.
    """
    entries = catalog.entries(kind)
    wanted, notices = list(entries), list[Notice]()
    if name is not None:
        wanted = [catalog.find(kind, name)]
    elif like is not None:
        words = {alias: entry for entry, values in entries.items() for alias in (entry, values["title"], *values["aliases"])}
        wanted = list(dict.fromkeys(entry for alias, entry in words.items() if normalise(like) in normalise(alias)))
        if not wanted:
            near = dict.fromkeys(words[word] for word in near_names(like, words, 8))
            notices.append(Notice("nothing-found", f"no name among the {kind} holds '{like}'", f"nearest: {', '.join(near)}" if near else ""))
    rows = [_whole(_ROWS[kind](catalog, entry, entries[entry]), entries[entry]) for entry in wanted]
    columns = tuple(dict.fromkeys(key for row in rows for key in row))
    return Document(kind, {"name": name, "like": like}, columns, [tuple(row.get(key) for key in columns) for row in rows], len(rows), notices, dict)
