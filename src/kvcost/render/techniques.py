"""`reduce` on a screen: for each case a table of techniques, the best first; then what is known of each."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ..units.show import show_time
from .cells import Column, columns_of
from .plain import Line, Screen

__all__ = ["show_techniques", "table_of"]

Row = Mapping[str, Any]
_SENT = ("kv_fraction", "wire_bytes", "line_rate_s", "achievable_s", "engine_s", "exposed_s")
_ASKED = (
    *("model", "ctx_tokens", "link", "bandwidth_bytes_per_s", "engine", "overlap", "basis", "prefill_tp", "decode_tp", "prefix_hit_tokens"),
    *("gpu", "osl_tokens", "rate_per_s", "concurrency", "objective"),
)
_CODEC = ("codec_s", "codec_budget_s", "codec_worth")


def show_techniques(rows: Sequence[Row], screen: Screen) -> None:
    """Print every case, then the notes on the techniques, each once."""
    for case in _cases(rows):
        for words, style in _title(case[0]):
            screen.text(words, style)
        screen.text("")
        marked = [{**row, "caution": "!" if row["caution"] else ""} for row in case]
        for columns in _tables(_fields(case), marked, screen.width):
            screen.table(columns)
            screen.text("")
    screen.text("the best first; codec budget: the most time of encoding and decoding that is worth it", "dim")
    if any(row["technique"] != "none" and row["kv_dtype"] != rows[0]["kv_dtype"] and row["net_gain_s"] is not None for row in rows):
        words = "; the time of a request in the split itself is e2e disagg" if any(row["e2e_disagg_s"] is not None for row in rows) else ""
        screen.text(f"a stored format makes monolithic serving faster too, and what splitting gains is told against that{words}", "dim")
    if any(row["caution"] for row in rows):
        screen.text("!: see CAUTION below", "dim")
    screen.text("`kvcost techniques NAME` prints all that is published of one, other models included", "dim")
    screen.text("")
    screen.card(list(_notes(rows)))


def table_of(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """The columns that a person is shown, as one table of all cases: what tells cases apart stands first."""
    named = [dict(zip(columns, row, strict=True)) for row in rows]
    asked = [row for row in named if row["technique"] == "none"]
    apart = [field for field in _ASKED if len({row[field] for row in asked}) > 1]
    fields = (*apart, *_fields(named))
    return fields, [tuple(row[field] for field in fields) for row in named]


def _fields(rows: Sequence[Row]) -> list[str]:
    """The columns of a table: those that are known of some row, and the saving that would have to be there where a gain is not."""
    fields = ["technique", *(["caution"] if any(row["caution"] for row in rows) else []), *_SENT]
    fields += [field for field in ("net_gain_s", "e2e_disagg_s") if any(row[field] is not None for row in rows)]
    fields += ["breakeven_saved_s"] if any(row["net_gain_s"] is None for row in rows) else []
    fields += ["verdict"] if any(row["verdict"] != "unknown" for row in rows) else []
    return [*fields, *_CODEC]


def _cases(rows: Sequence[Row]) -> Iterator[list[Row]]:
    """The rows of each case: one without a technique, and those behind it."""
    case: list[Row] = []
    for row in rows:
        if row["technique"] == "none" and case:
            yield case
            case = []
        case.append(row)
    yield case


def _tables(fields: Sequence[str], case: Sequence[Row], width: int | None) -> Iterator[list[Column]]:
    """One table, or on a narrow terminal as many as it takes, each with the techniques first."""
    name, *others = columns_of(fields, [[row[field] for field in fields] for row in case])
    needs = {id(column): 2 + max(map(len, [column.heading, *column.cells])) for column in (name, *others)}
    table = [name]
    for column in others:
        if width is not None and len(table) > 1 and sum(needs[id(item)] for item in (*table, column)) - 2 > width:
            yield table
            table = [name]
        table.append(column)
    yield table


def _title(row: Row) -> list[tuple[str, str]]:
    title = f"{row['model']}, {row['ctx_tokens']:,} tokens, {row['kv_dtype']} KV over {row['link']}"
    title += f", prefill TP {row['prefill_tp']} to decode TP {row['decode_tp']}, basis {row['basis']}"
    lines = [(title, "bold")]
    if row["mono_instances"] is not None:
        load = f"{row['concurrency']} in flight" if row["concurrency"] is not None else f"{row['rate_per_s'] or 0:g} requests/s"
        pools = f"{row['prefill_instances']} prefill and {row['decode_instances']} decode against {row['mono_instances']:g} monolithic instances"
        lines.append((f"{pools}, {row['weight_dtype']} weights on {row['gpu']}, {row['osl_tokens']:,} output tokens, {load}", ""))
    if row["verdict"] != "unknown":
        lines.append((f"as asked: {row['verdict']}; {row['reason']}", ""))
    return lines


def _notes(rows: Sequence[Row]) -> Iterator[Line]:
    """What is published of each technique, what was measured, and where it fails; a technique's name stands once."""
    said: set[tuple[str, str]] = set()
    named: set[str] = set()
    present = {row["technique"] for row in rows}
    texts = {(row["technique"], row["quality"]) for row in rows}
    varied = {name for name in present if sum(technique == name for technique, _ in texts) > 1}
    for row in sorted(rows, key=_first_places(rows)):
        quality = f"{row['quality']} ({_where(row)})" if row["technique"] in varied else row["quality"]
        lines = [("", quality), ("measured", row["measured"]), ("CAUTION", row["caution"]), ("codec", _codec_words(row))]
        if "+" in row["technique"] and present.issuperset(row["technique"].split("+")):
            lines[:2] = [("", "see its parts")]
        for what, words in lines:
            if words and (row["technique"], words) not in said:
                said.add((row["technique"], words))
                label = "" if row["technique"] in named else row["technique"]
                named.add(row["technique"])
                yield Line(label, note=f"{what}: {words}" if what else words)


def _first_places(rows: Sequence[Row]) -> Callable[[Row], int]:
    """The order in which techniques first appear."""
    order = {name: place for place, name in enumerate(dict.fromkeys(row["technique"] for row in rows))}
    return lambda row: order[row["technique"]]


def _codec_words(row: Row) -> str:
    if row["codec_worth"] is False:
        return f"not worth it: {show_time(row['codec_s'])} of encoding and decoding for {show_time(row['codec_budget_s'])} of transfer ({_where(row)})"
    if row["codec_s"] is None and row["codec_budget_s"] is not None:
        return "time unknown and left out; worth it below its codec budget; give --codec-time"
    return ""


def _where(row: Row) -> str:
    return f"{row['ctx_tokens']:,} tokens over {row['link']}"
