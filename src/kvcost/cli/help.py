"""The help of a command: options in sections, in one order everywhere, an option a line where it fits."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["GROUPS", "write_options"]

# Every option that is not of the last section, in the order in which commands list them.
GROUPS: dict[str, tuple[str, ...]] = {
    "Model and cache": ("model", "ctx", "kv_dtype", "state_dtype", "encoder_tokens", "block_size", "hybrid_cache", "prefix_hit"),
    "Link and engine": ("link", "path", "staging", "forwarding", "rails", "bandwidth", "efficiency", "latency", "engine", "overlap", "basis"),
    "Layout": (
        *("gpu", "prefill_gpu", "decode_gpu", "mono_gpu", "tp", "prefill_tp", "decode_tp", "mono_tp", "pp", "attention_dp"),
        *("prefill_instances", "decode_instances", "mono_instances", "gpus_total"),
    ),
    "Work": ("osl", "rate", "concurrency", "weight_dtype", "phase", "batch", "cached", "isl_cv"),
    "Scheduler": ("chunk", "max_seqs", "router", "handover", "pool_derate"),
    "Targets": ("objective", "slo_ttft", "slo_tpot", "slo_itl_p99", "attainment", "gpu_hour_price", "fail_if"),
    "Measured instead of modelled": ("prefill_time", "decode_step_time", "transfer_time", "saved", "saved_frac"),
}
_REST = "Other options"
_DEFAULT = re.compile(r"\s*\[default: \(?(.*?)\)?\]$")
_SECTION = {name: section for section, names in GROUPS.items() for name in names}


def write_options(command: Any, ctx: Any, formatter: Any) -> None:
    """Write a command's arguments and options; defaults stand in brackets."""
    sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], **{section: [] for section in GROUPS}, _REST: []}
    for param in command.get_params(ctx):
        record = param.get_help_record(ctx)
        if record is not None:
            section = "Arguments" if param.param_type_name == "argument" else _SECTION.get(param.name, _REST)
            sections[section].append((record[0], _DEFAULT.sub(r" [\1]", record[1])))
    several = any(sections[section] for section in GROUPS)
    for section, records in sections.items():
        if records:
            with formatter.section(section if several or section != _REST else "Options"):
                formatter.write_dl(records)
