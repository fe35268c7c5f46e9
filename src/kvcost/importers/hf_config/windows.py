"""Which layers see the whole prompt, which a window or a chunk of it: one rule per family."""

from __future__ import annotations

from collections.abc import Callable

from .fields import Fields

__all__ = ["CHUNK", "FULL", "LINEAR", "SLIDING", "attention_kinds", "canonical_kind", "window_tokens"]

FULL, SLIDING, CHUNK, LINEAR = "full", "sliding", "chunk", "linear"

# The names that layer_types, layers_block_type and their kin use, old and new.
_KINDS = {
    "full_attention": FULL,
    "attention": FULL,
    "global_attention": FULL,
    "global": FULL,
    "full": FULL,
    "sliding_attention": SLIDING,
    "sliding_window_attention": SLIDING,
    "local_attention": SLIDING,
    "local": SLIDING,
    "sliding": SLIDING,
    "swa": SLIDING,
    "chunked_attention": CHUNK,
    "linear_attention": LINEAR,
    "mamba": LINEAR,
    "mamba2": LINEAR,
    "recurrent": LINEAR,
    "conv": LINEAR,
    "indexed_attention": "indexed",
    "minimax_m3_sparse": "indexed",
    "hybrid": "hybrid",
    "moe": "moe",
    "mlp": "mlp",
}


def canonical_kind(fields: Fields, name: str, word: str) -> str:
    """The kind that one entry of a layer map names; an unknown one is refused."""
    kind = _KINDS.get(word)
    if kind is None:
        known = ", ".join(sorted(_KINDS))
        raise fields.fail(name, f"names a kind of layer that is not known here: '{word}'", f"known kinds are {known}")
    return kind


def _every(period: int, layers: int, *, first_full: bool = False) -> list[str]:
    """All layers slide but one in `period`: the last of each period, or the first."""
    return [FULL if (i % period == 0 if first_full else (i + 1) % period == 0) else SLIDING for i in range(layers)]


def _pattern(fields: Fields, default: int) -> int:
    found = fields.given("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers", "layer_switch", least=1)
    if found is None:
        fields.note("layer-pattern", f"the file gives no layer_types: every {default}. layer attends to the whole prompt, as its class does", "add layer_types")
    return default if found is None else found


def _by_pattern(default: int) -> Callable[[Fields, int], list[str]]:
    return lambda fields, layers: _every(_pattern(fields, default), layers)


def _first_of(period: int) -> Callable[[Fields, int], list[str]]:
    return lambda _fields, layers: _every(period, layers, first_full=True)


def _all(_fields: Fields, layers: int) -> list[str]:
    return [SLIDING] * layers


def _from_max_window_layers(fields: Fields, layers: int) -> list[str]:
    """Qwen: only where use_sliding_window is on, and only from layer max_window_layers."""
    fields.read.update(("max_window_layers", "sliding_window"))
    if not fields.flag("use_sliding_window", fields.kind == "dots1"):
        return [FULL] * layers
    start = fields.given("max_window_layers")
    start = 28 if start is None else start
    return [SLIDING if i >= start else FULL for i in range(layers)]


def _alternate(_fields: Fields, layers: int) -> list[str]:
    """Even layers slide (Gemma 2, gpt-oss)."""
    return [SLIDING if i % 2 == 0 else FULL for i in range(layers)]


def _letters(fields: Fields, layers: int) -> list[str]:
    """EXAONE 4: a string such as LLLG, a period, or nothing."""
    pattern = fields.raw("sliding_window_pattern")
    if isinstance(pattern, str):
        if not pattern or set(pattern) - {"L", "G"}:
            raise fields.fail("sliding_window_pattern", f"is not made of L and G: '{pattern[:40]}'", "write a pattern such as LLLG")
        return [FULL if pattern[i % len(pattern)] == "G" else SLIDING for i in range(layers)]
    return _every(_pattern(fields, 4), layers)


def _gemma4(_fields: Fields, layers: int) -> list[str]:
    kinds = _every(6, layers)
    kinds[-1] = FULL
    return kinds


def _hybrid_pattern(fields: Fields, layers: int) -> list[str]:
    """MiMo: hybrid_layer_pattern, 1 = sliding; its class makes the first and every sixth layer full."""
    pattern = fields.numbers("hybrid_layer_pattern", layers)
    if pattern is None:
        fields.note("layer-pattern", "the file gives no hybrid_layer_pattern: the first and every sixth layer attend to the whole prompt", "add it")
        return [FULL if i == 0 or (i + 1) % 6 == 0 else SLIDING for i in range(layers)]
    return [SLIDING if flag else FULL for flag in pattern]


