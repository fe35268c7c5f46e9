"""The share of a 16-bit cache's bytes that a technique leaves: exact ratios, scales counted where the format has them.

Formats that an engine stores have their bits in `dtypes`; here is what only changes the wire, and what is compared with it.
"""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

from ..errors import KvcostError

__all__ = [
    "Tiers",
    "WireCut",
    "codec_pass_s",
    "format_share",
    "heads_share",
    "joined",
    "latent_share",
    "layers_share",
    "reuse_bandwidth",
    "tier_share",
    "tiers_at",
]

Part = tuple[int, Fraction]


class WireCut(NamedTuple):
    """What a codec leaves of a request's bytes on the wire, and the time that it takes.

    rest        share of the bytes of all tokens that `first` does not name
    first       (tokens, share) from the start of the prompt on: tokens that are kept better
    pages       share of the pages that are still sent (dropped tokens and layers need no descriptor; fewer bits do)
    codec_s     seconds of encoding and decoding together, whatever the size; codec_s_per_byte: per byte of the uncut cache
    """

    rest: Fraction = Fraction(1)
    first: tuple[Part, ...] = ()
    pages: Fraction = Fraction(1)
    codec_s: float = 0.0
    codec_s_per_byte: float = 0.0

    def share(self, ctx_tokens: float, hit_tokens: float = 0) -> Fraction | float:
        """Share of the bytes of the tokens that travel: (sum k_i q_i + (n - sum k_i) q)/n, exact for whole tokens.

        >>> WireCut(Fraction(1, 4), ((4, Fraction(1)),)).share(100)
        Fraction(7, 25)

        Tokens that the decode side holds (`hit_tokens`) are the first ones. Definition: sinks at
        16 bit, the rest at q.
        """
        left, skip = ctx_tokens - hit_tokens, hit_tokens
        if left <= 0:
            return Fraction(1)
        whole, total = left, Fraction(0) + 0
        for tokens, share in self.first:
            sent = min(max(0, tokens - skip), left)
            skip = max(0, skip - tokens)
            total += sent * share  # type: ignore[assignment]  # a float where tokens are one
            left -= sent
        return (total + left * self.rest) / whole


def joined(a: WireCut, b: WireCut) -> WireCut:
    """Both cuts: shares multiply, times add up; at most one of them treats the first tokens apart.

    >>> joined(WireCut(Fraction(1, 4), ((4, Fraction(1)),)), WireCut(Fraction(1, 2))).share(8)
    Fraction(5, 16)

    Raises KvcostError where both do.
    """
    if a.first and b.first:
        raise KvcostError("two codecs treat the first tokens apart", hint="give one of them")
    first = tuple((tokens, share * b.rest) for tokens, share in a.first) + tuple((tokens, share * a.rest) for tokens, share in b.first)
    return WireCut(a.rest * b.rest, first, a.pages * b.pages, a.codec_s + b.codec_s, a.codec_s_per_byte + b.codec_s_per_byte)


def format_share(element_bits: int, scale_bits: int = 0, group: int = 1) -> Fraction:
    """Share of 16 bits an element: (bits + scale/group)/16.

    INT8 with a 16-bit scale per token and head of 128; INT4 in groups of 64 with scale and zero; NVFP4:

    >>> [float(format_share(*form)) for form in ((8, 16, 128), (4, 32, 64), (4, 8, 16))]
    [0.5078125, 0.28125, 0.28125]

    Source: SpectrumKV (arXiv 2606.08635) for scales per token and head; FlashInfer for NVFP4.
    """
    return (element_bits + Fraction(scale_bits, group)) / 16


class Tiers(NamedTuple):
    """Shares of the tokens at 16, 8 and 4 bit."""

    f16: Fraction
    f8: Fraction
    f4: Fraction


