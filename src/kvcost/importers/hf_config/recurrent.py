"""Mixers with a state of constant size: Mamba, Mamba 2, gated delta, Kimi delta, lightning, short convolutions, RG-LRU."""

from __future__ import annotations

from ...cost.layers import Recurrent
from .fields import Fields
from .types import Block, Conventions

__all__ = ["delta", "kimi_delta", "lightning", "mamba1", "mamba2", "rg_lru", "short_conv", "state_bits"]

_BITS = {"bf16": 16, "fp16": 16, "fp32": 32, "bfloat16": 16, "float16": 16, "float32": 32, "half": 16, "float": 32}

_LIGHTNING = ("minimax", "minimax_m1", "minimax_text_01")


def state_bits(fields: Fields, conventions: Conventions, default: int) -> int:
    """Bits of one element of the recurrent state: asked for, else written in the file, else the family's, always stated."""
    fields.read.update(("mamba_ssm_cache_dtype", "mamba_ssm_dtype"))
    if conventions.state_dtype != "auto":
        return _BITS[conventions.state_dtype]
    written = fields.text("mamba_ssm_cache_dtype") or fields.text("mamba_ssm_dtype")
    if written is not None and written != "auto":
        bits = _BITS.get(written.removeprefix("torch."))
        if bits is None:
            raise fields.fail("mamba_ssm_cache_dtype", f"names a dtype that is not known here: '{written}'", "write float32, bfloat16 or float16")
        return bits
    bits = 32 if conventions.hf_run and fields.kind not in _LIGHTNING else default
    name = "fp32" if bits == 32 else "the model's 16-bit dtype"
    fields.note("state-dtype", f"the recurrent state is counted in {name}: the file does not say", "give its dtype (state_dtype) if the engine stores another")
    return bits


def _columns(conventions: Conventions, kernel: int) -> int:
    """Columns that a causal convolution of width K keeps: K - 1 while serving, K in a run of transformers."""
    return kernel if conventions.hf_run else kernel - 1


def mamba1(fields: Fields, conventions: Conventions, prefix: str = "mamba_d_") -> Block:
    """Mamba: (K - 1) x d_inner convolution columns and d_inner x d_state of scan state.

    `prefix` is empty for the original field names (state_size, conv_kernel, expand).
    """
    hidden = fields.hidden()
    if prefix:
        state, kernel, expand = fields.count("mamba_d_state"), fields.count("mamba_d_conv"), fields.count("mamba_expand")
        inner = expand * hidden
        rank = fields.raw("mamba_dt_rank")
    else:
        state, kernel = fields.count("state_size"), fields.count("conv_kernel")
        inner = fields.given("intermediate_size", "d_inner", least=1) or fields.count("expand") * hidden
        rank = fields.raw("time_step_rank")
    fields.read.update(("expand", "mamba_expand"))
    dt = rank if isinstance(rank, int) and not isinstance(rank, bool) and rank > 0 else -(-hidden // 16)
    params = hidden * 2 * inner + inner * (kernel + 1) + inner * (dt + 2 * state) + dt * inner + inner + inner * state + inner + inner * hidden
    bits = state_bits(fields, conventions, 16)
    return Block((Recurrent(_columns(conventions, kernel) * inner, inner * state, 16, bits),), params)


def mamba2(
    fields: Fields, conventions: Conventions, *, inner: int, heads: int, width: int, groups: int, state: int, kernel: int, default_bits: int = 16
) -> Block:
    """Mamba 2: (K - 1) x (d_inner + 2 groups x d_state) columns and heads x head_dim x d_state of scan state."""
    if heads * width != inner:
        problem = f"does not fit the inner width: {heads} heads x {width} is not {inner}"
        raise fields.fail("mamba heads", problem, "mend the number of heads, their width or the expansion")
    hidden = fields.hidden()
    mixed = inner + 2 * groups * state
    params = hidden * (inner + mixed + heads) + mixed * (kernel + 1) + 3 * heads + inner + inner * hidden
    bits = state_bits(fields, conventions, default_bits)
    return Block((Recurrent(_columns(conventions, kernel) * mixed, heads * width * state, 16, bits),), params)


def delta(fields: Fields, conventions: Conventions) -> Block:
    """Gated delta net: (K - 1) x (2 key + value widths) columns and value heads x d_v x d_k of state."""
    hidden, kernel = fields.hidden(), fields.count("linear_conv_kernel_dim")
    key_heads, value_heads = fields.count("linear_num_key_heads"), fields.count("linear_num_value_heads")
    key_dim, value_dim = fields.count("linear_key_head_dim"), fields.count("linear_value_head_dim")
    if value_heads % key_heads:
        raise fields.fail("linear_num_key_heads", f"does not divide the value heads: {value_heads} / {key_heads}", "mend one of the two")
    keys, values = key_heads * key_dim, value_heads * value_dim
    params = hidden * (2 * keys + 2 * values + 2 * value_heads) + (2 * keys + values) * kernel + 2 * value_heads + value_dim + values * hidden
    bits = state_bits(fields, conventions, 16)
    return Block((Recurrent(_columns(conventions, kernel) * (2 * keys + values), values * key_dim, 16, bits),), params)


def kimi_delta(fields: Fields, conventions: Conventions) -> Block:
    """Kimi delta attention: three convolutions of (K - 1) columns and heads x d x d of state, fp32 unless the file says otherwise."""
    hidden = fields.hidden()
    table = fields.table("linear_attn_config")
    source = table or fields
    heads = source.count("num_heads", "linear_num_heads") if table else fields.count("linear_num_heads")
    width = source.count("head_dim") if table else fields.count("linear_head_dim")
    kernel = source.count("short_conv_kernel_size", "linear_conv_kernel_dim") if table else fields.count("linear_conv_kernel_dim", "short_conv_kernel_size")
    inner = heads * width
    gates = 2 * (hidden * width + width * inner) + hidden * heads
    params = 4 * hidden * inner + 3 * inner * kernel + gates + inner + heads + width
    bits = state_bits(fields, conventions, 32)
    return Block((Recurrent(_columns(conventions, kernel) * 3 * inner, inner * width, 16, bits),), params)


def lightning(fields: Fields, conventions: Conventions) -> Block:
    """Lightning attention: heads x d x d of state, no convolution."""
    hidden, heads = fields.hidden(), fields.heads()
    width = fields.per_head(hidden, heads)
    inner = heads * width
    bits = state_bits(fields, conventions, 16)
    return Block((Recurrent(0, inner * width, 16, bits, 1),), 5 * hidden * inner + inner)


def short_conv(fields: Fields, conventions: Conventions) -> Block:
    """LFM2's gated short convolution: (K - 1) columns of the hidden size."""
    hidden, kernel = fields.hidden(), fields.count("conv_L_cache")
    return Block((Recurrent(_columns(conventions, kernel) * hidden, 0, 16, 16, 1),), 4 * hidden * hidden + hidden * kernel)


def rg_lru(fields: Fields, conventions: Conventions) -> Block:
    """RecurrentGemma: one fp32 value per LRU channel and (K - 1) columns of a convolution."""
    hidden, heads = fields.hidden(), fields.heads()
    width = fields.maybe("lru_width") or hidden
    kernel = fields.count("conv1d_width")
    block = width // heads if not width % heads else width
    params = 3 * hidden * width + width * (kernel + 1) + 2 * (width * block + width) + width
    bits = state_bits(fields, conventions, 32)
    return Block((Recurrent(_columns(conventions, kernel) * width, width, 16, bits),), params)
