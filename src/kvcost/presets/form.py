"""The form of a preset for pydantic: strict, closed and frozen, so that a typo is an error and not a default.

Loaded to say what is wrong with a preset, and for the JSON Schema; a preset that is right is read without it.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, create_model

from .keys import READ, SECTIONS, TEXTS, TITLES

__all__ = ["Preset"]


class _Closed(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def _link(value: object) -> object:
    """A plain word is the link's name."""
    return value if isinstance(value, dict) else {"name": value}


def _values(section: str) -> dict[str, Any]:
    """The fields of a section."""
    return {name: (Annotated[str, BeforeValidator(READ[key.kind])] | None, Field(None, description=key.meaning)) for name, key in SECTIONS[section].items()}


def _section(name: str) -> Any:
    form = create_model(name.title(), __base__=_Closed, **_values(name))
    return (Annotated[form, BeforeValidator(_link)] if name == "link" else form) | None


_TEXTS: dict[str, Any] = {"extends": str | list[str] | None, "note": str | None, "limits": dict[str, Any] | None}
_FIELDS: dict[str, Any] = {
    **{name: (_TEXTS[name], Field(None, description=meaning)) for name, meaning in TEXTS.items()},
    **_values(""),
    **{name: (_section(name), Field(None, description=title)) for name, title in TITLES.items()},
}
Preset = create_model("Preset", __base__=_Closed, __doc__="A deployment, its load, and the limits that `kvcost check` holds it to.", **_FIELDS)
