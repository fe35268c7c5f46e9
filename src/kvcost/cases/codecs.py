"""What a codec leaves of the bytes, as far as the user says that it goes."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

from ..cost.dtypes import Encoding, parse_kv_dtype
from ..cost.layers import Chunked, FullAttention, Indexer, SlidingWindow
from ..cost.model import Model
from ..cost.technique import Technique
from ..cost.techniques import WireCut, format_share, layers_share, tier_share, tiers_at
from ..errors import KvcostError
from .plan import Path

__all__ = ["DEFAULT_MIX", "Given", "check_layers_given", "codec_of", "fewest_bits"]

DEFAULT_MIX = "fp16:4,int4:rest"


class Given(NamedTuple):
    """What the user says of techniques; None = a what-if, named as such."""

    mix: tuple[str, tuple[tuple[int, Encoding], ...], Encoding]
    layers: tuple[int, int | None] | float | None = None
    budget: float | None = None
    keep: float | None = None
    codec_s: float | None = None
    direct: tuple[tuple[Path, Path], ...] = ()


def codec_of(model: Model, technique: Technique, given: Given) -> tuple[WireCut, tuple[str, ...]]:
    """What a codec leaves of the bytes, and what was assumed for it. Raises KvcostError for layers that the model does not have."""
    change = technique.change
    if change.kind == "share":
        share = _exact(change.share or 1.0)
        first: tuple[tuple[int, Fraction], ...] = ((change.first_tokens, Fraction(1)),) if change.first_tokens else ()
        return WireCut(share, first, share if change.pages else Fraction(1)), ()
    if change.kind == "tiers":
        budget = _budget(given)
        tiers = tiers_at(_exact(budget))
        parts = [f"{float(share):.0%} {name}" for share, name in zip(tiers, ("FP16", "INT8", "INT4"), strict=True) if share]
        whole = ", not sinks at FP16 and the rest at INT4" if tiers.f8 == 1 else ""
        return WireCut(tier_share(tiers)), (_what_if(f"a budget of {budget:.0%} is {' and '.join(parts)}{whole}", given.budget),)
    if change.kind == "mix":
        words, first_formats, rest = given.mix
        dim = _head_dim(model)
        first = tuple((tokens, _encoded(encoding, dim)) for tokens, encoding in first_formats)
        return WireCut(_encoded(rest, dim), first), (words,)
    if change.kind == "keep":
        keep = 0.5 if given.keep is None else given.keep
        return WireCut(_exact(keep), (), _exact(keep)), (_what_if(f"{keep:.0%} of the tokens kept", given.keep),)
    share, words = _layer_share(model, given.layers)
    return WireCut(share, (), share), (words,)


def fewest_bits(technique: Technique, given: Given) -> int:
    """Bits in which it keeps the elements of the token that it keeps worst; 16 where its entry names no format."""
    if technique.change.kind == "format":
        return parse_kv_dtype(technique.change.kv_dtype or "").element_bits
    if technique.change.kind == "mix":
        _, first, rest = given.mix
        return min(rest.element_bits, *(encoding.element_bits for _, encoding in first), 16)
    if technique.change.kind == "tiers":
        tiers = tiers_at(_exact(_budget(given)))
        return min(bits for bits, share in zip((16, 8, 4), tiers, strict=True) if share)
    return 16


def _budget(given: Given) -> float:
    return 0.5 if given.budget is None else given.budget


def _what_if(words: str, given: Any) -> str:
    return words if given is not None else f"what-if: {words}"


def _exact(share: float) -> Fraction:
    """The ratio that a person meant: 0.29 is 29/100, and 0.2020... is 20/99."""
    return Fraction(share).limit_denominator(10**6)


def _head_dim(model: Model) -> int:
    return next(group.layer.k_dim for group in model.groups if isinstance(group.layer, FullAttention | SlidingWindow | Chunked))


def _encoded(encoding: Encoding, head_dim: int) -> Fraction:
    return format_share(encoding.element_bits, encoding.scale_bits, encoding.group_elements or head_dim)


def check_layers_given(models: Sequence[Model], given: Given) -> None:
    """Raises KvcostError where the layers to send are those of none of the models."""
    errors = []
    for model in models:
        try:
            _layer_share(model, given.layers)
        except KvcostError as error:
            errors.append(error)
    if errors and len(errors) == len(models):
        raise errors[0]


def _layer_share(model: Model, given: tuple[int, int | None] | float | None) -> tuple[Fraction, str]:
    layers = sum(group.layers for group in model.groups if not isinstance(group.layer, Indexer))
    if isinstance(given, tuple):
        sent, whole = given
        if layers < (sent if whole is None else whole) or whole not in (None, layers):
            hint = f"write 1 to {layers}, such as {max(1, layers // 2)}/{layers}, or a share such as 50%"
            raise KvcostError(f"{model.name} has {layers} layers, not {sent if whole is None else whole}", hint=hint)
        return layers_share(sent, layers), f"{sent} of {layers} layers"
    share = _exact(0.5 if given is None else given)
    return share, _what_if(f"{float(share):.0%} of the layers", given)
