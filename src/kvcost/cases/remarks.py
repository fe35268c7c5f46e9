"""What is said of a technique for the model at hand: the published effect nearest to it, and where it is known to fail."""

from __future__ import annotations

from collections.abc import Sequence

from ..catalog.names import normalise, without_variant
from ..cost.layers import CrossAttention, FullAttention, Indexer, MlaLatent, Recurrent, SlidingWindow
from ..cost.model import Model
from ..cost.technique import Caution, Published, Technique
from .changes import Setting
from .codecs import Given, fewest_bits

__all__ = ["caution_of", "quality_of"]

_LAYERS = {"heads": FullAttention, "window": SlidingWindow, "mla": MlaLatent, "dense-mla": MlaLatent, "recurrent": Recurrent}


def _speaks_of(names: Sequence[str], model: Model) -> bool:
    """Whether one of the names is the model's id or its beginning: mistral-7b speaks of mistral-7b-v0.3."""
    words = {normalise(model.name), normalise(without_variant(model.name))}
    return any(word == key or (word.startswith(key) and not word[len(key)].isdigit()) for word in words for key in map(normalise, names))


def _text(found: Published) -> str:
    where = [f"{found.length:,} tokens"] if found.length else []
    return f"{found.effect} ({', '.join([*where, found.source])})"


def quality_of(technique: Technique, setting: Setting, *, of_others: bool = True) -> str:
    """The published effect: of this model at the nearest length, else in general and (`of_others`) of other models, by name."""
    own = [item for item in technique.published if _speaks_of(item.models, setting.work.model)]
    if own:
        return _text(min(own, key=lambda item: abs((item.length or setting.ctx) - setting.ctx)))
    others = [f"{', '.join(item.models)} {_text(item)}" for item in technique.published if of_others]
    return f"{technique.quality}; of other models: {'; '.join(others)}" if others else technique.quality


def caution_of(technique: Technique, setting: Setting, given: Given) -> str:
    """Every caution whose conditions all hold for this model, length, overlap and number of bits; "" where none does."""
    bits = fewest_bits(technique, given)
    return "; ".join(f"{item.text} ({item.source})" for item in technique.cautions if _holds(item, setting, bits))


def _holds(caution: Caution, setting: Setting, bits: int) -> bool:
    model = setting.work.model
    dims = [group.layer.k_dim for group in model.groups if isinstance(group.layer, FullAttention | SlidingWindow | CrossAttention)]
    return (
        (not caution.models or _speaks_of(caution.models, model))
        and (caution.min_tokens is None or setting.ctx >= caution.min_tokens)
        and (caution.min_head_dim is None or max(dims, default=0) >= caution.min_head_dim)
        and (caution.layers is None or any(isinstance(group.layer, _LAYERS[caution.layers]) for group in model.groups))
        and not (caution.layers == "dense-mla" and any(isinstance(group.layer, Indexer) for group in model.groups))
        and (caution.below_bits is None or bits < caution.below_bits)
        and (caution.overlap is None or setting.path.overlap == caution.overlap)
    )
