"""Parameters of vision and audio towers, closely enough for compute; nothing here touches the cache."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["tower_params"]

_LLAMA4_VISION = {"hidden_size": 768, "num_hidden_layers": 34, "intermediate_size": 5632, "patch_size": 14, "image_size": 448, "vision_output_dim": 7680}
_GATED = ("qwen2_5_vl", "qwen2_5_omni", "pixtral", "mistral3", "glm4v", "glm4v_moe", "glm46v", "mistral4")
_GLM = ("glm4v", "glm4v_moe", "glm46v")
_MERGED = ("qwen2_vl", "qwen2_5_vl", "qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe", "qwen3_omni_moe", "glm4v", "glm4v_moe", "glm46v", "qwen2_5_omni")


def _number(values: Mapping[str, Any], *names: str) -> int:
    """The first usable size; 0 where there is none (a tower is never a reason to refuse a model)."""
    for name in names:
        value = values.get(name)
        if isinstance(value, list) and value:
            value = value[0]
        if isinstance(value, int) and not isinstance(value, bool) and 0 < value < 2**20:
            return value
    return 0


def _layers(width: int, feed: int, count: int, gated: bool) -> int:
    """Parameters: count x (4 d^2 + 2 or 3 d x feed + biases and norms)."""
    mlp = 3 * width * feed + 2 * feed + width if gated else 2 * width * feed + feed + width
    return count * (4 * width * width + 4 * width + mlp + 4 * width)


def _merger(vision: Mapping[str, Any], kind: str, width: int, hidden: int) -> int:
    """Qwen: 2 x 2 patches side by side through two linear layers; one more per deep-stack level."""
    side = _number(vision, "spatial_merge_size") or 2
    merged = side * side * width
    one = merged * merged + merged + merged * hidden + hidden
    levels = vision.get("deepstack_visual_indexes")
    return one * (1 + (len(levels) if isinstance(levels, list) and kind.startswith("qwen3") else 0))


def _projector(vision: Mapping[str, Any], kind: str, width: int, hidden: int) -> int:
    if kind in _MERGED:
        return _merger(vision, kind, width, _number(vision, "out_hidden_size") or hidden)
    if kind in ("gemma3", "paligemma"):
        return width * hidden + width
    if kind == "llama4":
        return 4096 * hidden
    if kind == "mllama":
        return (_number(vision, "vision_output_dim") or 7680) * hidden
    if kind == "mistral3":
        return 4 * width * width + width * hidden + hidden * hidden
    if kind in ("internvl", "internvl_chat"):
        return 4 * width * hidden + hidden * hidden
    return width * hidden + hidden * hidden + 2 * hidden


def _vision(vision: Mapping[str, Any], kind: str, hidden: int) -> int | None:
    own = vision.get("model_type")
    width = _number(vision, "embed_dim", "hidden_size", "width", "vt_hidden_size")
    count = _number(vision, "depth", "num_hidden_layers", "layers", "vt_num_hidden_layers")
    feed = _number(vision, "intermediate_size", "vt_intermediate_size") or (_number(vision, "mlp_ratio") or 4) * width
    if not width or not count:
        return None
    patch, image = _number(vision, "patch_size") or 14, _number(vision, "image_size")
    gated = kind in _GATED or own in _GATED
    context = feed
    if kind in _GLM:
        feed = _number(vision, "out_hidden_size") or hidden
    frames = _number(vision, "temporal_patch_size") or 1
    total = _layers(width, feed, count, gated) + 3 * patch * patch * frames * width + 2 * width
    total += ((image // patch) ** 2 + 1) * width if image and kind not in _MERGED and not gated else 0
    total += (_number(vision, "num_position_embeddings") + 1) * width if kind in _MERGED else 0
    if kind == "mllama":
        extra = _number(vision, "num_global_layers") or 8
        total += _layers(width, feed, extra, gated) + 10 * 4 * ((image // patch) ** 2 + 1) * width
    if kind == "llama4":
        total += feed * 4096 + 4096 * 4096
    if kind in _GLM:
        return total + feed * feed + 3 * feed * context + 4 * width * feed
    return total + _projector(vision, kind, width, hidden)


def _audio(audio: Mapping[str, Any], hidden: int) -> int:
    width, count = _number(audio, "d_model", "hidden_size"), _number(audio, "encoder_layers", "num_hidden_layers")
    feed = _number(audio, "encoder_ffn_dim", "intermediate_size") or 4 * width
    return _layers(width, feed, count, False) + 3 * 128 * width + 3 * width * width + width * hidden


def tower_params(config: Mapping[str, Any], kind: str, hidden: int) -> int | None:
    """Parameters of the vision and audio towers with their projectors; 0 without one, None where a tower's sizes are not given.

    Gemma 3n's towers are convolutional and left out.
    """
    if kind.startswith("gemma3n"):
        return 0
    thinker = config.get("thinker_config")
    if isinstance(thinker, Mapping):
        config = thinker
    vision = config.get("vision_config")
    if vision is None and kind == "llama4":
        vision = _LLAMA4_VISION
    total: int | None = 0
    if isinstance(vision, Mapping):
        total = _vision(vision, kind, hidden)
    audio = config.get("audio_config")
    if isinstance(audio, Mapping) and total is not None:
        total += _audio(audio, hidden)
    return total
