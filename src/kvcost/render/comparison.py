"""The one-screen answer of `breakeven`: the verdict, both deployments side by side, where TTFT goes, where the sign turns."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..cases.document import Source
from ..units.show import show_rate, show_significant, show_time
from .cells import Column
from .plain import Line, Screen

__all__ = ["show_breakeven"]

Row = Mapping[str, Any]
_BASES = {"line-rate": "at line rate", "achievable": "as achievable, engine's own time left out", "engine": "in the engine"}
# Letters of the longest bar, the fewest on a narrow terminal, and what stands beside it.
BAR_CELLS, LEAST_CELLS, BESIDE_BAR = 48, 12, 25
A_PAGE = 16


def show_breakeven(row: Row, sources: Mapping[str, Source], screen: Screen) -> None:
    """Print the answer to one question."""
    for words, style in _title(row):
        screen.text(words, style)
    screen.text("")
    screen.card(_verdict(row))
    screen.text("")
    if row["ttft_mono_s"] is not None or row["ttft_disagg_s"] is not None:
        screen.table(_sides(row))
        screen.text("")
        _waterfall(row, screen)
        screen.text("")
    screen.card(_turning(row))
    if row.get("what_if"):
        screen.text("")
        screen.table(_changes(row))
    if row.get("prefill_elsewhere"):
        screen.text("")
        screen.table(_elsewhere(row))
    if row.get("saved_needed"):
        screen.text("")
        screen.text("has to be saved, by context and link", "bold")
        screen.table(_needed(row["saved_needed"]))
    screen.text("")
    for line in _origins(sources, row["basis"] == "engine"):
        screen.text(line, "dim")


def _title(row: Row) -> list[tuple[str, str]]:
    load = f"{row['rate_per_s']:g} requests/s" if row["rate_per_s"] is not None else "load unknown"
    if row["concurrency"] is not None:
        load = f"{row['concurrency']} requests in flight"
    out = f"{row['osl_tokens']:,} out" if row["osl_tokens"] else "output unknown"
    title = f"{row['model']}, {row['ctx_tokens']:,} tokens in, {out}, {load}, {row['kv_dtype']} KV over {row['link']}"
    if row["gpu"] is None or row["mono_instances"] is None:
        return [(title, "bold")]
    layout = (
        f"{row['mono_instances']:g} monolithic instances against {row['prefill_instances']} prefill (TP {row['prefill_tp']})"
        f" and {row['decode_instances']} decode (TP {row['decode_tp']}), {row['weight_dtype']} weights, on {row['gpu']}; transfer {_BASES[row['basis']]}"
    )
    return [(title, "bold"), (layout, "")]


def _signed(seconds: float | None) -> str:
    if seconds is None:
        return "-"
    return f"{'+' if seconds >= 0 else '-'}{show_time(abs(seconds))}"


def _verdict(row: Row) -> list[Line]:
    lines = [Line("verdict", row["verdict"], note=row["reason"])]
    if row["net_gain_s"] is not None:
        ends = row["net_gain_low_s"], row["net_gain_high_s"]
        span = f"{_signed(ends[0])} to {_signed(ends[1])}" if None not in ends else ""
        lines.append(Line("net gain", _signed(row["net_gain_s"]), span, note=f"{_gained(row)}, positive = disaggregation better"))
    return lines


def _gained(row: Row) -> str:
    """The quantity whose gain is the net gain and whose sign the roots are of."""
    return {"all": "E2E", "goodput": "E2E"}.get(row["objective"], str(row["objective"]))


_PAIRS = (
    ("TTFT", "ttft", "ttft_gain_s"),
    ("TTFT p90", "ttft_p90", None),
    ("TPOT", "tpot", "tpot_gain_s"),
    ("p99 gap between tokens", "itl_p99", "itl_p99_gain_s"),
    ("E2E", "e2e", "e2e_gain_s"),
)


def _sides(row: Row) -> list[Column]:
    names, ours, theirs, gains = [], [], [], []
    for name, field, gain in _PAIRS:
        mono, disagg = row[f"{field}_mono_s"], row[f"{field}_disagg_s"]
        if mono is None and disagg is None:
            continue
        names.append(name)
        ours.append("saturated" if mono is None else show_time(mono))
        theirs.append("saturated" if disagg is None else show_time(disagg))
        both = None if mono is None or disagg is None else mono - disagg
        gains.append(_signed(row[gain] if gain else both))
    if row["goodput_mono_per_gpu"] is not None:
        names.append("goodput per GPU")
        ours.append(f"{show_significant(row['goodput_mono_per_gpu'])}/s")
        theirs.append(f"{show_significant(row['goodput_disagg_per_gpu'])}/s")
        ratio = row["goodput_disagg_per_gpu"] / row["goodput_mono_per_gpu"] if row["goodput_mono_per_gpu"] else None
        gains.append("-" if ratio is None else f"x{ratio:.2f}")
    return [Column("", names, False), Column("monolithic", ours, True), Column("disaggregated", theirs, True), Column("gain", gains, True)]


def _segments(row: Row, side: str) -> list[tuple[str, str, float]]:
    """Mark, name and seconds of each part of a side's TTFT, in the order in which a request meets them; none where it saturates."""
    if row[f"ttft_{side}_s"] is None:
        return []
    if side == "mono":
        parts = [("w", "wait", "mono_wait_s"), ("r", "running step", "mono_residual_s"), ("P", "prefill", "mono_prompt_s")]
    else:
        parts = [("w", "wait", "prefill_wait_s"), ("P", "prefill", "prefill_s")]
        if row["first_token"] == "decode":
            parts += [("h", "hand-over", "handover_s"), ("l", "link wait", "link_wait_s"), ("T", "transfer", "exposed_s")]
            parts += [("a", "admission", "admission_s"), ("d", "decode step", "decode_step_s")]
    return [(mark, name, row[field]) for mark, name, field in parts if row[field]]


