"""What a Hugging Face configuration class fills in where a file leaves a field out.

One row per model_type (facts read off the configuration classes of transformers 5.24); "-" means that
the class has no number of its own (None, or computed from other fields), and a line that starts with
"+" holds further fields of the row above it.
"""

from __future__ import annotations

from functools import lru_cache

__all__ = ["class_defaults"]

# type layers heads kv_heads hidden head_dim intermediate vocab window context tied
_TABLE = """
afmoe 32 16 - 2048 128 6144 200192 1024 16384 -
+ moe_intermediate_size=1408 num_experts=64 num_experts_per_tok=6 num_shared_experts=2 num_dense_layers=1
apertus 32 32 - 4096 - 14336 131072 - 65536 -
arcee 32 32 - 2560 - 18432 32000 - 4096 -
aria_text 32 32 - 4096 - 4096 32000 - 2048 -
+ moe_num_experts=8 moe_topk=2
axk1 61 64 64 7168 - 18432 163840 - 32768 -
+ kv_lora_rank=512 q_lora_rank=1536 qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128 moe_intermediate_size=2048 n_routed_experts=192
+ num_experts_per_tok=8 n_shared_experts=1
bailing_hybrid 42 32 32 2560 128 6144 157184 - 262144 -
+ kv_lora_rank=512 qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128 moe_intermediate_size=768 num_local_experts=512 num_experts_per_tok=8
+ n_shared_experts=1 first_k_dense_replace=2
bamba 32 32 8 4096 - 14336 128000 - 262144 -
+ mamba_n_heads=128 mamba_n_groups=1 mamba_d_state=256 mamba_d_conv=4 mamba_expand=2
bart 12 16 - 1024 - 4096 50265 - 1024 1
+ encoder_layers=12 encoder_attention_heads=16 encoder_ffn_dim=4096
biogpt 24 16 - 1024 - 4096 42384 - 1024 1
bitnet 30 20 5 2560 - 6912 128256 - 2048 -
blenderbot 24 32 - 2560 - 10240 8008 - 128 1
+ encoder_layers=2 encoder_attention_heads=32 encoder_ffn_dim=10240
blenderbot-small 8 16 - 512 - 2048 50265 - 512 1
+ encoder_layers=8 encoder_attention_heads=16 encoder_ffn_dim=2048
bloom 2 8 - 64 - - 250880 - - 1
chameleon 32 32 32 4096 - 11008 65536 - 4096 -
codegen 28 16 - 4096 - - 50400 - 2048 -
cohere 40 64 - 8192 - 22528 256000 - 8192 1
cohere2 40 64 - 8192 - 22528 256000 4096 8192 1
cohere2_moe 40 64 - 8192 128 22528 256000 4096 8192 1
+ num_experts=8 num_experts_per_tok=2 num_shared_experts=0
cwm 64 48 8 6144 128 21504 128256 8192 131072 -
dbrx 24 16 - 2048 - - 32000 - 2048 -
deepseek_v2 32 32 - 4096 - 11008 102400 - 2048 -
+ kv_lora_rank=512 q_lora_rank=1536 qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128 moe_intermediate_size=1407 n_routed_experts=64
+ n_shared_experts=2 first_k_dense_replace=0
deepseek_v3 61 128 128 7168 - 18432 129280 - 4096 -
+ kv_lora_rank=512 q_lora_rank=1536 qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128 moe_intermediate_size=2048 n_routed_experts=256
+ num_experts_per_tok=8 n_shared_experts=1 first_k_dense_replace=3
deepseek_v32 61 128 128 7168 64 18432 129280 - 163840 -
+ kv_lora_rank=512 q_lora_rank=1536 qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128 index_head_dim=128 index_n_heads=64
+ moe_intermediate_size=2048 n_routed_experts=256 num_experts_per_tok=8 n_shared_experts=1 first_k_dense_replace=3
diffllama 16 32 - 2048 - 8192 32000 - 2048 -
dots1 62 32 32 4608 - 10944 152064 4096 2048 -
+ moe_intermediate_size=1408 first_k_dense_replace=0
emu3_text_model 32 32 8 4096 - 14336 184622 - 9216 -
ernie4_5 18 16 2 1024 128 3072 103424 - 131072 1
ernie4_5_moe 28 20 4 2560 - 12288 103424 - 131072 1
+ moe_intermediate_size=1536 moe_num_experts=64 moe_k=6
ernie4_5_vl_moe_text 28 20 4 2560 - 12288 103424 - 131072 1
+ moe_num_experts=64 moe_k=6
exaone 32 32 8 4096 - 14336 102400 - 4096 -
exaone4 32 32 32 4096 - 16384 102400 4096 2048 -
exaone_moe 32 32 32 4096 - 16384 102400 4096 2048 -
+ moe_intermediate_size=1024 num_experts=64 num_experts_per_tok=8 num_shared_experts=1 first_k_dense_replace=1
falcon 32 71 - 4544 - - 65024 - 2048 1
falcon_h1 32 32 8 4096 - 14336 128000 - 8192 -
+ mamba_n_heads=128 mamba_n_groups=1 mamba_d_state=256 mamba_d_conv=4 mamba_expand=2 mamba_d_ssm=1024
falcon_mamba 32 - - 768 - - 50280 - - 1
+ state_size=16 conv_kernel=4 expand=2
flex_olmo 32 32 - 4096 - 11008 100352 - 4096 -
+ num_experts=7 num_experts_per_tok=5
gemma 28 16 16 3072 256 24576 256000 - 8192 1
gemma2 26 8 4 2304 256 9216 256000 4096 8192 1
gemma3_text 26 8 4 2304 256 9216 262208 4096 131072 1
gemma3n_text 35 8 2 2048 256 16384 262400 512 32768 1
+ num_kv_shared_layers=15
gemma4_text 30 8 4 2304 256 9216 262144 512 131072 1
+ num_kv_shared_layers=0
gemma4_unified_text 30 8 4 2304 256 9216 262144 1024 262144 1
+ num_kv_shared_layers=0
glm 40 32 2 4096 128 13696 151552 - 131072 -
glm4 40 32 2 4096 128 13696 151552 - 131072 -
glm4_moe 46 96 8 4096 - 10944 151552 - 131072 -
+ moe_intermediate_size=1408 n_routed_experts=128 num_experts_per_tok=8 n_shared_experts=1 first_k_dense_replace=1
glm4_moe_lite 47 20 20 2048 - 10240 154880 - 202752 -
+ kv_lora_rank=512 q_lora_rank=768 qk_rope_head_dim=64 qk_nope_head_dim=192 v_head_dim=256 moe_intermediate_size=1536 n_routed_experts=64
+ num_experts_per_tok=4 n_shared_experts=1
glm4v_moe_text 46 96 8 4096 - 10944 151424 - 65536 -
+ moe_intermediate_size=1408 n_routed_experts=128 num_experts_per_tok=8 n_shared_experts=1 first_k_dense_replace=1
glm4v_text 40 32 2 4096 - 13696 151552 - 32768 -
glm5_next_text 45 64 64 4096 0 12288 154880 - 1048576 -
+ kv_lora_rank=512 q_lora_rank=1536 qk_rope_head_dim=0 qk_nope_head_dim=256 v_head_dim=256 index_head_dim=128 index_n_heads=32
+ moe_intermediate_size=2048 n_routed_experts=288 num_experts_per_tok=8 n_shared_experts=1 linear_conv_kernel_dim=4 linear_head_dim=128
+ linear_num_heads=64
glm_moe_dsa 78 64 64 6144 64 12288 154880 - 202752 -
+ kv_lora_rank=512 q_lora_rank=2048 qk_rope_head_dim=64 qk_nope_head_dim=192 v_head_dim=256 index_head_dim=128 index_n_heads=32
+ moe_intermediate_size=2048 n_routed_experts=256 num_experts_per_tok=8 n_shared_experts=1 first_k_dense_replace=3
gpt-sw3 12 12 - 768 - - 50257 - 1024 1
gpt2 12 12 - 768 - - 50257 - 1024 1
gpt_bigcode 12 12 - 768 - - 50257 - 1024 1
gpt_neo 24 16 - 2048 - - 50257 - 2048 1
+ num_heads=16
gpt_neox 44 64 - 6144 - 24576 50432 - 2048 -
gpt_oss 36 64 8 2880 64 2880 201088 128 131072 -
+ num_local_experts=128 num_experts_per_tok=4
gptj 28 16 - 4096 - - 50400 - 2048 -
granite 32 32 - 4096 - 11008 32000 - 2048 -
granite_swa 24 20 4 2560 - 8192 100352 128 8192 1
granitemoe 32 32 - 4096 - 11008 32000 - 2048 -
+ num_local_experts=8 num_experts_per_tok=2
granitemoe_swa 32 32 - 4096 - 11008 32000 128 2048 -
+ num_local_experts=8 num_experts_per_tok=2 shared_intermediate_size=0
granitemoehybrid 32 32 - 4096 - 11008 32000 - 2048 -
+ num_local_experts=8 num_experts_per_tok=2 shared_intermediate_size=1024 mamba_n_heads=128 mamba_n_groups=1 mamba_d_state=256 mamba_d_conv=4
+ mamba_expand=2
granitemoeshared 32 32 - 4096 - 11008 32000 - 2048 -
+ num_local_experts=8 num_experts_per_tok=2 shared_intermediate_size=0
helium 24 20 20 2560 128 7040 48000 - 4096 -
hunyuan_v1_dense 32 32 - 4096 - 11008 290943 - 2048 -
hunyuan_v1_moe 32 32 - 4096 - 11008 290943 - 2048 -
+ num_experts=1 moe_topk=1
hunyuan_vl_text 32 32 - 4096 - 11008 290943 - 2048 1
hy_v3 80 64 8 4096 128 13312 120832 - 131072 -
+ moe_intermediate_size=1536 num_experts=192 num_experts_per_tok=8 num_shared_experts=1
hyperclovax 32 32 - 4096 - 11008 32000 - 2048 -
internlm3 48 32 2 4096 128 10240 128512 - 32768 -
jais2 32 26 - 3328 - 26624 150272 - 8192 -
jamba 32 32 8 4096 - 14336 65536 - 262144 -
+ num_experts=16 num_experts_per_tok=2 mamba_d_state=16 mamba_d_conv=4 mamba_expand=2 attn_layer_period=8 attn_layer_offset=4 expert_layer_period=2
+ expert_layer_offset=1
kimi_linear 27 32 32 2304 - 9216 163840 - 1048576 -
+ kv_lora_rank=512 qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128 moe_intermediate_size=1024 num_local_experts=256 num_experts_per_tok=8
+ n_shared_experts=1 linear_conv_kernel_dim=4 linear_head_dim=128 linear_num_heads=32
laguna 40 48 8 2048 128 8192 100352 512 131072 -
+ moe_intermediate_size=512 num_experts=256 num_experts_per_tok=8 shared_expert_intermediate_size=512
lfm2 32 32 8 2560 - 12288 65536 - 128000 1
+ conv_L_cache=3
lfm2_moe 32 32 8 2048 - 7168 65536 - 128000 1
+ moe_intermediate_size=1792 num_experts=32 num_experts_per_tok=4 conv_L_cache=3 num_dense_layers=2
llama 32 32 - 4096 - 11008 32000 - 2048 -
llama4_text 48 40 8 5120 128 8192 202048 - 131072 -
+ num_local_experts=16 num_experts_per_tok=1 attention_chunk_size=8192 interleave_moe_layer_step=1
longcat_flash 28 64 - 6144 64 - 131072 - 131072 -
+ kv_lora_rank=512 q_lora_rank=1536 qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128 n_routed_experts=512 moe_topk=12
+ expert_ffn_hidden_size=2048 ffn_hidden_size=12288 zero_expert_num=256
m2m_100 12 16 - 1024 - 4096 128112 - 1024 1
+ encoder_layers=12 encoder_attention_heads=16 encoder_ffn_dim=4096
mamba 32 - - 768 - - 50280 - - 1
+ state_size=16 conv_kernel=4 expand=2
mamba2 64 128 - 4096 64 - 32768 - - -
+ state_size=128 conv_kernel=4 expand=2 n_groups=8 num_heads=128
marian 12 16 - 1024 - 4096 58101 - 1024 1
+ encoder_layers=12 encoder_attention_heads=16 encoder_ffn_dim=4096
mbart 12 16 - 1024 - 4096 50265 - 1024 1
+ encoder_layers=12 encoder_attention_heads=16 encoder_ffn_dim=4096
mellum 28 32 4 2304 128 7168 98304 1024 131072 -
+ moe_intermediate_size=896 num_experts=64 num_experts_per_tok=8
mimo_v2_flash 48 64 4 4096 192 16384 152576 129 131072 -
+ v_head_dim=128 moe_intermediate_size=2048 n_routed_experts=256 num_experts_per_tok=8
minicpm3 62 40 40 2560 - 6400 73448 - 32768 1
+ kv_lora_rank=256 q_lora_rank=768 qk_rope_head_dim=32 qk_nope_head_dim=64
minimax 32 32 8 4096 - 14336 32000 - 131072 -
+ num_local_experts=8 num_experts_per_tok=2
minimax_m2 62 48 8 3072 128 1536 200064 - 196608 -
+ num_local_experts=256 num_experts_per_tok=8
minimax_m3_vl_text 60 64 4 6144 128 3072 200064 - 524288 -
+ index_head_dim=128 index_n_heads=4 num_local_experts=128 num_experts_per_tok=4 shared_intermediate_size=3072
ministral 32 32 8 4096 - 14336 32000 4096 131072 -
ministral3 34 32 8 4096 128 14336 131072 - 262144 -
mistral 32 32 8 4096 - 14336 32000 4096 131072 -
mistral4 36 32 32 4096 - 12288 131072 - 1048576 -
+ kv_lora_rank=256 q_lora_rank=1024 qk_rope_head_dim=64 qk_nope_head_dim=64 v_head_dim=128 moe_intermediate_size=2048 n_routed_experts=128
+ num_experts_per_tok=4 n_shared_experts=1 first_k_dense_replace=0
mixtral 32 32 8 4096 - 14336 32000 - 131072 -
+ num_local_experts=8 num_experts_per_tok=2
mllama_text_model 40 32 8 4096 - 14336 128256 - 131072 -
mpt 24 16 - 2048 - - 50368 - 2048 1
mt5 8 6 - 512 64 1024 250112 - - 1
+ num_heads=6
nanochat 12 6 - 768 - 8192 50304 - 2048 -
nemotron 32 48 - 6144 - 24576 256000 - 4096 -
nemotron_h - 32 8 4096 128 21504 131072 - 4096 -
+ moe_intermediate_size=7688 n_routed_experts=8 num_experts_per_tok=2 n_shared_experts=1 conv_kernel=4 expand=2 n_groups=8 ssm_state_size=128
+ mamba_num_heads=128 mamba_head_dim=64
olmo 32 32 - 4096 - 11008 50304 - 2048 -
olmo2 32 32 - 4096 - 11008 50304 - 2048 -
olmo3 32 32 - 4096 - 11008 50304 4096 2048 -
olmo_hybrid 32 30 - 3840 - 11008 100352 - 65536 -
+ linear_conv_kernel_dim=4
olmoe 16 16 - 2048 - 2048 50304 - 4096 -
+ num_experts=64 num_experts_per_tok=8
opt 12 12 - 768 - 3072 50272 - 2048 1
pegasus 12 16 - 1024 - 4096 50265 - 1024 1
+ encoder_layers=12 encoder_attention_heads=16 encoder_ffn_dim=4096
persimmon 36 64 - 4096 - 16384 262144 - 16384 -
phi 24 32 - 2048 - 8192 51200 - 2048 -
phi3 32 32 - 3072 - 8192 32064 - 4096 -
phi4_multimodal 32 32 8 3072 - 8192 200064 - 131072 -
phimoe 32 32 8 4096 - 6400 32064 - 131072 -
+ num_local_experts=16 num_experts_per_tok=2
plbart 6 12 - 768 - 3072 50005 - 1024 1
+ encoder_layers=6 encoder_attention_heads=12 encoder_ffn_dim=3072
qwen2 32 32 32 4096 - 22016 151936 4096 32768 -
qwen2_5_omni_text 28 28 4 3584 - 18944 152064 32768 32768 1
qwen2_5_vl_text 80 64 8 8192 - 29568 152064 4096 32768 -
qwen2_moe 24 16 16 2048 - 5632 151936 4096 32768 -
+ moe_intermediate_size=1408 num_experts=60 num_experts_per_tok=4 shared_expert_intermediate_size=5632
qwen2_vl_text 80 64 8 8192 - 29568 152064 4096 32768 -
qwen3 32 32 32 4096 128 22016 151936 4096 32768 -
qwen3_5_moe_text 40 16 2 2048 256 - 248320 - 32768 -
+ moe_intermediate_size=512 num_experts=256 num_experts_per_tok=8 shared_expert_intermediate_size=512 linear_conv_kernel_dim=4 linear_key_head_dim=128
+ linear_value_head_dim=128 linear_num_key_heads=16 linear_num_value_heads=32
qwen3_5_text 32 16 4 4096 256 12288 248320 - 32768 -
+ linear_conv_kernel_dim=4 linear_key_head_dim=128 linear_value_head_dim=128 linear_num_key_heads=16 linear_num_value_heads=32
qwen3_moe 24 32 4 2048 - 6144 151936 4096 32768 -
+ moe_intermediate_size=768 num_experts=128 num_experts_per_tok=8
qwen3_next 48 16 2 2048 256 5632 151936 - 32768 -
+ moe_intermediate_size=512 num_experts=512 num_experts_per_tok=10 shared_expert_intermediate_size=512 linear_conv_kernel_dim=4
+ linear_key_head_dim=128 linear_value_head_dim=128 linear_num_key_heads=16 linear_num_value_heads=32
qwen3_omni_moe_text 28 28 4 2048 - 18944 3584 - 32768 -
+ moe_intermediate_size=768 num_experts=128 num_experts_per_tok=8
qwen3_vl_moe_text 24 16 16 2048 - 5632 151936 - 128000 1
+ moe_intermediate_size=1408 num_experts=60 num_experts_per_tok=4
qwen3_vl_text 32 32 32 4096 128 22016 151936 - 128000 -
recurrent_gemma 26 10 - 2560 - 7680 256000 2048 - 1
+ conv1d_width=4
rwkv 32 - - 4096 - - 50277 - - -
sarvam_mla 32 64 - 4096 - 16384 262144 - 4096 -
+ kv_lora_rank=512 qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128 moe_intermediate_size=2048 n_routed_experts=128 num_experts_per_tok=8
+ n_shared_experts=1 first_k_dense_replace=1
sarvam_moe 19 64 4 4096 64 8192 262144 - 131072 -
+ moe_intermediate_size=1024 n_routed_experts=128 num_experts_per_tok=6 n_shared_experts=1 first_k_dense_replace=1
seed_oss 64 80 8 4096 128 27648 155136 - 524288 -
smollm3 36 16 4 2048 - 11008 128256 - 32768 1
solar_open 48 64 8 4096 128 - 196608 - 131072 -
+ moe_intermediate_size=1280 n_routed_experts=128 num_experts_per_tok=8 n_shared_experts=1
stablelm 32 32 32 2560 - 6912 50304 - 4096 -
starcoder2 30 24 2 3072 - 12288 49152 - 4096 1
step3p5 45 64 8 4096 128 11264 128815 - 128000 -
+ moe_intermediate_size=1280 num_local_experts=128 n_routed_experts=288 num_experts_per_tok=8
t5 6 8 - 512 64 2048 32128 - - -
+ num_heads=8
umt5 8 6 - 512 64 1024 250112 - - -
+ num_heads=6
vaultgemma 26 8 4 2304 256 9216 256000 4096 8192 1
voxtral_realtime_text 32 32 8 4096 - 14336 32000 4096 131072 -
whisper 4 6 - 384 - 1536 51865 - 448 1
+ max_source_positions=1500 encoder_layers=4 encoder_attention_heads=6 encoder_ffn_dim=1536
xglm 24 16 - 1024 - 4096 256008 - 2048 1
youtu 32 16 16 2048 - 6144 128256 - 131072 1
+ kv_lora_rank=512 q_lora_rank=1536 qk_rope_head_dim=64 qk_nope_head_dim=128 v_head_dim=128
zamba 76 16 16 3712 - 14848 32000 - 4096 1
+ mamba_d_state=16 mamba_d_conv=4 mamba_expand=2 attn_layer_period=6 attn_layer_offset=4 n_mamba_heads=2
zamba2 54 32 - 2560 - - 32000 - 4096 1
+ mamba_d_state=64 mamba_d_conv=4 mamba_expand=2 n_mamba_heads=8 mamba_ngroups=1
"""
_COLUMNS = (
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "hidden_size",
    "head_dim",
    "intermediate_size",
    "vocab_size",
    "sliding_window",
    "max_position_embeddings",
    "tie_word_embeddings",
)


@lru_cache(maxsize=256)
def class_defaults(model_type: str) -> dict[str, int]:
    """The numbers that the class of `model_type` fills in, by field name; empty for a type without a class here.

    >>> class_defaults("gemma3_text")["num_key_value_heads"], class_defaults("mistral")["sliding_window"]
    (4, 4096)
    """
    found: dict[str, int] = {}
    inside = False
    for line in _TABLE.splitlines():
        words = line.split()
        if words and words[0] != "+":
            inside = words[0] == model_type
            if inside:
                found.update({name: int(word) for name, word in zip(_COLUMNS, words[1:], strict=True) if word != "-"})
        elif inside:
            found.update({name: int(value) for name, _, value in (word.partition("=") for word in words[1:])})
    return found
