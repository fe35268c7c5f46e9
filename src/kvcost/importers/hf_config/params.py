"""Parameters in all and per token, in closed form."""

from __future__ import annotations

from typing import NamedTuple

from ...cost.model import Experts
from .fields import Fields
from .types import Decoder

__all__ = ["Sizes", "sizes", "tied_embeddings", "vocab_size"]

# Position tables that are learned: rows beyond the limit, and the limit's names.
_LEARNED_POSITIONS = {"gpt2": 0, "gpt-sw3": 0, "gpt_bigcode": 0, "gpt_neo": 0, "opt": 2, "biogpt": 2}
_TIED_WITHOUT_A_CLASS = frozenset(("qwen2_vl_2b", "minicpm", "openelm"))


class Sizes(NamedTuple):
    """params_total and params_active are None where the feed-forward part is not known."""

    total: int | None
    active: int | None
    input_embedding: int
    experts: Experts | None


def tied_embeddings(text: Fields, top: Fields) -> bool:
    """Whether input embedding and output head are one matrix: the file's word, else the class's."""
    for fields in (text, top):
        for name in ("tie_word_embeddings", "tie_embedding", "share_input_output_layers"):
            if fields.has(name):
                return fields.flag(name)
    return bool(text.defaults.get("tie_word_embeddings")) or text.kind in _TIED_WITHOUT_A_CLASS


def vocab_size(text: Fields, top: Fields) -> int:
    """Rows of the embedding, 0 where no field says."""
    found = text.given("vocab_size", "padded_vocab_size", "n_vocab", least=1)
    found = found if found is not None else top.given("vocab_size", "padded_vocab_size", least=1)
    return found or text.maybe("vocab_size") or 0


def _embedding(text: Fields, vocab: int, hidden: int) -> tuple[int, int]:
    """Parameters of the input embedding, and of position tables and projections around it."""
    width = text.given("word_embed_proj_dim", least=1) or hidden
    extra = 2 * hidden * width if width != hidden else 0
    rows = _LEARNED_POSITIONS.get(text.kind)
    if rows is not None:
        extra += ((text.maybe("max_position_embeddings", "n_positions") or 0) + rows) * hidden
    return vocab * width, extra


def sizes(text: Fields, top: Fields, decoder: Decoder, towers: int | None) -> Sizes:
    """Total = embedding + head unless tied + layers + norms + encoders and towers; active = total - routed experts that do not run.

    Held against parameter counts of models built without weights: within 1 %.
    """
    vocab, hidden = vocab_size(text, top), text.hidden()
    embedding, extra = _embedding(text, vocab, hidden)
    feeds = decoder.feeds
    if feeds is None or not vocab:
        text.note("no-params", "no feed-forward width or no vocabulary in the file: parameters are not given", "add intermediate_size")
        return Sizes(None, None, embedding, None)
    if towers is None:
        text.note("towers", "the sizes of the vision tower are not given: it is left out of the parameters", "add its hidden_size and num_hidden_layers")
    head = 0 if tied_embeddings(text, top) else vocab * hidden
    mixers = sum(block.params for block in decoder.blocks)
    norms = (2 * len(decoder.blocks) + 1) * hidden
    always = sum(feed.always for feed in feeds)
    routed = sum(feed.routed for feed in feeds)
    running = sum(feed.routed * feed.per_token // feed.experts for feed in feeds if feed.experts)
    total = embedding + extra + head + mixers + norms + always + routed + decoder.other + (towers or 0)
    most = max((feed.experts for feed in feeds), default=0)
    per_token = max((feed.per_token for feed in feeds), default=0)
    return Sizes(total, total - routed + running, embedding, Experts(most, per_token, routed) if most else None)
