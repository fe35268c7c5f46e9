"""Fields that change a cache and that no reader has looked at: refused by name, never passed over."""

from __future__ import annotations

import re

from ...errors import KvcostError
from .fields import Fields, shown
from .windows import FULL, canonical_kind

__all__ = ["refuse_unread", "refuse_unusual"]

# One concept per pattern: where a reader has looked at one field of a concept, it knows the others.
_CONCEPTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"compress",
        r"(^|_)cla(_|$)|kv_shar|shared_kv|share_kv|kv_source",
        r"kv_lora|kv_latent",
        r"mamba|(^|_)ssm|lru_|d_state",
        r"linear_(attn|num|key|value|conv|head)|kda",
        r"layer_types|layers_block_type|hybrid_override|attn_type_list|block_configs|attn_layer|full_attn_(layers|idxs)|layer_map",
        r"^index_(head|n_heads|topk|kpool)|indexer|sparse_attention",
        r"cross_attention_layers",
        r"per_layer_config|_per_layer$",
        r"loop_num|num_loops|recurrent_loops",
    )
)
# Wider, for a type that no reader knows: any of these may change what is cached.
_UNUSUAL = re.compile(
    r"window|sliding|attention_chunk|chunk_size|lora_rank|latent|compress|shar|layer_types|block_type|block_config|pattern|mamba|ssm|conv|"
    r"d_state|state_size|state_dim|n_state|recurr|lru|linear_(attn|num|key|value|conv|head)|delta|rwkv|retention|cross_att|encoder|decoder_layers|"
    r"index_(n_heads|head_dim|topk)|indexer|sparse_att|attn_type|attention_type|full_att|attn_layer|memory|(^|_)cla(_|$)|multi_query$|no_rope|nope|"
    r"per_layer|loop|recursion|cycles|global_head|global_key|swa_|head_dim_list|hyena|block_list"
)
_HARMLESS = re.compile(
    r"expert|chunk_size_feed_forward|embed|^_|output|vocab|mlp|rope_theta|dropout|_(alpha|beta)(_|$)|share_input_output|tie_|token|vision|audio|image|video|encoder_decoder$|norm"
)


def _active(value: object) -> bool:
    return not (value is None or value is False or value in (0, -1, "", [], {}))


def _all_full(fields: Fields, name: str, value: object) -> bool:
    """Whether a layer map names nothing but full attention."""
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        return False
    return all(canonical_kind(fields, name, word) == FULL for word in value)


def refuse_unread(fields: Fields) -> None:
    """Raises KvcostError for a field of a concept that the family's reader knows nothing of.

    A sliding window that the class does not read is said in a warning: the layers are counted full.
    """
    for name, value in fields.values.items():
        if name in fields.read or not isinstance(name, str) or not _active(value) or _HARMLESS.search(name):
            continue
        for concept in _CONCEPTS:
            if concept.search(name) and not any(concept.search(read) for read in fields.read if _active(fields.values.get(read))):
                raise KvcostError(
                    f"{fields.inside}{name} changes the cache in a way that is not known for model_type '{fields.kind}': {shown(value)}",
                    hint="describe the layers by hand in a catalog entry, or take the field out if the model ignores it",
                )
    for name in ("sliding_window", "attention_window_size", "attention_chunk_size"):
        value = fields.values.get(name)
        if name not in fields.read and _active(value) and fields.values.get("use_sliding_window") is not False:
            message = f"{name} = {shown(value)} is not read by the class of model_type '{fields.kind}': every layer is counted full"
            fields.note("window-ignored", message, "add layer_types if some layers do slide")


def refuse_unusual(fields: Fields) -> None:
    """Raises KvcostError for any field beyond plain attention: what it means in an unknown type cannot be told."""
    off = fields.values.get("use_sliding_window") is False
    if fields.values.get("is_encoder_decoder") is True:
        raise KvcostError(f"model_type '{fields.kind}' is an encoder-decoder that is not known here", hint="describe the layers by hand in a catalog entry")
    for name, value in fields.values.items():
        if not isinstance(name, str) or not _active(value) or _HARMLESS.search(name) or not _UNUSUAL.search(name):
            continue
        if (off and name in ("sliding_window", "max_window_layers")) or name == "max_window_layers":
            continue
        if name in ("layer_types", "layers_block_type") and _all_full(fields, name, value):
            continue
        raise KvcostError(
            f"{fields.inside}{name} may change the cache, and model_type '{fields.kind or 'missing'}' is not known here: {shown(value)}",
            hint="describe the layers by hand in a catalog entry, or give the model_type of a class that works the same way",
        )
