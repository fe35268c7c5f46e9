"""Small configs in the manner of every family: the fields that real files have, sizes of our own."""

from __future__ import annotations

import copy
from typing import Any

LLAMA: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "num_hidden_layers": 12,
    "hidden_size": 768,
    "intermediate_size": 2048,
    "num_attention_heads": 12,
    "num_key_value_heads": 4,
    "max_position_embeddings": 8192,
    "vocab_size": 32000,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}
MLA: dict[str, Any] = LLAMA | {
    "model_type": "deepseek_v3",
    "num_key_value_heads": 12,
    "kv_lora_rank": 128,
    "q_lora_rank": 256,
    "qk_rope_head_dim": 32,
    "qk_nope_head_dim": 64,
    "v_head_dim": 64,
    "n_routed_experts": 16,
    "n_shared_experts": 1,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 256,
    "first_k_dense_replace": 2,
}
MOE = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 512}
DELTA = {
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 64,
    "linear_value_head_dim": 64,
    "linear_num_key_heads": 4,
    "linear_num_value_heads": 8,
}
MAMBA2 = {
    "mamba_n_heads": 24,
    "mamba_d_head": 64,
    "mamba_n_groups": 1,
    "mamba_d_state": 32,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
}

LOOKS: dict[str, dict[str, Any]] = {
    "llama": LLAMA,
    "qwen2-window-off": LLAMA | {"model_type": "qwen2", "sliding_window": 1024, "use_sliding_window": False, "max_window_layers": 6},
    "qwen2-window-on": LLAMA | {"model_type": "qwen2", "sliding_window": 1024, "use_sliding_window": True, "max_window_layers": 6},
    "qwen3-moe": LLAMA | MOE | {"model_type": "qwen3_moe", "head_dim": 128, "decoder_sparse_step": 1, "mlp_only_layers": []},
    "mistral": LLAMA | {"model_type": "mistral", "sliding_window": 1024},
    "mistral-null": LLAMA | {"model_type": "mistral", "sliding_window": None, "head_dim": 96},
    "gpt2": {"model_type": "gpt2", "n_layer": 6, "n_head": 8, "n_embd": 512, "n_positions": 1024, "vocab_size": 5000, "torch_dtype": "float16"},
    "bloom": {"model_type": "bloom", "n_layer": 6, "num_attention_heads": 8, "n_embed": 512, "seq_length": 2048, "vocab_size": 5000, "torch_dtype": "float16"},
    "falcon-mqa": {"model_type": "falcon", "num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8, "num_kv_heads": 8, "multi_query": True}
    | {"new_decoder_architecture": False, "vocab_size": 5000, "torch_dtype": "bfloat16"},
    "falcon-new": {"model_type": "falcon", "num_hidden_layers": 4, "hidden_size": 512, "num_attention_heads": 8, "num_kv_heads": 2, "multi_query": True}
    | {"new_decoder_architecture": True, "vocab_size": 5000, "torch_dtype": "bfloat16"},
    "refinedweb": {"model_type": "RefinedWeb", "n_layer": 4, "hidden_size": 512, "n_head": 8, "n_head_kv": 2, "vocab_size": 5000, "torch_dtype": "bfloat16"},
    "bigcode": {"model_type": "gpt_bigcode", "n_layer": 4, "n_embd": 512, "n_head": 8, "multi_query": True, "n_positions": 2048, "vocab_size": 5000}
    | {"torch_dtype": "float32"},
    "chatglm": {"model_type": "chatglm", "num_layers": 4, "hidden_size": 512, "num_attention_heads": 8, "kv_channels": 64, "multi_query_attention": True}
    | {"multi_query_group_num": 2, "seq_length": 8192, "padded_vocab_size": 5000, "ffn_hidden_size": 1024, "torch_dtype": "float16"},
    "mpt": {"model_type": "mpt", "n_layers": 4, "d_model": 512, "n_heads": 8, "max_seq_len": 2048, "vocab_size": 5000, "torch_dtype": "bfloat16"},
    "dbrx": {"model_type": "dbrx", "n_layers": 4, "d_model": 512, "n_heads": 8, "max_seq_len": 2048, "vocab_size": 5000, "torch_dtype": "bfloat16"}
    | {"attn_config": {"kv_n_heads": 2}, "ffn_config": {"ffn_hidden_size": 1024, "moe_num_experts": 4, "moe_top_k": 2}},
    "deepseek": MLA,
    "deepseek-dsa": MLA | {"model_type": "deepseek_v32", "index_head_dim": 128, "index_n_heads": 4, "index_topk": 256},
    "glm-dsa-shared": MLA
    | {"model_type": "glm_moe_dsa", "index_head_dim": 128, "index_n_heads": 4, "index_topk": 256, "index_topk_freq": 4, "index_skip_topk_offset": 3},
    "deepseek-vl-tiny": {"model_type": "deepseek_vl_v2", "torch_dtype": "bfloat16"}
    | {
        "language_config": MLA
        | {"model_type": "deepseek_v2", "kv_lora_rank": None, "use_mla": False, "qk_nope_head_dim": 0, "qk_rope_head_dim": 0, "v_head_dim": 0}
    },
    "longcat": {name: value for name, value in MLA.items() if name not in ("num_hidden_layers", "intermediate_size", "first_k_dense_replace")}
    | {"model_type": "longcat_flash", "num_layers": 6, "ffn_hidden_size": 1024, "expert_ffn_hidden_size": 256, "moe_topk": 4, "zero_expert_num": 8},
    "gemma2": LLAMA | {"model_type": "gemma2", "head_dim": 128, "sliding_window": 1024},
    "gemma3": {"model_type": "gemma3", "torch_dtype": "bfloat16"}
    | {"text_config": {k: v for k, v in LLAMA.items() if k != "architectures"} | {"model_type": "gemma3_text", "head_dim": 128, "sliding_window": 512}},
    "gemma3n": LLAMA
    | {
        "model_type": "gemma3n_text",
        "num_hidden_layers": 10,
        "num_kv_shared_layers": 5,
        "head_dim": 64,
        "sliding_window": 512,
        "vocab_size_per_layer_input": 1000,
    },
    "gemma4": LLAMA
    | {"model_type": "gemma4_text", "head_dim": 64, "global_head_dim": 128, "num_global_key_value_heads": 2, "attention_k_eq_v": True, "sliding_window": 512}
    | {"hidden_size_per_layer_input": 0, "num_kv_shared_layers": 0},
    "gpt-oss": LLAMA | {"model_type": "gpt_oss", "head_dim": 64, "sliding_window": 128, "num_local_experts": 8, "num_experts_per_tok": 2},
    "cohere2": LLAMA | {"model_type": "cohere2", "head_dim": 64, "sliding_window": 1024, "sliding_window_pattern": 4},
    "exaone4": LLAMA | {"model_type": "exaone4", "sliding_window": 1024, "sliding_window_pattern": "LLLG"},
    "olmo3": LLAMA | {"model_type": "olmo3", "sliding_window": 1024, "layer_types": (["sliding_attention"] * 3 + ["full_attention"]) * 3},
    "llama4": {"model_type": "llama4"}
    | {"text_config": LLAMA | {"model_type": "llama4_text", "head_dim": 64, "attention_chunk_size": 1024, "num_local_experts": 4, "num_experts_per_tok": 1}},
    "mimo": LLAMA
    | {"model_type": "mimo_v2_flash", "head_dim": 96, "v_head_dim": 64, "swa_num_key_value_heads": 6, "swa_num_attention_heads": 12, "swa_head_dim": 96}
    | {"swa_v_head_dim": 64, "sliding_window": 128, "hybrid_layer_pattern": [0, 1, 1, 1, 1, 1] * 2},
    "step": LLAMA
    | {
        "model_type": "step3p5",
        "num_attention_groups": 4,
        "head_dim": 64,
        "sliding_window": 512,
        "layer_types": ["full_attention"] * 3 + ["sliding_attention"] * 9,
    }
    | {"attention_other_setting": {"attention_type": "sliding_attention", "num_attention_heads": 16, "num_attention_groups": 4, "head_dim": 64}},
    "hunyuan-cla": LLAMA | {"model_type": "hunyuan", "use_cla": True, "cla_share_factor": 2},
    "jamba": LLAMA
    | {"model_type": "jamba", "attn_layer_period": 4, "attn_layer_offset": 2, "mamba_d_state": 16, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_dt_rank": 48}
    | {"num_experts": 4, "num_experts_per_tok": 2, "expert_layer_period": 2, "expert_layer_offset": 1},
    "bamba": LLAMA | MAMBA2 | {"model_type": "bamba", "attn_layer_indices": [3, 9]},
    "granite-h": LLAMA
    | MAMBA2
    | {
        "model_type": "granitemoehybrid",
        "layer_types": ["mamba"] * 5 + ["attention"] + ["mamba"] * 6,
        "num_local_experts": 0,
        "shared_intermediate_size": 2048,
    },
    "falcon-h1": LLAMA | MAMBA2 | {"model_type": "falcon_h1", "mamba_d_ssm": 1536, "head_dim": 64},
    "zamba2": LLAMA
    | {"model_type": "zamba2", "num_key_value_heads": 12, "mamba_d_state": 32, "mamba_d_conv": 4, "mamba_expand": 2, "mamba_ngroups": 1, "n_mamba_heads": 24}
    | {"layers_block_type": (["mamba"] * 5 + ["hybrid"]) * 2, "adapter_rank": 16},
    "nemotron-h": LLAMA
    | {"model_type": "nemotron_h", "hybrid_override_pattern": "M-M-M*-M-ME*", "mamba_num_heads": 16, "mamba_head_dim": 64, "n_groups": 4, "head_dim": 64}
    | {"conv_kernel": 4, "ssm_state_size": 32, "n_routed_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 256},
    "qwen3-next": LLAMA | DELTA | MOE | {"model_type": "qwen3_next", "head_dim": 64, "full_attention_interval": 4},
    "qwen3.5": {"model_type": "qwen3_5"}
    | {"text_config": LLAMA | DELTA | {"model_type": "qwen3_5_text", "head_dim": 64, "mamba_ssm_dtype": "float32", "full_attention_interval": 4}},
    "minimax": LLAMA | {"model_type": "minimax_text_01", "head_dim": 64, "attn_type_list": [0, 0, 0, 1] * 3, "num_local_experts": 4, "num_experts_per_tok": 2},
    "minimax-m3": LLAMA
    | {"model_type": "minimax_m3_text", "head_dim": 64, "num_local_experts": 4, "num_experts_per_tok": 2, "moe_layer_freq": [0] * 3 + [1] * 9}
    | {"sparse_attention_config": {"sparse_index_dim": 64, "sparse_num_index_heads": 2, "sparse_attention_freq": [0] * 3 + [1] * 9}},
    "kimi-linear": {k: v for k, v in MLA.items() if k not in ("q_lora_rank", "num_experts_per_tok")}
    | {"model_type": "kimi_linear", "num_experts_per_token": 2, "q_lora_rank": None}
    | {"linear_attn_config": {"full_attn_layers": [4, 8, 12], "kda_layers": [1, 2, 3, 5], "num_heads": 12, "head_dim": 64, "short_conv_kernel_size": 4}},
    "lfm2": LLAMA | {"model_type": "lfm2", "conv_L_cache": 3, "layer_types": ["conv", "conv", "full_attention"] * 4},
    "recurrent-gemma": LLAMA
    | {"model_type": "recurrent_gemma", "lru_width": 768, "conv1d_width": 4, "attention_window_size": 1024, "head_dim": 64}
    | {"block_types": ["recurrent", "recurrent", "attention"]},
    "mamba": {"model_type": "mamba", "num_hidden_layers": 8, "hidden_size": 512, "state_size": 16, "conv_kernel": 4, "expand": 2, "vocab_size": 5000}
    | {"torch_dtype": "float32"},
    "mamba2": {"model_type": "mamba2", "num_hidden_layers": 8, "hidden_size": 512, "state_size": 64, "conv_kernel": 4, "expand": 2, "vocab_size": 5000}
    | {"num_heads": 16, "head_dim": 64, "n_groups": 1, "torch_dtype": "bfloat16"},
    "rwkv": {"model_type": "rwkv", "num_hidden_layers": 8, "hidden_size": 512, "attention_hidden_size": 512, "vocab_size": 5000, "torch_dtype": "bfloat16"},
    "nemotron-nas": LLAMA
    | {"model_type": "nemotron-nas", "num_hidden_layers": 3, "num_key_value_heads": None}
    | {
        "block_configs": [
            {"attention": {"n_heads_in_group": 3, "no_op": False, "replace_with_linear": False}, "ffn": {"ffn_mult": 2.5, "no_op": False}},
            {"attention": {"n_heads_in_group": None, "no_op": True, "replace_with_linear": False}, "ffn": {"ffn_mult": 1.0, "no_op": False}},
            {"attention": {"n_heads_in_group": None, "no_op": False, "replace_with_linear": True}, "ffn": {"ffn_mult": None, "no_op": True}},
        ]
    },
    "openelm": {"model_type": "openelm", "num_transformer_layers": 3, "model_dim": 512, "head_dim": 64, "num_query_heads": [6, 6, 8], "num_kv_heads": [2, 2, 4]}
    | {"ffn_multipliers": [0.5, 1.0, 2.0], "ffn_dim_divisor": 256, "max_context_length": 2048, "vocab_size": 5000, "torch_dtype": "float16"},
    "whisper": {"model_type": "whisper", "d_model": 384, "encoder_layers": 4, "decoder_layers": 4, "encoder_attention_heads": 6, "decoder_attention_heads": 6}
    | {
        "encoder_ffn_dim": 1536,
        "decoder_ffn_dim": 1536,
        "max_source_positions": 1500,
        "max_target_positions": 448,
        "vocab_size": 5000,
        "torch_dtype": "float16",
    },
    "t5": {"model_type": "t5", "d_model": 512, "d_kv": 64, "num_heads": 8, "num_layers": 6, "num_decoder_layers": 4, "d_ff": 1024, "n_positions": 512}
    | {"vocab_size": 5000, "torch_dtype": "float32", "is_encoder_decoder": True},
    "bart": {"model_type": "bart", "d_model": 512, "encoder_layers": 3, "decoder_layers": 3, "encoder_attention_heads": 8, "decoder_attention_heads": 8}
    | {"encoder_ffn_dim": 1024, "decoder_ffn_dim": 1024, "max_position_embeddings": 1024, "vocab_size": 5000, "torch_dtype": "float16"},
    "llava": {"model_type": "llava", "torch_dtype": "float16", "text_config": {"model_type": "llama", "vocab_size": 32064, "max_position_embeddings": 4096}}
    | {"vision_config": {"hidden_size": 256, "num_hidden_layers": 4, "intermediate_size": 1024, "patch_size": 14, "image_size": 336}},
    "mllama": {"model_type": "mllama", "text_config": LLAMA | {"model_type": "mllama_text_model", "cross_attention_layers": [3, 8]}},
}


def look(name: str, **changes: Any) -> dict[str, Any]:
    """A copy of a look-alike, with fields changed; a value of `...` takes the field out."""
    config = copy.deepcopy(LOOKS[name])
    for field, value in changes.items():
        if value is ...:
            config.pop(field)
        else:
            config[field] = value
    return config
