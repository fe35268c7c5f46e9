"""The names in limits on words, as the output spells them: `gpu: h100` asks for `h100_sxm`."""

from __future__ import annotations

from typing import Any

from ..cases.reading import Reader
from ..catalog.names import normalise
from ..cost.dtypes import parse_kv_dtype
from ..cost.gpu import WEIGHT_DTYPES
from ..errors import KvcostError
from .limits import Bound

__all__ = ["named"]

_NAMED = ("model", "link", "engine", "gpu", "kv_dtype", "weight_dtype")
# Between the hops of a path, and between the GPUs of two pools.
JOINT = "+"


def named(bound: Bound, reader: Reader, values: dict[str, Any]) -> Bound:
    """The bound with every alias of a catalog entry or dtype resolved; what the deployment itself is called is left as it is.

    Raises KvcostError, at the bound's place, for a name that stands for nothing.
    """
    if bound.field not in _NAMED or not isinstance(bound.value, tuple):
        return bound
    own = str(values[bound.field])
    try:
        return bound._replace(value=tuple(_resolved(bound.field, word, own, reader) for word in bound.value))
    except KvcostError as error:
        raise KvcostError(f"limit on {bound.field}: {error.message}", hint=error.hint, where=str(bound.limit.place)) from None


def _resolved(field: str, word: str, own: str, reader: Reader) -> str:
    if normalise(word) == normalise(own):
        return own
    return JOINT.join(_name(field, part.strip(), reader) for part in word.split(JOINT))


def _name(field: str, word: str, reader: Reader) -> str:
    if field == "weight_dtype" and word.lower() in WEIGHT_DTYPES:
        return word.lower()
    if field in ("kv_dtype", "weight_dtype"):
        return parse_kv_dtype(word).name
    (found,) = reader.values(field, [word])
    return str(found.name)
