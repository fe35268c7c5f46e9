"""Multi-head latent attention (DeepSeek V2 and its kin), alone or beside a sparse-attention indexer."""

from __future__ import annotations

from ...cost.layers import Indexer, Layer, MlaLatent
from .dense import dense
from .feed import dense_mlp, feeds
from .fields import Fields
from .types import Block, Conventions, Decoder, Feed
from .windows import canonical_kind

__all__ = ["index_row_bytes", "latent", "longcat", "mla", "mla_head_dim", "mla_params", "owns_indexer"]


def latent(fields: Fields) -> MlaLatent:
    """What one layer caches per token: kv_lora_rank + qk_rope_head_dim elements, once for all heads."""
    return MlaLatent(fields.count("kv_lora_rank", most=2**16), fields.count("qk_rope_head_dim", least=0, most=2**16))


def mla_head_dim(fields: Fields) -> int:
    """Width of a query head: qk_nope_head_dim + qk_rope_head_dim."""
    return fields.count("qk_nope_head_dim", most=2**16) + fields.count("qk_rope_head_dim", least=0, most=2**16)


def mla_params(fields: Fields, hidden: int, heads: int) -> int:
    """Parameters of the down and up projections of queries and latents, and of the output projection."""
    rank, rope = fields.count("kv_lora_rank"), fields.count("qk_rope_head_dim", least=0)
    nope, v_dim = fields.count("qk_nope_head_dim"), fields.count("v_head_dim", most=2**16)
    q_rank = fields.maybe("q_lora_rank", least=0)
    queries = hidden * q_rank + q_rank * heads * (nope + rope) + q_rank if q_rank else hidden * heads * (nope + rope)
    return queries + hidden * (rank + rope) + rank + rank * heads * (nope + v_dim) + heads * v_dim * hidden


def index_row_bytes(width: int, conventions: Conventions) -> int:
    """Bytes of one indexer key: fp8 with a 4-byte scale per 128 elements; bf16 in a run of transformers."""
    return 2 * width if conventions.hf_run else width + -(-width // 128) * 4


def _index_params(fields: Fields, hidden: int, width: int) -> int:
    heads = fields.count("index_n_heads", most=2**16)
    source = fields.maybe("q_lora_rank", least=0) or hidden
    return source * heads * width + hidden * width + hidden * heads + 2 * width


def owns_indexer(fields: Fields, layers: int) -> list[bool]:
    """Layers that hold an indexer's keys: indexer_types, index_topk_pattern, or every index_topk_freq-th from an offset."""
    words = fields.words("indexer_types", layers)
    pattern = fields.raw("index_topk_pattern")
    if words is None and isinstance(pattern, str):
        if len(pattern) < layers or set(pattern) - {"F", "S"}:
            raise fields.fail("index_topk_pattern", f"is not {layers} letters F or S: '{pattern[:40]}'", "give one letter per layer")
        return [letter == "F" for letter in pattern[:layers]]
    words = words or fields.words("index_topk_pattern", layers)
    if words is not None:
        if unknown := set(words) - {"full", "shared"}:
            raise fields.fail("indexer_types", f"names '{min(unknown)}'", "each entry is full or shared")
        return [word == "full" for word in words]
    period = fields.given("index_topk_freq")
    offset = fields.given("index_skip_topk_offset")
    if period is None and fields.kind == "glm_moe_dsa":
        fields.assumed["index_topk_freq"] = "1: every layer owns an indexer"
    period = period or 1
    if offset is None:
        offset = 2
        if period > 1:
            fields.assumed["index_skip_topk_offset"] = "2"
    return [max(i - offset + 1, 0) % period == 0 for i in range(layers)]


def mla(fields: Fields, conventions: Conventions) -> Decoder:
    """A decoder of latent attention; with kv_lora_rank null it is an ordinary one with heads."""
    if "kv_lora_rank" in fields.values and not fields.has("kv_lora_rank"):
        if fields.raw("use_mla") is not False and fields.given("qk_nope_head_dim"):
            raise fields.fail("kv_lora_rank", "is null while qk_nope_head_dim is not", "give the latent's rank, or set use_mla to false")
        fields.note("no-latent", "kv_lora_rank is null: the cache is counted with heads, not as latents", "give kv_lora_rank if the model uses MLA")
        fields.read.update(("qk_rope_head_dim", "qk_nope_head_dim", "q_lora_rank", "v_head_dim", "use_mla"))
        plain = Fields({name: value for name, value in fields.values.items() if name != "v_head_dim"}, fields.kind, defaults={})
        decoder = dense(plain, conventions)
        fields.read |= plain.read
        fields.assumed |= plain.assumed
        fields.notes += plain.notes
        return decoder
    layers, hidden, heads = fields.layers(), fields.hidden(), fields.heads()
    fields.read.update(("num_key_value_heads", "head_dim", "use_mla", "layer_types"))
    _only_latent(fields)
    width = fields.maybe("index_head_dim", most=2**16)
    owners = owns_indexer(fields, layers) if width is not None else [False] * layers
    rows, params = latent(fields), mla_params(fields, hidden, heads)
    blocks = []
    for owns in owners:
        cache: tuple[Layer, ...] = (rows, Indexer(index_row_bytes(width, conventions))) if owns and width else (rows,)
        blocks.append(Block(cache, params + (_index_params(fields, hidden, width) if owns and width else 0)))
    if fields.kind == "minicpm3":
        fields.note("mla-latent", "the cache is counted as latents; engines that expand them hold far more", "check that the engine caches MLA latents")
    return Decoder(tuple(blocks), feeds(fields, layers), heads, mla_head_dim(fields))


def _only_latent(fields: Fields) -> None:
    """Refuses a layer map that mixes latent attention with something else: such families have a reader of their own."""
    for word in fields.words("layer_types") or ():
        if canonical_kind(fields, "layer_types", word) not in ("full", "indexed"):
            raise fields.fail("layer_types", f"mixes latent attention with '{word}' layers", f"no rule for this mix in model_type '{fields.kind}'")


def longcat(fields: Fields, conventions: Conventions) -> Decoder:
    """LongCat-Flash: every layer holds two latent attentions and two dense MLPs beside its experts."""
    decoder = mla(fields, conventions)
    hidden = fields.hidden()
    width = fields.count("ffn_hidden_size", "intermediate_size")
    feeds_of = decoder.feeds
    if feeds_of is not None:
        twice = 2 * dense_mlp(fields, width, hidden)
        feeds_of = tuple(Feed(feed.always + twice, *feed[1:]) for feed in feeds_of)
    blocks = tuple(Block(block.cache * 2, block.params * 2) for block in decoder.blocks)
    return decoder._replace(blocks=blocks, feeds=feeds_of)
