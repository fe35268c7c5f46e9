"""Single changes of a deployment, the nearest first: a setting of the software, its layout, its link.

Each is a mapping of options to words. What it is worth is for the model to say; nothing here knows.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ..cases.plan import Options
from ..catalog.store import Catalog

__all__ = ["Assignments", "backward", "layouts", "links", "settings"]

Assignments = dict[str, str]
Row = dict[str, Any]
SIXTEEN_BIT = ("bf16", "fp16")
NETWORKS = ("infiniband", "roce", "ethernet")
MAX_TP, MAX_INSTANCES = 8, 64
MAX_BYTES_PER_S = 200e9  # 1.6 Tb/s a port


def settings(row: Row, options: Options) -> Iterator[Assignments]:
    """What can be changed without touching hardware."""
    if row["kv_dtype"] in SIXTEEN_BIT:
        yield {"kv_dtype": "fp8"}
    if row["overlap"] == "serial":
        yield {"overlap": "push"}
    if row["weight_dtype"] in SIXTEEN_BIT:
        yield {"weight_dtype": "fp8"}
        if row["kv_dtype"] in SIXTEEN_BIT:
            yield {"weight_dtype": "fp8", "kv_dtype": "fp8"}
    if row["basis"] == "engine" and 0 < row["block_size_tokens"] < 128:
        yield {"block_size": "128"}
    if options.get("hybrid_cache") == ["off"]:
        yield {"hybrid_cache": "on"}
    if options.get("router") == ["random"]:
        yield {"router": "round-robin"}


def backward(row: Row) -> Iterator[Assignments]:
    """Settings taken back, which mends a limit that asks for a split not to pay."""
    if row["kv_dtype"] == "fp8":
        yield {"kv_dtype": "bf16"}
    if row["overlap"] == "push":
        yield {"overlap": "serial"}


def layouts(row: Row, options: Options) -> Iterator[Assignments]:
    """Rails, tensor-parallel sizes and instances, one step up and then down; the monolithic side keeps as many GPUs as the pools."""
    ranks = min(row["prefill_tp"], row["decode_tp"])
    rails = row["rails"]
    while rails < ranks:
        rails = min(2 * rails, ranks)
        yield {"rails": str(rails)}
    now = _Layout(row, options)
    largest = max(MAX_TP, row["prefill_tp"], row["decode_tp"])
    for up in (True, False):
        for pools in (("prefill",), ("decode",), ("prefill", "decode"), ("prefill", "decode", "mono")):
            yield from now.with_tp(pools, up, largest)
        for pool in ("prefill", "decode"):
            yield from now.with_instances(pool, 1 if up else -1)
    for up in (True, False):
        if "mono_tp" in options:
            yield from now.with_tp(("mono",), up, largest)
        if "mono_instances" in options:
            yield from now.with_instances("mono", 1 if up else -1)


class _Layout:
    """How many GPUs each side has, and what must change along with it so that both sides keep the same number."""

    def __init__(self, row: Row, options: Options) -> None:
        self.given = options
        self.tp = {"prefill": row["prefill_tp"], "decode": row["decode_tp"]}
        self.tp["mono"] = int(options["mono_tp"][0]) if "mono_tp" in options else max(self.tp.values())
        self.instances = {pool: _count(options, f"{pool}_instances") for pool in ("prefill", "decode")}
        self.instances["mono"] = _count(options, "mono_instances")
        self.equal = self._split(self.tp, self.instances) == self.tp["mono"] * self.instances["mono"]

    @staticmethod
    def _split(tp: dict[str, int], instances: dict[str, int]) -> int:
        return sum(tp[pool] * instances[pool] for pool in ("prefill", "decode"))

    def with_tp(self, pools: tuple[str, ...], up: bool, largest: int) -> Iterator[Assignments]:
        """The pools at twice or half their tensor-parallel size."""
        tp = {pool: (size * 2 if up else size // 2) if pool in pools else size for pool, size in self.tp.items()}
        if "mono" not in pools and "mono_tp" not in self.given:
            tp["mono"] = max(tp["prefill"], tp["decode"])
        if all(1 <= tp[pool] <= largest for pool in pools):
            written = {f"{pool}_tp": str(tp[pool]) for pool in pools if pool != "mono" or "mono_tp" in self.given}
            yield from self._balanced(written, tp, self.instances)

    def with_instances(self, pool: str, step: int) -> Iterator[Assignments]:
        """One instance more or less in a pool."""
        instances = {**self.instances, pool: self.instances[pool] + step}
        if 1 <= instances[pool] <= MAX_INSTANCES:
            yield from self._balanced({f"{pool}_instances": str(instances[pool])}, self.tp, instances)

    def _balanced(self, written: Assignments, tp: dict[str, int], instances: dict[str, int]) -> Iterator[Assignments]:
        """The change, with monolithic instances for as many GPUs where their number is given; nothing where the comparison would be unfair."""
        split = self._split(tp, instances)
        if "mono_instances" not in self.given or split == tp["mono"] * instances["mono"]:
            yield written
        elif "mono_instances" in written or "mono_tp" in written:
            if tp["mono"] * instances["mono"] >= split:
                yield written
        elif not self.equal or split % tp["mono"] == 0:
            yield {**written, "mono_instances": str(split // tp["mono"])} if self.equal else written


def _count(options: Options, option: str) -> int:
    return int(float(options[option][0])) if option in options else 1


def links(row: Row, options: Options, catalog: Catalog) -> Iterator[list[Assignments]]:
    """Ladders of links, the nearest step first: faster ones of the same kind, then of any network, one port each; then
    nodes with several rails; the GPUs' own where it reaches both pools; at last slower ones, which mend a limit that
    asks for a split not to pay.
    """
    if "path" in options:
        return
    rate = row["bandwidth_bytes_per_s"]
    if "bandwidth" in options or not catalog.has("links", row["link"]):
        option = "bandwidth" if "bandwidth" in options else "link"
        for factors in ([2**power for power in range(1, 8)], [2**-power for power in range(1, 5)]):
            yield [{option: f"{rate * factor * 8 / 1e9:g}Gbps"} for factor in factors if rate and rate * factor <= MAX_BYTES_PER_S]
        return
    entries = catalog.entries("links")
    now = catalog.link(row["link"])
    kind = entries[now.name]["kind"]
    rates = {name: catalog.link(name).achieved_bytes_per_s for name in entries}
    networks = sorted((name for name in entries if entries[name]["kind"] in NETWORKS), key=lambda name: rates[name])
    ports = [name for name in networks if entries[name]["per"] == "port"]
    faster = [name for name in ports if rates[name] > rates[now.name]]
    yield [{"link": name} for name in faster if entries[name]["kind"] == kind]
    yield [{"link": name} for name in faster]
    yield [{"link": name} for name in networks if str(entries[name]["per"]).endswith("rails")]
    yield [{"link": name} for name in _scale_up(row, options, catalog)]
    yield [{"link": name} for name in reversed(ports) if rates[name] < rates[now.name]]


def _scale_up(row: Row, options: Options, catalog: Catalog) -> list[str]:
    """The link between the GPUs of a node or rack, where both pools fit into one."""
    gpu = catalog.entries("gpus").get(row["gpu"] or "", {})
    pools = {options.get(f"{pool}_gpu", options.get("gpu", ("",)))[0] for pool in ("prefill", "decode")}
    used = sum(row[f"{pool}_tp"] * _count(options, f"{pool}_instances") for pool in ("prefill", "decode"))
    if len(pools) > 1 or not gpu.get("scaleup") or used > gpu["scaleup_gpus"]:
        return []
    words = re.findall(r"[\w.]+", gpu["scaleup_kind"])
    return [catalog.find("links", word) for word in reversed(words) if catalog.has("links", word)][:1]