def _chunks(fields: Fields, layers: int) -> list[str]:
    """Llama 4: no_rope_layers, 1 = chunked; missing or empty = every fourth layer is full."""
    if fields.given("attention_chunk_size", least=1) is None and "attention_chunk_size" in fields.values:
        fields.note("window-off", "attention_chunk_size is null: every layer is counted full", "give the chunk's length if layers are chunked")
        return [FULL] * layers
    rope = fields.numbers("no_rope_layers") or ()
    if not rope:
        period = fields.given("no_rope_layer_interval", "nope_layer_interval", least=1) or 4
        return [FULL if (i + 1) % period == 0 else CHUNK for i in range(layers)]
    if len(rope) != layers:
        raise fields.fail("no_rope_layers", f"has {len(rope)} entries for {layers} layers", "give one entry per layer, or an empty list")
    return [CHUNK if flag else FULL for flag in rope]


def _smollm3(fields: Fields, layers: int) -> list[str]:
    fields.read.update(("sliding_window", "max_window_layers", "no_rope_layer_interval"))
    if not fields.flag("use_sliding_window"):
        return [FULL] * layers
    rope = fields.numbers("no_rope_layers", layers) or tuple(int((i + 1) % 4 != 0) for i in range(layers))
    return [SLIDING if not flag else FULL for flag in rope]


_WINDOWED = (
    "mistral ministral mixtral phi3 phi4_multimodal phi4mm phimoe starcoder2 voxtral_realtime_text phi3_v mistral3 minimax_m1 minimax_text_01 "
    "minimax_m2 minicpm olmoe h2ovl"
)
_QWEN = (
    "mimo qwen2 qwen2_moe qwen3 qwen3_moe qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text qwen2_5_omni_text qwen3_omni_moe_text dots1 dots_ocr "
    "qwen3_vl_text qwen3_vl_moe_text qwen3_next qwen3_5_text qwen3_5_moe_text dream seed_oss"
)
_RULES: dict[str, Callable[[Fields, int], list[str]]] = {
    **dict.fromkeys(_WINDOWED.split(), _all),
    **dict.fromkeys(_QWEN.split(), _from_max_window_layers),
    **dict.fromkeys(("gemma2", "vaultgemma", "gpt_oss"), _alternate),
    **dict.fromkeys(("cohere2", "cohere2_moe", "olmo3", "afmoe"), _by_pattern(4)),
    **dict.fromkeys(("exaone4", "exaone_moe"), _letters),
    **dict.fromkeys(("granite_swa", "granitemoe_swa", "cwm"), _first_of(4)),
    **dict.fromkeys(("gemma4_text", "gemma4_unified_text"), _gemma4),
    **dict.fromkeys(("mimo_v2", "mimo_v2_flash", "mimo_v2_omni"), _hybrid_pattern),
    "gemma3_text": _by_pattern(6),
    "gemma3n_text": _by_pattern(5),
    "llama4_text": _chunks,
    "smollm3": _smollm3,
}


def window_tokens(fields: Fields) -> int | None:
    """The window of the sliding layers; None where the file switches it off (null, or a value below 1)."""
    name = fields.first("sliding_window", "sliding_window_size", "attention_window_size", "window_size")
    if name is not None and isinstance(fields.values[name], int) and fields.values[name] in (0, -1):
        if fields.values[name] is not False:
            fields.note("window-off", f"{name} = {fields.values[name]} is read as switched off: every layer is counted full", "set it to null, or to a length")
        return None
    return fields.maybe("sliding_window", "sliding_window_size", "attention_window_size", "window_size")


def attention_kinds(fields: Fields, layers: int) -> list[str]:
    """The kind of every layer: the file's layer_types, else the family's rule, else all full.

    A rule that makes layers slide holds only where the window is on; sliding layers without a window
    are an error, since neither reading can be told to be right.
    """
    listed = fields.words("layer_types", layers)
    rule = _RULES.get(fields.kind)
    if listed is not None:
        fields.read.update(("sliding_window_pattern", "_sliding_window_pattern", "max_window_layers", "use_sliding_window", "hybrid_layer_pattern"))
        kinds = [canonical_kind(fields, "layer_types", word) for word in listed]
        if SLIDING in kinds and window_tokens(fields) is None:
            raise fields.fail("layer_types", "names sliding layers, and no sliding_window says how long", "add sliding_window")
        return kinds
    kinds = rule(fields, layers) if rule else [FULL] * layers
    if SLIDING in kinds and window_tokens(fields) is None:
        optional = rule in (_all, _from_max_window_layers, _letters)
        if not optional or "sliding_window" not in fields.values:
            fields.note("window-off", "the file gives no sliding window: every layer is counted full", "add sliding_window, or set it to null")
        fields.read.update(("sliding_window_pattern", "_sliding_window_pattern"))
        return [FULL] * layers
    return kinds
