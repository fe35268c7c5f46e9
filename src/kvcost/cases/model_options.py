"""The models of a question: by name, with the recurrent state and the encoder length that the user gives; and what to beware of in them."""

from collections.abc import Sequence
from itertools import product

from ..cost.layers import CrossAttention, Recurrent, with_encoder_tokens, with_state_bits
from ..cost.model import Model
from ..errors import Notice
from .reading import Options, Reader

__all__ = ["model_notices", "models_of"]


def models_of(reader: Reader, options: Options) -> list[Model]:
    """The models, their recurrent state and encoder length as the user says."""
    found = []
    for given, bits, encoder_tokens in product(
        reader.values("model", options["model"]),
        reader.values("state_dtype", options.get("state_dtype", ())),
        reader.values("encoder_tokens", options.get("encoder_tokens", ())),
    ):
        model, notes = given, list(given.notes)
        if bits is not None:
            notes += _without_effect(model, Recurrent, "--state-dtype", "recurrent state")
            model = model._replace(groups=with_state_bits(model.groups, bits))
        if encoder_tokens is not None:
            notes += _without_effect(model, CrossAttention, "--encoder-tokens", "attention to an encoder's output")
            model = model._replace(groups=with_encoder_tokens(model.groups, encoder_tokens))
        found.append(model._replace(notes=tuple(notes)))
    return found


def _without_effect(model: Model, layer: type, option: str, what: str) -> list[Notice]:
    """A notice where an option speaks of layers that the model does not have."""
    if any(isinstance(group.layer, layer) for group in model.groups):
        return []
    return [Notice("without-effect", f"it has no {what}, so {option} changes nothing", "leave it out")]


def model_notices(models: Sequence[Model], longest: int) -> list[Notice]:
    """What was assumed of each model, and one warning per model whose context limit `longest` exceeds."""
    found: dict[str, Notice] = {}
    for model in models:
        for note in model.notes:
            found[f"{model.name} {note.code} {note.message}"] = note._replace(message=f"{model.name}: {note.message}")
        limit = model.context_limit_tokens
        if limit is not None and longest > limit:
            found[model.name] = Notice(
                "ctx-beyond-limit",
                f"{longest:,} tokens exceed the context limit of {model.name} ({limit:,})",
                "the bytes are what such a request would hold if the engine accepted it",
            )
    return list(found.values())