def _waterfall(row: Row, screen: Screen) -> None:
    """Two bars, a letter a part, readable without colour."""
    sides = {"monolithic": _segments(row, "mono"), "disaggregated": _segments(row, "disagg")}
    longest = max((sum(part[2] for part in parts) for parts in sides.values()), default=0.0)
    if not longest:
        return
    cells = BAR_CELLS if screen.width is None else max(LEAST_CELLS, min(BAR_CELLS, screen.width - BESIDE_BAR))
    screen.text(f"where the first token's time goes ({show_time(longest / cells)} a letter)", "bold")
    lines = []
    for name, parts in sides.items():
        bar = "".join(mark * round(seconds / longest * cells) for mark, _, seconds in parts)
        legend = ", ".join(f"{mark} {word} {show_time(seconds)}" for mark, word, seconds in parts)
        lines.append(Line(name, bar or "saturated", note=legend))
    if screen.fits(lines):
        screen.card(lines)
        return
    screen.card([line._replace(note="") for line in lines])
    for line in lines:
        screen.text(f"{line.label}: {line.note}" if line.note else "", "dim")


def _turning(row: Row) -> list[Line]:
    lines = []
    if row["breakeven_saved_s"] is not None:
        note = "exposed transfer, hand-over and, where decode sends the first token, its step"
        lines.append(Line("has to be saved", show_time(row["breakeven_saved_s"]), note=note))
    turns = []
    if row["breakeven_osl_tokens"] is not None:
        turns.append(f"{row['breakeven_osl_tokens']:,.0f} output tokens")
    if row["breakeven_bandwidth_bytes_per_s"] is not None:
        turns.append(f"{show_rate(row['breakeven_bandwidth_bytes_per_s'])} of line rate")
    if row["breakeven_rate_per_s"] is not None:
        turns.append(f"{row['breakeven_rate_per_s']:,.3g} requests/s")
    if row["breakeven_prefix_hit_tokens"] is not None:
        turns.append(f"{row['breakeven_prefix_hit_tokens']:,.0f} tokens held by the decode side")
    if row["breakeven_kv_bits"] is not None:
        turns.append(f"{row['breakeven_kv_bits']:,.3g} bits per KV element")
    if turns:
        lines.append(Line("sign turns at", "; ".join(turns), note=f"the nearest root of each, of the gain in {_gained(row)}"))
    if row["breakeven_ctx_tokens"]:
        spans = [f"{'any' if low is None else f'{low:,.0f}'} to {'any' if high is None else f'{high:,.0f}'}" for low, high in row["breakeven_ctx_tokens"]]
        lines.append(Line("gains at contexts", ", ".join(spans)))
    if row["limit"]:
        busy = "" if row["link_utilisation"] is None else f"; the link is {row['link_utilisation']:.1%} busy"
        lines.append(Line("split saturates", f"{row['limit']} first, at {row['limit_rate_per_s']:,.3g} requests/s{busy}"))
    return lines + _advice(row)


