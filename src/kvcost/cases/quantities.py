"""What every output field means: formula, symbols, source. `kvcost explain` prints it."""

from typing import NamedTuple

__all__ = ["QUANTITIES", "Quantity"]

_KV = "PagedAttention (SOSP'23) section 3 for the form; layer kinds as vLLM and transformers cache them"
_VLLM = "vLLM KV cache groups and NixlConnector"
_LINK = "vendor data sheets, one direction; published link benchmarks for what is achieved (`kvcost links NAME`)"
_ENGINE = "published engine measurements (`kvcost engines NAME`)"


class Quantity(NamedTuple):
    """A field of the output."""

    meaning: str
    formula: str = ""
    symbols: str = ""
    source: str = ""


_N = "n prompt tokens, L layers of a kind, H KV heads, d_k and d_v dims of K and V, bits per element"
QUANTITIES: dict[str, Quantity] = {
    # what is sent
    "model": Quantity("the model, by its catalog id", source="`kvcost models`"),
    "ctx_tokens": Quantity("prompt tokens (ISL) of the request; k and Ki mean 1024"),
    "kv_dtype": Quantity(
        "how an element of the cache is stored", "auto: what the checkpoint says of its KV cache, else its dtype; never that of quantised weights"
    ),
    "kv_bytes": Quantity(
        "bytes that the request's KV cache holds, exact",
        "sum over layers of cached(n) x H x (d_k + d_v) x bits / 8, plus scales, plus state_bytes; "
        "cached(n) = n (full), min(n, w) (window), n mod c (chunk), 0 (shared); MLA: n x (latent + rope), once",
        _N + ", w window, c chunk",
        _KV,
    ),
    "kv_bytes_per_token": Quantity(
        "bytes that one more token adds at n", "kv_bytes growth; window layers 0 once full, chunk layers 0 from the first full chunk on", _N, _KV
    ),
    "state_bytes": Quantity(
        "the part of kv_bytes that does not grow",
        "conv x bits / 8 + ssm x bits / 8 per recurrent layer; encoder tokens x H x (d_k + d_v) per cross layer",
        source=_KV,
    ),
    "reserved_bytes": Quantity(
        "bytes that a paged engine sets aside for the request",
        "blocks x B x bytes per token; blocks = ceil(n/B) (full), min(ceil(n/B), ceil(w/B) + 1) (window), ceil((n mod c)/B) (chunk)",
        "B block_size_tokens",
        _VLLM,
    ),
    "block_size_tokens": Quantity("tokens a page of the cache; 0 = not cut into pages", source=_ENGINE),
    "rank_bytes": Quantity(
        "bytes of kv_bytes that one of tp ranks holds", "kv_bytes x max(1, tp / H) / tp; an MLA latent is whole on every rank", "tp ranks, H KV heads", _VLLM
    ),
    "tp": Quantity("tensor-parallel size"),
    "params_total": Quantity("parameters, tied weights once", source="`kvcost models NAME`"),
    "params_active": Quantity(
        "parameters that one token uses, the input embedding included",
        "params_total minus the routed experts that are not chosen",
        source="`kvcost models NAME`",
    ),
    # how it is sent
    "link": Quantity("the link, by its catalog id, or the rate given", source="`kvcost links`"),
    "rails": Quantity("rails that are there for the request", "1 for a port; every rank's own for a GPU link; the GPUs' shares of a node row"),
    "lanes": Quantity("rails that the request uses at once", "min(prefill_tp, decode_tp, rails)"),
    "prefill_tp": Quantity("tensor-parallel size of the prefill side"),
    "decode_tp": Quantity("tensor-parallel size of the decode side"),
    "prefix_hit_tokens": Quantity("prompt tokens whose KV the decode side holds already"),
    "wire_bytes": Quantity(
        "bytes that travel to all decode ranks",
        "sum over layers of bytes of the tokens that travel x copies; n - p tokens (whole blocks where the engine moves blocks; a window sends ceil(w/B) + 1)",
        "p prefix_hit_tokens, copies = max(1, decode_tp / H), decode_tp for an MLA latent",
        "Mooncake's measured 12.62 GB for Qwen3-235B at TP 8 is exactly 2.00 copies; vLLM NixlConnector",
    ),
    "replication": Quantity("copies on the wire", "wire_bytes / bytes without copies", source=_VLLM),
    "descriptors": Quantity(
        "transfers that one decode rank posts",
        "layers x blocks x regions x max(t_P, t_D) / min(t_P, t_D), the last two 1 for an MLA latent; blocks alone where layers share them",
        "regions: 1 where K and V share one, else 2",
        "vLLM NixlConnector; vllm-project/vllm#34054 counts 40,064 for such a case",
    ),
    "bandwidth_bytes_per_s": Quantity(
        "line rate of one rail, ONE direction; empty: unlimited, or none published", "vendors' two-way sums are halved", source=_LINK
    ),
    "efficiency": Quantity("share of line rate that large messages reach", "achieved rate / line rate", source=_LINK),
    "line_rate_s": Quantity("transfer time at line rate", "wire_bytes / lanes / bandwidth", source=_LINK),
    "achievable_s": Quantity("transfer time at the achieved rate", "wire_bytes / lanes / (efficiency x bandwidth)", source=_LINK),
    "achievable_low_s": Quantity("achievable_s at the best achieved rate that is published", source=_LINK),
    "achievable_high_s": Quantity("achievable_s at the worst achieved rate that is published", source=_LINK),
    "engine_s": Quantity(
        "transfer time in an engine",
        "t0 + descriptors x t_desc + wire_bytes / lanes / (efficiency x bandwidth); posting overlapped: t0 + the larger of the two",
        "t0 fixed time, t_desc time per descriptor",
        _ENGINE,
    ),
    "engine_low_s": Quantity("engine_s with every constant at its low end", source=_ENGINE),
    "engine_high_s": Quantity("engine_s with every constant at its high end", source=_ENGINE),
    "transfer_s": Quantity("the headline: line_rate_s, achievable_s or engine_s, as `basis` says"),
    "transfer_low_s": Quantity("low end of transfer_s"),
    "transfer_high_s": Quantity("high end of transfer_s"),
    "basis": Quantity("which figure transfer_s is: line-rate, achievable or engine"),
    "overlap": Quantity(
        "what the transfer overlaps with: serial, push (layer by layer while prefill computes), decode-start (decode begins on arrived layers)"
    ),
    "exposed_s": Quantity(
        "the part of transfer_s that the request waits for",
        "serial: T; push: max(T/L, T - T_p + T_p/L), at least the engine's floor; decode-start: max(T/L, T - T_d + T_d/L)",
        "T transfer_s, L layers, T_p prefill time, T_d decode step time",
        "Splitwise (ISCA'24) section 4.3",
    ),
    "engine": Quantity("the serving engine's connector", source="`kvcost engines`"),
    "provenance": Quantity("of transfer_s: spec, measured, estimate or user; the weaker of link and engine where both take part"),
    # how long it takes to compute
    "gpu": Quantity("the GPU, by its catalog id", source="`kvcost gpus`"),
    "weight_dtype": Quantity("how weights are stored", "auto: as the checkpoint; bytes a parameter: 2, fp8 and int8 1, int4 and fp4 4.5/8"),
    "phase": Quantity("prefill of the prompts, or one decode step of the whole batch"),
    "batch": Quantity("requests computed at once, each of ctx_tokens"),
    "cached_tokens": Quantity("prompt tokens whose KV the prefill side holds already; they are not computed again"),
    "time_s": Quantity(
        "time of the prefill, or of one decode step",
        "prefill: L x t_layer + hypot(C/eta, W/eta_w) + A/(eta_a x eta) + c x M; decode: L x t_layer + hypot(W/eta_bw, C/eta_d) + K/eta_bw + 2 x L x t_ar + c_d x M",
        "C products, W weights read, A attention, K cache read, M all-reduces, each at 100 % efficiency; the other letters are the GPU's constants",
        "`kvcost gpus NAME` for the constants with their evidence; errors in the README",
    ),
    "time_low_s": Quantity("time_s with every kind of time at the low end of its constants"),
    "time_high_s": Quantity("time_s with every kind of time at the high end of its constants"),
    "flops": Quantity("floating-point operations of all GPUs together", "2 x parameters used x tokens + attention"),
    "bytes_read": Quantity("bytes that all GPUs together read from memory", "weights touched + cache read, copies of heads included"),
    "bound": Quantity("what takes most of the time: compute, memory, overhead, communication; measured: the time was given"),
    "pp": Quantity("pipeline-parallel size"),
    "attention_dp": Quantity("attention data parallelism inside the TP ranks: the cache is not copied, routed experts are spread"),
}
