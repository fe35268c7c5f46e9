"""Fields that change a cache and that no reader has looked at: refused by name, never passed over."""

from __future__ import annotations

from ...errors import KvcostError
from .fields import Fields, shown, words
from .windows import FULL, canonical_kind

__all__ = ["refuse_unread", "refuse_unusual"]

# One concept per line, as parts of names ("^" = at the start): where a reader has looked at one field of a
# concept, it knows the others. Plain strings: compiling patterns would cost more than reading a config.
_CONCEPTS = tuple(
    tuple(line.split())
    for line in (
        "compress",
        "^cla_ _cla_ ^use_cla kv_shar shared_kv share_kv kv_source",
        "kv_lora kv_latent",
        "mamba ^ssm _ssm lru_ d_state",
        "linear_attn linear_num linear_key linear_value linear_conv linear_head kda",
        "layer_types layers_block_type hybrid_override attn_type_list block_configs attn_layer full_attn_layers full_attn_idxs layer_map",
        "^index_head ^index_n_heads ^index_topk ^index_kpool indexer sparse_attention",
        "cross_attention_layers",
        "per_layer_config attention_heads_per_layer key_value_heads_per_layer",
        "loop_num num_loops recurrent_loops",
    )
)
# Wider, for a type that no reader knows: any of these may change what is cached.
_UNUSUAL = tuple(
    words(
        "window sliding attention_chunk chunk_size lora_rank latent compress shar layer_types block_type block_config pattern mamba ssm conv d_state "
        "state_size state_dim n_state recurr lru linear_attn linear_num linear_key linear_value linear_conv linear_head delta rwkv retention cross_att "
        "encoder decoder_layers ^index_n_heads ^index_head ^index_topk indexer sparse_att attn_type attention_type full_att attn_layer memory ^cla_ _cla_ "
        "^use_cla ^multi_query no_rope nope per_layer loop recursion cycles global_head global_key swa_ hyena block_list"
    )
)
_HARMLESS = tuple(
    words(
        "expert chunk_size_feed_forward embed ^_ output vocab mlp rope_theta dropout _alpha _beta share_input_output tie_ token vision audio image video "
        "is_encoder_decoder norm"
    )
)


def _matches(name: str, parts: tuple[str, ...]) -> bool:
    return any(name.startswith(part[1:]) if part[0] == "^" else part in name for part in parts)


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
        if name in fields.read or not isinstance(name, str) or not _active(value) or _matches(name, _HARMLESS):
            continue
        for concept in _CONCEPTS:
            if _matches(name, concept) and not any(_matches(read, concept) for read in fields.read if _active(fields.values.get(read))):
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
        if not isinstance(name, str) or not _active(value) or _matches(name, _HARMLESS) or not _matches(name, _UNUSUAL):
            continue
        if (off and name in ("sliding_window", "max_window_layers")) or name == "max_window_layers":
            continue
        if name in ("layer_types", "layers_block_type") and _all_full(fields, name, value):
            continue
        raise KvcostError(
            f"{fields.inside}{name} may change the cache, and model_type '{fields.kind or 'missing'}' is not known here: {shown(value)}",
            hint="describe the layers by hand in a catalog entry, or give the model_type of a class that works the same way",
        )
