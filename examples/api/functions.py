"""The functions behind the commands, with a link and step times of one's own."""

from kvcost import (
    Case,
    Catalog,
    Colocated,
    Engine,
    Link,
    Split,
    Work,
    breakeven,
    compare,
    decode_time,
    kv_layout,
    lanes_of,
    link_times,
    link_transfer,
    measured_steps,
    parse_kv_dtype,
    prefill_time,
    prepare,
    wire_bytes,
)

catalog = Catalog()
model, gpu = catalog.model("llama2-70b"), catalog.gpu("h100")

# Bytes, and seconds over a link as measured in one's own cluster: line rate, then expected, low and high.
layout = kv_layout(model.groups, parse_kv_dtype("fp8"))
sent = wire_bytes(layout, 4096, prefill_tp=8, decode_tp=8)
ours = Link("our spine", 25e9, 21.3e9, 17.0e9, 24.1e9)
times = link_times(ours, Engine("line"), sent.wire_bytes, lanes_of(ours, 1, 8, 8).lanes, 0)
print(f"{sent.wire_bytes:,} B, {1e3 * times.achievable_s:.1f} ms ({1e3 * times.achievable_low_s:.1f} to {1e3 * times.achievable_high_s:.1f})")

# Modelled compute time beside a measured one.
prepared = prepare(model, gpu, tp=8)
print(f"prefill {1e3 * prefill_time(prepared, 4096).time_s:.0f} ms, a step of 32 {1e3 * decode_time(prepared, 32, 4096).time_s:.1f} ms")

# Both deployments at the same load, from step times that were measured; the transfer is the link's own.
steps = measured_steps({4096: 0.171, 8192: 0.350}, {1: 0.0098, 32: 0.0125})
transfer = link_transfer(layout, ours, Engine("line"), prefill_tp=8, decode_tp=8)
case = Case(Work(4096, 256, rate_per_s=2), Colocated(steps, instances=2), Split(steps, steps, handover_s=0.010), transfer)
gains = compare(case).gains
print(f"TTFT {1e3 * gains.ttft_s:+.0f} ms, TPOT {1e3 * gains.tpot_s:+.2f} ms, E2E {1e3 * gains.e2e_s:+.0f} ms, positive = disaggregation better")
for low, high in breakeven(case, "osl").intervals:
    print(f"end to end it pays from {low:.0f} to {high:.0f} output tokens")
