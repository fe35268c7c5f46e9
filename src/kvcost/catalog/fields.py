"""What every catalog entry is made of: quantities as text with a unit, and who says so."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from ..cost.dtypes import parse_kv_dtype
from ..errors import KvcostError
from ..units.parse import parse_rate, parse_size, parse_time
from .strict_yaml import looks_like_float

__all__ = ["Count", "Dimension", "Entry", "KvDtype", "Params", "Rate", "Size", "Strict", "Time", "quantity"]

Confidence = Literal["spec", "measured", "estimate"]
Count = Annotated[int, Field(ge=1, le=10**9)]
Dimension = Annotated[int, Field(ge=1, le=10**7)]
Params = Annotated[int, Field(ge=0, le=10**15)]


def quantity(parse: Callable[[str], float], example: str) -> BeforeValidator:
    """Reads text with a unit; refuses a bare number, which YAML would read as something else."""

    def read(value: Any) -> Any:
        if not isinstance(value, str):
            raise ValueError(f"needs text with a unit, such as {example}")
        if looks_like_float(value):
            raise ValueError(f"'{value}' has no unit (YAML reads it as text); write it with one, such as {example}")
        try:
            return parse(value)
        except KvcostError as error:
            raise ValueError(f"{error.message}; {error.hint}") from None

    return BeforeValidator(read)


def _kv_dtype(value: str) -> str:
    if value != "auto":
        try:
            parse_kv_dtype(value)
        except KvcostError as error:
            raise ValueError(f"{error.message}; {error.hint}") from None
    return value


Rate = Annotated[float, quantity(parse_rate, "450GB/s"), Field(gt=0), WithJsonSchema({"type": "string", "examples": ["450GB/s", "100Gbps"]})]
Time = Annotated[float, quantity(parse_time, "0.6ms"), Field(ge=0), WithJsonSchema({"type": "string", "examples": ["0.6ms", "1us"]})]
Size = Annotated[int, quantity(parse_size, "80GB"), Field(gt=0), WithJsonSchema({"type": "string", "examples": ["80GB"]})]
KvDtype = Annotated[str, BeforeValidator(_kv_dtype)]


class Strict(BaseModel):
    """Strict, closed and frozen."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class Entry(Strict):
    """What every entry says: a title, other names, and where its figures come from."""

    title: str
    aliases: list[str] = []
    source: str
    confidence: Confidence
    checked: Annotated[dt.date, Field(strict=False)]
    note: str = ""
