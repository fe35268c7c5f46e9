"""What every output field means: formula, symbols, source. `kvcost explain` prints it."""

from typing import NamedTuple

__all__ = ["QUANTITIES", "Quantity"]

_KV = "PagedAttention (SOSP'23) section 3 for the form; layer kinds as vLLM and transformers cache them"
_VLLM = "vLLM KV cache groups and NixlConnector"
_LINK = "vendor data sheets, one direction; published link benchmarks for what is achieved (`kvcost links NAME`)"
_SIMULATED = (
    "closed forms held against a discrete-event simulator, median error 1 to 5 %;"
    " TTFT under load off by a median factor of 3 to 6 against published serving runs"
)
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
        "prefill: L x t_layer + hypot(C/eta, W/eta_w) + A/(eta_a x eta) + c x M; "
        "decode: L x t_layer + hypot(W/eta_bw, C/eta_d) + K/eta_bw + 2 x L x t_ar + c_d x M",
        "C products, W weights read, A attention, K cache read, M all-reduces, each at 100 % efficiency; the other letters are the GPU's constants",
        "`kvcost gpus NAME` for the constants with their evidence; errors in the README",
    ),
    "time_low_s": Quantity("time_s with every kind of time at the low end of its constants"),
    "time_high_s": Quantity("time_s with every kind of time at the high end of its constants"),
    "flops": Quantity("floating-point operations of all GPUs together", "2 x parameters used x tokens + attention"),
    "bytes_read": Quantity("bytes that all GPUs together read from memory", "weights touched + cache read, copies of heads included"),
    "bound": Quantity(
        "what takes most of the time: compute, memory, overhead, communication; measured: the time was given;"
        " in a row of `check` the bound as it is written in the preset"
    ),
    "pp": Quantity("pipeline-parallel size"),
    "attention_dp": Quantity("attention data parallelism inside the TP ranks: the cache is not copied, routed experts are spread"),
    # what splitting gains
    "mono_instances": Quantity("monolithic instances compared with: equal GPUs unless given", "(k_P x t_P + k_D x t_D) / t"),
    "prefill_instances": Quantity("instances in the prefill pool, k_P"),
    "decode_instances": Quantity("instances in the decode pool, k_D"),
    "mono_batch": Quantity("requests that one monolithic instance decodes at once, on average", "B = rate per instance x OSL x TPOT", "the smallest such B"),
    "decode_batch": Quantity(
        "requests that one decode instance decodes at once, on average", "B = rate per instance x tokens x step(B + 1)", "the smallest such B"
    ),
    "prefill_wait_s": Quantity(
        "mean wait for the prefill pool", "g x rate x s^2 / (2 k (1 - rho)), M/D/k for least-loaded", "s prefill time, g the router's factor, rho the load"
    ),
    "handover_s": Quantity("proxy and scheduling between the pools, without the transfer", source=_ENGINE),
    "first_token": Quantity(
        "the side that sends the first token: the exposed transfer lands before it (decode) or before the second (prefill)", source=_ENGINE
    ),
    "limit": Quantity(
        "what saturates first in the disaggregated deployment as the rate rises: prefill, decode-compute, decode-memory or link;"
        " in a row of `check` the field that a limit of the preset is on"
    ),
    "limit_rate_per_s": Quantity("the rate at which `limit` saturates"),
    "osl_tokens": Quantity("output tokens (OSL) of a request"),
    "rate_per_s": Quantity("requests per second over the whole deployment, Poisson"),
    "concurrency": Quantity("requests in flight over the whole deployment, in place of a rate"),
    "prefill_s": Quantity("time of one prefill by itself on a prefill instance", source="`kvcost explain time_s`"),
    "decode_step_s": Quantity("time of one step of a decode instance at its batch", source="`kvcost explain time_s`"),
    "ttft_mono_s": Quantity(
        "mean time to first token of the monolithic deployment",
        "wait + running step + the prompt's own steps (chunked, beside the requests that decode)",
        source=_SIMULATED,
    ),
    "ttft_disagg_s": Quantity(
        "mean time to first token of the disaggregated deployment",
        "prefill_wait + prefill; where decode sends the first token: + handover + link_wait + exposed + admission + decode step",
        source=_SIMULATED,
    ),
    "ttft_p90_mono_s": Quantity("90th percentile of ttft_mono_s", "the wait replaced by its quantile", source=_SIMULATED),
    "ttft_p90_disagg_s": Quantity("90th percentile of ttft_disagg_s", "the wait replaced by its quantile", source=_SIMULATED),
    "tpot_mono_s": Quantity(
        "mean time per output token after the first, monolithic",
        "(d + rate x (w + S) x I / (m - 1)) / (1 - rate x I)",
        "d decode step, S steps of a prompt, I what a prompt adds to steps, w wait, m OSL, rate per instance",
        _SIMULATED,
    ),
    "tpot_disagg_s": Quantity(
        "mean time per output token after the first, disaggregated",
        "the decode step; + what is exposed / (m - 1) where prefill sends the first token",
        "m OSL",
        _SIMULATED,
    ),
    "itl_p99_mono_s": Quantity(
        "99th percentile of the gap between tokens, monolithic", "the step that carries a chunk, where more than 1 % of steps do", source=_SIMULATED
    ),
    "itl_p99_disagg_s": Quantity(
        "99th percentile of the gap between tokens, disaggregated", "decode step at B + 1 + 2.33 sqrt(B)", "B decode_batch", _SIMULATED
    ),
    "e2e_mono_s": Quantity("mean time of a whole request, monolithic", "TTFT + (OSL - 1) x TPOT"),
    "e2e_disagg_s": Quantity("mean time of a whole request, disaggregated", "TTFT + (OSL - 1) x TPOT"),
    "ttft_gain_s": Quantity("what disaggregation gains in TTFT; negative: loses", "ttft_mono - ttft_disagg"),
    "tpot_gain_s": Quantity("what disaggregation gains in TPOT; negative: loses", "tpot_mono - tpot_disagg"),
    "itl_p99_gain_s": Quantity("what disaggregation gains in the p99 gap; negative: loses", "itl_p99_mono - itl_p99_disagg"),
    "e2e_gain_s": Quantity("what disaggregation gains end to end; negative: loses", "e2e_mono - e2e_disagg"),
    "goodput_mono_per_gpu": Quantity("highest rate within the limits, per GPU, monolithic", "bracketed by x1.5, bisected"),
    "goodput_disagg_per_gpu": Quantity("highest rate within the limits, per GPU, disaggregated, at rate / pool-derate", "bracketed by x1.5, bisected"),
    "objective": Quantity("what decides the verdict: all, ttft, tpot, itl-p99, e2e or goodput"),
    "net_gain_s": Quantity("the gain of the objective, of E2E under all and goodput; with --saved: saved - exposed", "positive = disaggregation better"),
    "net_gain_low_s": Quantity("low end of net_gain_s over three joint runs", "constants, link and router at their low, expected and high ends together"),
    "net_gain_high_s": Quantity("high end of net_gain_s over three joint runs", "constants, link and router at their low, expected and high ends together"),
    "link_utilisation": Quantity("share of the time in which the link is busy; 1 or more: it never catches up", "rate x transfer / ports"),
    "link_wait_s": Quantity(
        "mean wait for the link, beyond that for prefill", "max(0, W_MD1(transfer) - prefill_wait); 0 where prefill is slower than the transfer"
    ),
    "verdict": Quantity(
        "disaggregate, colocate, mixed, infeasible or unknown",
        "better or worse by more than 5 % (means), 15 % (tails), 10 % (goodput) and in all joint runs; mixed where quantities disagree",
        source="bands from the errors of the forms against a simulator and against measured verdicts",
    ),
    "reason": Quantity("the verdict in one sentence"),
    "breakeven_osl_tokens": Quantity("output tokens at which net_gain_s is 0, everything re-evaluated"),
    "breakeven_bandwidth_bytes_per_s": Quantity("line rate of a rail at which net_gain_s is 0, everything re-evaluated"),
    "breakeven_ctx_tokens": Quantity("intervals of the context in which net_gain_s is positive; empty end = open"),
    "breakeven_rate_per_s": Quantity("request rate at which net_gain_s is 0, everything re-evaluated"),
    "breakeven_prefix_hit_tokens": Quantity("tokens held by the decode side at which net_gain_s is 0, everything re-evaluated"),
    "breakeven_kv_bits": Quantity("bits per element of the cache, scales included, at which net_gain_s is 0, everything re-evaluated"),
    "breakeven_saved_s": Quantity("the saving that would have to be there", "exposed + handover, + the decode step where decode sends the first token"),
    "mono_wait_s": Quantity("mean wait before the first chunk, monolithic; part of ttft_mono_s"),
    "mono_residual_s": Quantity("mean rest of the running step, monolithic; part of ttft_mono_s"),
    "mono_prompt_s": Quantity("the prompt's own steps, monolithic; part of ttft_mono_s"),
    "admission_s": Quantity("mean wait for a step boundary of the decode instance"),
    "cost_mono_per_mtok": Quantity("dollars per million output tokens at this rate, monolithic", "GPUs x price / (rate x OSL)"),
    "cost_disagg_per_mtok": Quantity("dollars per million output tokens at this rate, disaggregated", "GPUs x price / (rate x OSL)"),
    "threshold_tokens": Quantity(
        "uncached prompt tokens from which a prompt is worth sending to the prefill pool at this load",
        "S(e) + B x I(e) = wait + s(e) + handover + link wait + E(e) + step",
    ),
    "threshold_half_rate_tokens": Quantity("threshold_tokens at half the load"),
    "threshold_higher_rate_tokens": Quantity("threshold_tokens at 1.5 times the load"),
    "layout": Quantity("with --gpus-total: the best split and the best monolithic layout, with their goodput"),
    "runner_up": Quantity("with --gpus-total: the second-best split"),
    "layout_remark": Quantity("with --gpus-total: what keeps the best split from more"),
    # what check says of a preset
    "preset": Quantity("the preset's file"),
    "value": Quantity("what the limit's field is for this deployment, in base units; empty: it has no value, and the limit is not met"),
    "bound_value": Quantity("the bound in base units, or the words that are allowed"),
    "excess": Quantity("how far the value lies beyond its bound, in base units; negative: how much is left", "value - bound for <, bound - value for >"),
    "met": Quantity("whether the value meets the bound"),
    "severity": Quantity("error where the limit is broken, else none"),
    "line": Quantity("the line of `file` in which a limit stands, from 1; as the heading of a rate see bandwidth_bytes_per_s"),
    "column": Quantity("the column of `file` in which the limit's bound begins, from 1"),
    "file": Quantity("the file in which the limit stands: the preset, or one that it extends"),
    "message": Quantity("the limit, its value and by how much it is broken, in one sentence"),
    "hint": Quantity("the nearest change under which the limit is met, with the line to change"),
    "change": Quantity(
        "the same for programs: path in the preset and the value to write there",
        "the first that meets all limits, in the order: settings, layout, link, load; of a kind the smallest step",
        source="each change is tried on the model; none comes from a table",
    ),
    "what_if": Quantity("for one question asked by a person: the same with one thing changed at a time"),
    "prefill_elsewhere": Quantity("for one question without a GPU: the prefill time on common GPUs"),
    "saved_needed": Quantity("for one question without a GPU: breakeven_saved_s over common contexts and links"),
}
