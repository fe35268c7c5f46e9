"""Typed access to the fields of one config object: every read is checked, remembered and, where it fails, named."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ...errors import KvcostError
from .defaults import class_defaults

__all__ = ["MAX_LAYERS", "Fields", "shown", "words"]

MAX_LAYERS = 4096
# Above every real size of a layer, a vocabulary or a window; what is larger is a slip of the pen.
_MOST = 2**24

# Classes that know no head_dim of their own: hidden / heads is the rule there, not an assumption.
_DERIVED = (
    "llama qwen qwen2 qwen2_moe qwen2_vl_text qwen2_5_vl_text qwen2_5_omni_text mimo phi phi-msft phi3 phi3_v phi4mm phi4_multimodal gpt2 gpt-sw3 gptj "
    "gpt_neox gpt_neo gpt_bigcode codegen opt bloom falcon mpt dbrx starcoder2 internlm internlm2 baichuan granite granitemoe granitemoehybrid "
    "granitemoeshared olmo olmo2 olmo3 olmoe stablelm stablelm_epoch cohere mixtral jamba bamba persimmon biogpt xglm jais deepseek deepseek_v2 lfm2 "
    "lfm2_moe minicpm orion xverse yi aquila skywork telechat2 mllama_text_model exaone exaone4 apertus t5 plamo2 deci decilm nemotron-nas grok-1 solar "
    "hunyuan hunyuan_v1_dense hunyuan_v1_moe phimoe arctic glm4v_text"
)


def words(text: str) -> frozenset[str]:
    """Names written in one string, as a set."""
    return frozenset(text.split())


def shown(value: object) -> str:
    """A value as an error quotes it, cut to a readable length."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


