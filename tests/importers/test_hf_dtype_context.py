"""The dtype of the cache, and the longest prompt."""

import pytest
from looks import look

from kvcost.errors import KvcostError
from kvcost.importers.hf_config import read_hf_config


def read(name, **changes):
    return read_hf_config(look(name, **changes), name=name)


def codes(imported):
    return {warning.code for warning in imported.warnings}


def test_fp32_and_missing_dtypes_are_served_at_16_bit_and_said_so():
    fp32, missing = read("llama", torch_dtype="float32"), read("llama", torch_dtype=...)
    assert (fp32.model.dtype, missing.model.dtype, read("gpt2").model.dtype) == ("bf16", "bf16", "fp16")
    assert codes(fp32) == {"dtype-16-bit"}
    assert codes(missing) == {"dtype-missing"}


@pytest.mark.parametrize(
    ("quantization", "beside", "expected"),
    [
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, None, "auto"),
        ({"quant_method": "compressed-tensors", "kv_cache_scheme": {"num_bits": 8, "type": "float"}}, None, "fp8"),
        ({"quant_method": "compressed-tensors", "kv_cache_scheme": None}, None, "auto"),
        (None, {"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8"}}, "fp8"),
        (None, {"quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": None}}, "auto"),
        ({"quant_method": "modelopt", "kv_cache_scheme": {"num_bits": 8, "type": "int"}}, {"quantization": {"kv_cache_quant_algo": "FP8"}}, "int8"),
        ({"quant_method": "mxfp4"}, None, "auto"),
    ],
)
def test_kv_dtype_comes_from_the_scheme_never_from_the_weights(quantization, beside, expected):
    assert read_hf_config(look("llama", quantization_config=quantization), name="x", hf_quant=beside).model.kv_dtype == expected


@pytest.mark.parametrize("quantization", [5, {"kv_cache_scheme": 8}, {"kv_cache_scheme": {"num_bits": 3}}, {"kv_cache_scheme": {"num_bits": 8, "type": []}}])
def test_an_unknown_kv_scheme_is_refused(quantization):
    with pytest.raises(KvcostError, match="quantization_config"):
        read("llama", quantization_config=quantization)


@pytest.mark.parametrize(
    ("scaling", "limit"),
    [
        (None, 8192),
        ({"type": "linear", "factor": 4.0}, 32768),
        ({"rope_type": "dynamic", "factor": 2}, 16384),
        ({"rope_type": "llama3", "factor": 8.0}, 8192),
        ({"type": "yarn", "factor": 40}, 8192),
        ({"type": "mrope", "mrope_section": [1, 2, 3]}, 8192),
    ],
)
def test_context_limit(scaling, limit):
    assert read("llama", rope_scaling=scaling).model.context_limit_tokens == limit


def test_context_limits_by_other_names():
    assert read("gpt2").model.context_limit_tokens == 1024
    assert read("bloom").model.context_limit_tokens == 2048
    assert read("openelm").model.context_limit_tokens == 2048
    assert read("whisper").model.context_limit_tokens == 448
    assert read("mamba").model.context_limit_tokens is None
    gemma = look("gemma3")
    gemma["text_config"]["rope_scaling"] = {"rope_type": "linear", "factor": 8.0}
    assert read_hf_config(gemma, name="x").model.context_limit_tokens == 8192
    assert "longrope" in codes(read("llama", rope_scaling={"type": "longrope", "long_factor": [1.0]}))
