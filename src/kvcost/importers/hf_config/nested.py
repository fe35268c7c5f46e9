"""Where a config keeps its decoder: flat, or inside text_config, language_config, llm_config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ...errors import KvcostError
from .fields import shown

__all__ = ["TextConfig", "text_config"]

_KEYS = ("text_config", "language_config", "llm_config", "thinker_config", "language_model_config")

# What the decoder of a multimodal type is where its nested config does not say, or where an old file is flat.
_TEXT_TYPE = {
    "gemma3": "gemma3_text",
    "shieldgemma2": "gemma3_text",
    "gemma3n": "gemma3n_text",
    "gemma4": "gemma4_text",
    "gemma4_unified": "gemma4_unified_text",
    "llama4": "llama4_text",
    "mllama": "mllama_text_model",
    "paligemma": "gemma",
    "internvl": "qwen2",
    "internvl_chat": "",
    "aya_vision": "cohere2",
    "cohere2_vision": "cohere2",
    "glm4v": "glm4v_text",
    "glm46v": "glm4v_text",
    "glm4v_moe": "glm4v_moe_text",
    "glm5_next": "glm5_next_text",
    "kimi_k25": "deepseek_v3",
    "kimi_vl": "deepseek_v3",
    "kimi_k3": "kimi_linear",
    "deepseek_vl_v2": "deepseek_v2",
    "minimax_m3_vl": "minimax_m3_vl_text",
    "ernie4_5_vl_moe": "ernie4_5_vl_moe_text",
    "ernie4_5_moe_vl": "ernie4_5_vl_moe_text",
    "hunyuan_vl": "hunyuan_vl_text",
    "qwen2_vl": "qwen2_vl_text",
    "qwen2_5_vl": "qwen2_5_vl_text",
    "qwen2_5_omni": "qwen2_5_omni_text",
    "qwen2_5_omni_thinker": "qwen2_5_omni_text",
    "qwen3_omni_moe": "qwen3_omni_moe_text",
    "qwen3_omni_moe_thinker": "qwen3_omni_moe_text",
    "qwen3_vl": "qwen3_vl_text",
    "qwen3_vl_moe": "qwen3_vl_moe_text",
    "qwen3_5": "qwen3_5_text",
    "qwen3_5_moe": "qwen3_5_moe_text",
    "mistral3": "mistral",
    "voxtral": "llama",
    "aria": "aria_text",
    "lfm2_vl": "lfm2",
    "step3p7": "step3p5",
    "step3_vl": "step3_text",
    **dict.fromkeys(("llava", "llava_next", "llava_next_video", "idefics3", "smolvlm", "vipllava", "video_llava", "perception_lm"), "llama"),
    **dict.fromkeys(("llava_onevision", "qwen2_audio", "fast_vlm", "video_llama_3", "ovis2", "got_ocr2", "dots_ocr"), "qwen2"),
    "idefics2": "mistral",
}
_FLAT_MARKS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers")


class TextConfig(NamedTuple):
    """The decoder's config, its type, and the key it was found under ("" for a flat file)."""

    values: Mapping[str, Any]
    kind: str
    key: str


def _kind(values: Mapping[str, Any], where: str) -> str | None:
    kind = values.get("model_type")
    if kind is not None and not isinstance(kind, str):
        raise KvcostError(f"{where}model_type is not a string: {shown(kind)}", hint='write the type in quotes, such as "llama"')
    return kind or None


def text_config(config: Mapping[str, Any]) -> TextConfig:
    """The nested decoder where there is one, else the whole.

    >>> text_config({"model_type": "llava", "text_config": {"vocab_size": 32064}})[1:]
    ('llama', 'text_config')

    Raises KvcostError where a nested config is no object, or where nothing tells its type.
    """
    outer = _kind(config, "")
    for key in _KEYS:
        inner = config.get(key)
        if inner is None:
            continue
        if not isinstance(inner, Mapping):
            raise KvcostError(f"{key} is not an object: {shown(inner)}", hint="write the decoder's config as an object in braces")
        if key == "thinker_config":
            found = text_config({"model_type": outer, **inner})
            return TextConfig(found.values, found.kind, f"{key}.{found.key}" if found.key else key)
        kind = _kind(inner, f"{key}.")
        if kind is None or kind in _TEXT_TYPE:
            kind = _TEXT_TYPE.get(kind or outer or "", kind)
        if not kind:
            raise KvcostError(f"{key}.model_type is missing", hint='add the decoder\'s model_type, such as "llama"')
        return TextConfig(inner, kind, key)
    if outer in _TEXT_TYPE:
        if not any(mark in config for mark in _FLAT_MARKS):
            raise KvcostError(f"text_config is missing for model_type '{outer}'", hint="the decoder's config belongs under text_config")
        return TextConfig(config, _TEXT_TYPE[outer] or outer, "")
    return TextConfig(config, outer or "", "")