class Fields:
    """The fields of a config (or of its nested text config).

    `kind` is the model_type whose class fills in what the file leaves out; `assumed` collects those
    fillings, `read` the names that a reader has looked at.
    """

    def __init__(self, values: Mapping[str, Any], kind: str, *, inside: str = "", defaults: Mapping[str, int] | None = None) -> None:
        self.values = values
        self.kind = kind
        self.inside = inside
        self.defaults = class_defaults(kind) if defaults is None else defaults
        self.assumed: dict[str, str] = {}
        self.read: set[str] = set()
        self.notes: list[tuple[str, str, str]] = []

    def note(self, code: str, message: str, hint: str) -> None:
        """Adds an assumption to what the reader reports."""
        if (code, message, hint) not in self.notes:
            self.notes.append((code, message, hint))

    def fail(self, name: str, problem: str, hint: str) -> KvcostError:
        """The error for one field."""
        return KvcostError(f"{self.inside}{name} {problem}", hint=hint)

    def has(self, name: str) -> bool:
        """Whether the file gives the field a value (null is none)."""
        self.read.add(name)
        return self.values.get(name) is not None

    def skip(self, *prefixes: str) -> None:
        """Marks fields as known that this file's layer map leaves without a use."""
        self.read.update(name for name in self.values if isinstance(name, str) and name.startswith(prefixes))

    def raw(self, name: str) -> Any:
        """The value as it stands, None where it is missing or null."""
        self.read.add(name)
        return self.values.get(name)

    def first(self, *names: str) -> str | None:
        """The first of several names for one thing that has a value."""
        self.read.update(names)
        return next((name for name in names if self.values.get(name) is not None), None)

    def number(self, name: str, value: object, least: int, most: int = _MOST) -> int:
        """A whole number in its range, or an error that names the field."""
        if isinstance(value, float) and math.isfinite(value) and value == int(value):
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.fail(name, f"is not a whole number: {shown(value)}", f"write a number such as {max(least, 1)}")
        if not least <= value <= most:
            raise self.fail(name, f"is out of range: {shown(value)}", f"a value from {least} to {most} is possible here")
        return value

    def maybe(self, *names: str, least: int = 1, most: int = _MOST) -> int | None:
        """The first of `names` that has a value, or what the class fills in, else None."""
        name = self.first(*names)
        if name is not None:
            return self.number(name, self.values[name], least, most)
        if names[0] in self.defaults and not any(name in self.values for name in names):
            self.assumed[names[0]] = str(self.defaults[names[0]])
            return self.defaults[names[0]]
        return None

    def count(self, *names: str, least: int = 1, most: int = _MOST) -> int:
        """As `maybe`, for a field without which nothing can be computed."""
        value = self.maybe(*names, least=least, most=most)
        if value is None:
            null = any(name in self.values for name in names)
            listed = names[0] + (f" (or {', '.join(names[1:4])})" if names[1:] else "")
            raise self.fail(listed, "is null" if null else "is missing", f"add {names[0]}: the class of model_type '{self.kind}' gives no value for it")
        return value

    def given(self, *names: str, least: int = 0, most: int = _MOST) -> int | None:
        """The first of `names` that the file itself gives; class defaults do not count."""
        name = self.first(*names)
        return None if name is None else self.number(name, self.values[name], least, most)

    def flag(self, name: str, default: bool = False) -> bool:
        """True or false."""
        value = self.raw(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.fail(name, f"is neither true nor false: {shown(value)}", "write true or false")
        return value

    def text(self, name: str) -> str | None:
        """A string, None where it is missing."""
        value = self.raw(name)
        if value is not None and not isinstance(value, str):
            raise self.fail(name, f"is not a string: {shown(value)}", "write a string in quotes")
        return value

    def _listed(self, name: str, length: int | None) -> Sequence[Any] | None:
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, list | tuple):
            raise self.fail(name, f"is not a list: {shown(value)}", "write a list with one entry per layer")
        if length is not None and len(value) == length + self._draft_layers():
            value = value[:length]
        if length is not None and len(value) != length:
            raise self.fail(name, f"has {len(value)} entries for {length} layers", "give one entry per layer, or mend the layer count")
        if len(value) > MAX_LAYERS:
            raise self.fail(name, f"has {len(value)} entries", f"at most {MAX_LAYERS} are possible")
        return value

    def _draft_layers(self) -> int:
        """Layers of multi-token prediction, which some files list after the others; they are not served as such."""
        for name in ("num_nextn_predict_layers", "mtp_num_hidden_layers", "num_mtp_modules"):
            value = self.values.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value > 0:
                return value
        return 0

    def words(self, name: str, length: int | None = None) -> tuple[str, ...] | None:
        """A list of strings, one per layer where `length` is given."""
        value = self._listed(name, length)
        if value is None:
            return None
        for entry in value:
            if not isinstance(entry, str):
                raise self.fail(name, f"holds something that is not a string: {shown(entry)}", "write a list of strings")
        return tuple(value)

    def numbers(self, name: str, length: int | None = None, *, least: int = 0) -> tuple[int, ...] | None:
        """A list of whole numbers, one per layer where `length` is given."""
        value = self._listed(name, length)
        return None if value is None else tuple(self.number(f"{name}[{i}]", entry, least, _MOST) for i, entry in enumerate(value))

    def table(self, name: str) -> Fields | None:
        """A nested object; its reads count as reads of this field."""
        value = self.raw(name)
        if value is None:
            return None
        if not isinstance(value, Mapping):
            raise self.fail(name, f"is not an object: {shown(value)}", "write an object in braces")
        return Fields(value, self.kind, inside=f"{self.inside}{name}.", defaults={})

    def layers(self, *names: str) -> int:
        """The layer count."""
        return self.count("num_hidden_layers", "n_layer", "n_layers", "num_layers", *names, most=MAX_LAYERS)

    def hidden(self) -> int:
        """The width of the residual stream."""
        return self.count("hidden_size", "n_embd", "n_embed", "d_model", "model_dim", "dim", most=2**20)

    def heads(self) -> int:
        """Query heads."""
        return self.count("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads", most=2**16)

    def per_head(self, hidden: int, heads: int) -> int:
        """Head width: explicit, else the class's, else hidden / heads, which must come out even."""
        explicit = self.maybe("head_dim", "kv_channels", "attention_head_dim", "d_kv", "hidden_size_per_head", most=2**16)
        if explicit is not None:
            return explicit
        if hidden % heads:
            raise self.fail("num_attention_heads", f"does not divide the hidden size: {hidden} / {heads}", "mend one of the two, or add head_dim")
        if self.kind not in words(_DERIVED):
            self.assumed["head_dim"] = f"hidden_size / num_attention_heads = {hidden // heads}"
        return hidden // heads
