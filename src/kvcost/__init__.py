"""kvcost prices the KV transfer of prefill/decode disaggregation.

The names in `__all__` are stable; `examples/api/README.md` says what each is for.

>>> import kvcost
>>> [row] = kvcost.rows("transfer", model="llama2-70b", ctx="4k", link="100gbe")
>>> row["line_rate_s"]
0.1073741824

Importing the package loads none of it: a name brings its module along when it is first used.
"""

TYPE_CHECKING = False
__version__ = "0.1.0"
__all__ = [
    "Answer",
    "BreakEven",
    "Case",
    "Catalog",
    "Colocated",
    "ComputeTime",
    "Encoding",
    "Engine",
    "Gpu",
    "KvLayout",
    "KvcostError",
    "Link",
    "LinkTimes",
    "Model",
    "Notice",
    "Outcome",
    "Prepared",
    "Split",
    "WireBytes",
    "Work",
    "__version__",
    "answer",
    "breakeven",
    "compare",
    "decode_time",
    "exposed_time",
    "fixed_transfer",
    "held_bytes",
    "kv_layout",
    "lanes_of",
    "link_times",
    "link_transfer",
    "marginal_bytes",
    "measured_steps",
    "model_capacity",
    "model_steps",
    "parse_kv_dtype",
    "prefill_time",
    "prepare",
    "rank_bytes",
    "reserved_bytes",
    "rows",
    "state_bytes",
    "wire_bytes",
]

if TYPE_CHECKING:
    from .cases.answers import Answer, answer, rows
    from .catalog.store import Catalog
    from .cost.breakeven import BreakEven, breakeven
    from .cost.case import Case, Outcome, compare, fixed_transfer, link_transfer
    from .cost.compute import ComputeTime, decode_time, prefill_time
    from .cost.dtypes import Encoding, parse_kv_dtype
    from .cost.gpu import Gpu
    from .cost.kv import KvLayout, held_bytes, kv_layout, marginal_bytes, rank_bytes, reserved_bytes, state_bytes
    from .cost.model import Model
    from .cost.overlap import exposed_time
    from .cost.prepare import Prepared, prepare
    from .cost.serving import Colocated, Split, Work, model_capacity
    from .cost.steps import measured_steps, model_steps
    from .cost.transfer import Engine, Link, LinkTimes, lanes_of, link_times
    from .cost.wire import WireBytes, wire_bytes
    from .errors import KvcostError, Notice
else:
    # The same at run time, module by module.
    _HOMES = {
        "cases.answers": "Answer answer rows",
        "catalog.store": "Catalog",
        "cost.breakeven": "BreakEven breakeven",
        "cost.case": "Case Outcome compare fixed_transfer link_transfer",
        "cost.compute": "ComputeTime decode_time prefill_time",
        "cost.dtypes": "Encoding parse_kv_dtype",
        "cost.gpu": "Gpu",
        "cost.kv": "KvLayout held_bytes kv_layout marginal_bytes rank_bytes reserved_bytes state_bytes",
        "cost.model": "Model",
        "cost.overlap": "exposed_time",
        "cost.prepare": "Prepared prepare",
        "cost.serving": "Colocated Split Work model_capacity",
        "cost.steps": "measured_steps model_steps",
        "cost.transfer": "Engine Link LinkTimes lanes_of link_times",
        "cost.wire": "WireBytes wire_bytes",
        "errors": "KvcostError Notice",
    }

    def __getattr__(name):
        """A public name, from the module that holds it."""
        from importlib import import_module

        for home, names in _HOMES.items():
            if name in names.split():
                found = globals()[name] = getattr(import_module(f".{home}", __name__), name)
                return found
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__():
        return sorted({*globals(), *__all__})