def _advice(row: Row) -> list[Line]:
    """The router's threshold, the layout that was chosen, and what it costs."""
    lines = []
    if row["threshold_tokens"] is not None:
        ends = [
            f"{row[f'threshold_{end}_tokens']:,.0f} at {name}"
            for end, name in (("half_rate", "half the load"), ("higher_rate", "1.5x the load"))
            if row[f"threshold_{end}_tokens"]
        ]
        note = "uncached tokens from which this split sends a prompt: llm-d nonCachedTokens, Dynamo effective ISL" + "".join(f"; {end}" for end in ends)
        tokens = f"{row['threshold_tokens']:,.0f} tokens" if row["threshold_tokens"] >= A_PAGE else f"none: below {A_PAGE} tokens"
        lines.append(Line("router threshold", tokens, note=note))
    for field, name in (("layout", "best layouts"), ("runner_up", "runner-up"), ("layout_remark", "remark")):
        if row[field]:
            lines.append(Line(name, note=row[field]))
    costs = [(side, row[f"cost_{side}_per_mtok"]) for side in ("mono", "disagg")]
    return lines + [Line(f"cost, {side}", f"${cost:,.3f}", note="per million output tokens") for side, cost in costs if cost is not None]


def _changes(row: Row) -> list[Column]:
    known = row["net_gain_s"] is not None or any(change.net_gain_s is not None for change in row["what_if"])
    values = [_signed(change.net_gain_s) if known else show_time(change.breakeven_saved_s or 0.0) for change in row["what_if"]]
    return [
        Column("what would change it", [change.change for change in row["what_if"]], False),
        Column(f"net gain, {_gained(row)}" if known else "has to be saved", values, True),
        Column("verdict", [change.verdict for change in row["what_if"]], False),
    ]


def _elsewhere(row: Row) -> list[Column]:
    saved, found = row["breakeven_saved_s"], row["prefill_elsewhere"]
    shares = ["-" if saved is None else f"{saved / item.prefill_s:.0%}" for item in found]
    return [
        Column("a prefill of this prompt takes", [f"on {item.tp} x {item.gpu}" for item in found], False),
        Column("time", [show_time(item.prefill_s) for item in found], True),
        Column("of which would have to be saved", shares, True),
    ]


def _needed(found: Sequence[Any]) -> list[Column]:
    links = list(dict.fromkeys(item.link for item in found))
    lengths = list(dict.fromkeys(item.ctx_tokens for item in found))
    times = {(item.ctx_tokens, item.link): "-" if item.saved_s is None else show_time(item.saved_s) for item in found}
    return [Column("ctx tokens", [f"{length:,}" for length in lengths], True)] + [
        Column(link, [times[length, link] for length in lengths], True) for link in links
    ]


def _origins(sources: Mapping[str, Source], engine: bool) -> Sequence[str]:
    """What the answer rests on, a line an entry; an engine's fixed time where it is in the figures."""
    shown = [
        (quantity.partition("[")[0], source)
        for quantity, source in sources.items()
        if quantity.startswith(("efficiency", "compute_constants", "handover_s", *(("t0_s",) if engine else ())))
    ]
    return [f"{source.of}: {name.removesuffix('_s').replace('_', ' ')} ({source.provenance}); {source.source}" for name, source in shown]
