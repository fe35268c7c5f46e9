"""Encoder-decoders: the decoder's own cache grows, the cross-attention holds the encoder's output once."""

from __future__ import annotations

from ...cost.layers import CrossAttention, FullAttention
from .fields import Fields
from .types import Block, Conventions, Decoder, Feed

__all__ = ["bart", "mllama", "t5", "whisper"]


def _encoder_tokens(fields: Fields, conventions: Conventions, default: int, why: str) -> int:
    if conventions.encoder_tokens is not None:
        if not 0 <= conventions.encoder_tokens < 2**31:
            raise fields.fail("encoder_tokens", f"is out of range: {conventions.encoder_tokens}", "give a number of tokens from 0 on")
        return conventions.encoder_tokens
    fields.note("encoder-length", f"the encoder's output is taken to be {default} tokens long ({why})", "give its length (encoder_tokens) for another input")
    return default


def t5(fields: Fields, conventions: Conventions) -> Decoder:
    """T5 and mT5: num_decoder_layers of num_heads x d_kv, self and cross; num_layers counts the encoder's."""
    encoder_layers = fields.layers()
    layers = fields.given("num_decoder_layers", least=1, most=4096)
    if layers is None:
        fields.assumed["num_decoder_layers"] = f"num_layers = {encoder_layers}"
        layers = encoder_layers
    hidden, heads, width = fields.hidden(), fields.heads(), fields.count("d_kv", "head_dim")
    inner, feed = heads * width, fields.count("d_ff", "intermediate_size")
    limit = fields.given("n_positions", least=1) or 512
    tokens = _encoder_tokens(fields, conventions, limit, "n_positions" if fields.has("n_positions") else "the length that T5 is trained at")
    gated = "gated" in (fields.text("feed_forward_proj") or ("gated-gelu" if fields.kind in ("mt5", "umt5") else "relu"))
    mlp = (3 if gated else 2) * hidden * feed
    block = Block((FullAttention(heads, width, width), CrossAttention(heads, width, width, tokens)), 8 * hidden * inner)
    return Decoder((block,) * layers, (Feed(mlp),) * layers, heads, width, encoder_layers * (4 * hidden * inner + mlp))


def _transformer(fields: Fields, tokens: int, other: int) -> Decoder:
    """The decoder of the BART line: decoder_layers of decoder_attention_heads, width d_model / heads."""
    layers = fields.count("decoder_layers", "num_hidden_layers", most=4096)
    heads = fields.count("decoder_attention_heads", "num_attention_heads", most=2**16)
    hidden, feed = fields.hidden(), fields.count("decoder_ffn_dim", "intermediate_size")
    fields.read.add("num_hidden_layers")
    if hidden % heads:
        raise fields.fail("decoder_attention_heads", f"does not divide d_model: {hidden} / {heads}", "mend one of the two")
    width = hidden // heads
    cache = (FullAttention(heads, width, width), CrossAttention(heads, width, width, tokens))
    encoder_layers, encoder_feed = fields.given("encoder_layers", least=0) or layers, fields.given("encoder_ffn_dim", least=1) or feed
    encoder = encoder_layers * (4 * hidden * hidden + 2 * hidden * encoder_feed + 9 * hidden + encoder_feed)
    block = Block(cache, 8 * hidden * hidden + 8 * hidden)
    return Decoder((block,) * layers, (Feed(2 * hidden * feed + hidden + feed),) * layers, heads, width, encoder + other)


def bart(fields: Fields, conventions: Conventions) -> Decoder:
    """BART, mBART, Pegasus, Marian, M2M-100: encoder and decoder of one width."""
    limit = fields.maybe("max_position_embeddings") or 1024
    tokens = _encoder_tokens(fields, conventions, limit, "max_position_embeddings")
    learned = fields.kind in ("bart", "mbart", "blenderbot", "blenderbot-small", "plbart")
    return _transformer(fields, tokens, 2 * (limit + 2) * fields.hidden() if learned else 0)


def whisper(fields: Fields, conventions: Conventions) -> Decoder:
    """Whisper: the encoder always gives max_source_positions frames."""
    frames, limit, hidden = fields.count("max_source_positions"), fields.maybe("max_target_positions") or 448, fields.hidden()
    tokens = frames if conventions.encoder_tokens is None else _encoder_tokens(fields, conventions, frames, "")
    fields.note("encoder-length", f"the encoder's output is {tokens} frames long, whatever the audio; the decoder stops at {limit} tokens", "nothing to do")
    mels = fields.given("num_mel_bins", least=1) or 80
    return _transformer(fields, tokens, 3 * mels * hidden + 3 * hidden * hidden + (frames + limit) * hidden)


def mllama(fields: Fields, conventions: Conventions) -> Decoder:
    """Llama 3.2 Vision: cross_attention_layers hold image KV, and only where an image is given."""
    from .dense import dense

    decoder = dense(fields, conventions)
    crossing = fields.numbers("cross_attention_layers")
    if crossing is None:
        crossing = (3, 8, 13, 18, 23, 28, 33, 38)
        fields.assumed["cross_attention_layers"] = "3, 8, 13, 18, 23, 28, 33, 38"
    if beyond := [i for i in crossing if i >= len(decoder.blocks)]:
        raise fields.fail("cross_attention_layers", f"names layer {beyond[0]} of {len(decoder.blocks)}", "layers count from 0")
    tokens = conventions.encoder_tokens or 0
    if not tokens:
        fields.note("image-tokens", "no image is counted: the cross-attention layers hold nothing", "give the image rows (encoder_tokens), 1601 x tiles each")
    blocks = []
    for i, block in enumerate(decoder.blocks):
        layer = block.cache[0]
        if i not in crossing or not isinstance(layer, FullAttention):
            blocks.append(block)
        else:
            blocks.append(Block((CrossAttention(*layer, tokens),), block.params))
    return decoder._replace(blocks=tuple(blocks))