def tiers_at(budget: Fraction) -> Tiers:
    """SpectrumKV's three tiers at a budget b: b <= 0.5: f8 = 4b - 1, f4 = 2 - 4b; b >= 0.5: f16 = 2b - 1, f8 = 2 - 2b.

    At 50 % everything is INT8, not some tokens at FP16 and the rest at INT4:

    >>> tiers_at(Fraction(1, 2)), tiers_at(Fraction(3, 10))
    (Tiers(f16=Fraction(0, 1), f8=Fraction(1, 1), f4=Fraction(0, 1)), Tiers(f16=Fraction(0, 1), f8=Fraction(1, 5), f4=Fraction(4, 5)))

    Raises KvcostError for a budget below 0.25 (all INT4) or above 1. Source: SpectrumKV (arXiv 2606.08635).
    """
    if not Fraction(1, 4) <= budget <= 1:
        raise KvcostError(f"a budget of {float(budget):.4g} is none of three tiers", hint="give one from 25% (all INT4) to 100% (all 16 bit)")
    half = Fraction(1, 2)
    if budget <= half:
        return Tiers(Fraction(0), 4 * budget - 1, 2 - 4 * budget)
    return Tiers(2 * budget - 1, 2 - 2 * budget, Fraction(0))


def tier_share(tiers: Tiers) -> Fraction:
    """f16 + f8/2 + f4/4: the budget, scales not counted, as published.

    >>> tier_share(tiers_at(Fraction(3, 10)))
    Fraction(3, 10)
    """
    return tiers.f16 + tiers.f8 / 2 + tiers.f4 / 4


def layers_share(sent_layers: int, layers: int) -> Fraction:
    """Layers sent over layers; the others are computed again, shared or dropped.

    >>> layers_share(40, 80)
    Fraction(1, 2)

    Raises KvcostError for more layers than there are.
    """
    if not 0 < sent_layers <= layers:
        raise KvcostError(f"{sent_layers} of {layers} layers cannot be sent", hint=f"give 1 to {layers}")
    return Fraction(sent_layers, layers)


def heads_share(kv_heads: int, query_heads: int) -> Fraction:
    """Grouped heads against one K and V a query head: Hkv/Hq (MQA: 1/Hq).

    >>> heads_share(8, 64)
    Fraction(1, 8)

    Source: definition of GQA (arXiv 2305.13245).
    """
    return Fraction(kv_heads, query_heads)


def latent_share(latent_dim: int, rope_dim: int, query_heads: int, head_dim: int) -> Fraction:
    """A latent against one K and V a query head: (r + d_rope)/(2 Hq d).

    >>> round(float(latent_share(512, 64, 128, 128)), 4)
    0.0176

    Source: DeepSeek-V2 (arXiv 2405.04434).
    """
    return Fraction(latent_dim + rope_dim, 2 * query_heads * head_dim)


def codec_pass_s(kv_bytes: float, share: float, gpus: int, hbm_bytes_per_s: float) -> float:
    """Seconds of one pass over memory: everything read, what is left written, (1 + phi) bytes/(t W). A lower bound.

    >>> f"{codec_pass_s(1342177280, 0.5, 8, 3.35e12):.3g}"
    '7.51e-05'
    """
    return (1 + share) * kv_bytes / (gpus * hbm_bytes_per_s)


def reuse_bandwidth(hidden: int, bytes_per_element: int, gqa: float, prefix_tokens: int, flops_per_s: float, *, a: float = 4, b: float = 22) -> float:
    """Bytes/s above which fetching a prefix from a store beats computing it: G x 2 d s/(gqa (a p d + b d^2)).

    d hidden size, s bytes an element, gqa query heads a KV head, G FLOP/s of the instance; a, b: FLOPs per layer of
    attention and of products. LLaMA-3 70B, 8192 tokens, 8 GPUs of 312 TFLOP/s:

    >>> f"{reuse_bandwidth(8192, 2, 8, 8192, 8 * 312e12):.4g}"
    '5.859e+09'

    Source: Mooncake (FAST'25) equation 2, at peak arithmetic.
    """
    return flops_per_s * 2 * hidden * bytes_per_element / (gqa * (a * prefix_tokens * hidden + b * hidden * hidden))
