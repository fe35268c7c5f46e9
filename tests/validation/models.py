"""The models of the reference data: from the catalog, or written out where it has none."""

from __future__ import annotations

from kvcost.catalog.store import Catalog
from kvcost.cost.layers import FullAttention, LayerGroup
from kvcost.cost.model import Experts, Model
from kvcost.errors import KvcostError

CATALOG = Catalog()

_LITERAL = {
    "Qwen/Qwen3-8B": Model("qwen3-8b", "Qwen3 8B", (LayerGroup(36, FullAttention(8, 128, 128)),), 32, 128, 4096, "bf16",
                           params_total=8190735360, params_active=8190735360, params_input_embedding=622329856, vocab_size=151936),
    "Qwen/Qwen3-30B-A3B": Model("qwen3-30b-a3b", "Qwen3 30B-A3B", (LayerGroup(48, FullAttention(4, 128, 128)),), 32, 128, 2048, "bf16",
                                params_total=30532122624, params_active=3353032704, params_input_embedding=311164928, vocab_size=151936,
                                experts=Experts(128, 8, 28991029248)),
    "bloom-176b": Model("bloom-176b", "BLOOM 176B", (LayerGroup(70, FullAttention(112, 128, 128)),), 112, 128, 14336, "fp16",
                        params_total=176247271424, params_active=176247271424, params_input_embedding=3596615680, tied_embeddings=True, vocab_size=250880),
}  # fmt: skip


def model_named(name: str) -> Model:
    """The model that a row of the reference data names."""
    try:
        return CATALOG.model(name)
    except KvcostError:
        return _LITERAL[name]
