"""How one cached element is stored: bits, and the scales that a quantised format carries."""

from typing import NamedTuple

from ..errors import KvcostError

__all__ = ["DTYPE_NAMES", "Encoding", "parse_kv_dtype"]


class Encoding(NamedTuple):
    """A storage format of the KV cache.

    element_bits    bits per cached element
    scale_bits      bits of scale (and zero point) stored per group
    group_elements  elements that share a scale; 0 = one group per token and head
    rope_bits       bits of an MLA latent's rotary part where it is stored apart; 0 = like the rest
    residual_tokens newest tokens kept at 16 bit
    latent_only     the format exists for MLA latents alone
    whole_bytes     rows are whole bytes; False for a search over real numbers of bits
    """

    name: str
    element_bits: int
    scale_bits: int = 0
    group_elements: int = 0
    rope_bits: int = 0
    residual_tokens: int = 0
    latent_only: bool = False
    source: str = "definition"
    whole_bytes: bool = True


_FORMATS = {
    "bf16": Encoding("bf16", 16),
    "fp16": Encoding("fp16", 16),
    # One static scale per tensor or head (2 x layers x heads x 4 B for a whole model): not per token.
    "fp8": Encoding("fp8", 8, source="vLLM quantized KV cache documentation: static scales"),
    "fp8_ds_mla": Encoding("fp8_ds_mla", 8, 32, 128, rope_bits=16, latent_only=True, source="vLLM: 512 fp8 + 4 fp32 scales + 64 bf16 rope = 656 B a row"),
    "nvfp4_ds_mla": Encoding("nvfp4_ds_mla", 4, 8, 16, rope_bits=8, latent_only=True, source="vLLM: 352 B a row"),
    "int8": Encoding("int8", 8, 16, source="one 16-bit scale per token and head"),
    "nvfp4": Encoding("nvfp4", 4, 8, 16, source="one fp8 scale per 16 elements: 4.5 bit"),
    "kivi2": Encoding("kivi2", 2, 32, 32, residual_tokens=128, source="KIVI (arXiv 2402.02750): group 32, scale and zero, 128 newest tokens at 16 bit"),
}
_ALIASES = {"bfloat16": "bf16", "float16": "fp16", "half": "fp16", "fp8_e4m3": "fp8", "fp8_e5m2": "fp8", "float8_e4m3fn": "fp8", "kivi_2bit": "kivi2"}
DTYPE_NAMES = ("auto", *_FORMATS, "int4:gN", "int4:gN:zero")
_HINT = "write one of " + " ".join(DTYPE_NAMES) + " (N = group size, such as 64)"


def parse_kv_dtype(name: str) -> Encoding:
    """The storage format that a KV dtype's name stands for.

    Bits per element: 16; fp8 8; int8 8 + 16/d; int4:gN 4 + 16/N (+ 16/N with :zero); nvfp4 4.5.

    >>> parse_kv_dtype("int4:g64:zero")[:4]
    ('int4:g64:zero', 4, 32, 64)

    Hyphens stand for the underscores and colons of a name: fp8-ds-mla, int4-g64.

    Raises KvcostError for a name that is not known (`auto` is resolved by the model, not here).
    """
    key = name.strip().lower()
    key = key.replace("-", ":" if key.startswith("int4") else "_")
    key = _ALIASES.get(key, key)
    if key in _FORMATS:
        return _FORMATS[key]
    parts = key.split(":")
    if parts[0] == "int4" and len(parts) in (2, 3) and parts[1][:1] == "g" and parts[1][1:].isdecimal() and parts[2:] in ([], ["zero"]):
        group = int(parts[1][1:])
        if 2 <= group <= 4096:
            return Encoding(key, 4, 32 if parts[2:] else 16, group, source="16-bit scale (and zero point) per group")
    raise KvcostError(f"unknown KV dtype '{name}'", hint=_HINT)
