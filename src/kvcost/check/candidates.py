"""Single changes of a deployment, the nearest first: a setting of the software, its layout, its link.

Each is a mapping of options to words. What it is worth is for the model to say; nothing here knows.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..cases.plan import Options
from ..catalog.store import Catalog

__all__ = ["Assignments", "layouts", "links", "settings"]

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
    """Faster links in ascending order: of the same kind, then of any network, one port each; then nodes with several rails."""
    if "path" in options:
        return
    rate = row["bandwidth_bytes_per_s"]
    if "bandwidth" in options or not catalog.has("links", row["link"]):
        option = "bandwidth" if "bandwidth" in options else "link"
        faster = [rate * 2**power for power in range(1, 8)] if rate else []
        yield [{option: f"{value * 8 / 1e9:g}Gbps"} for value in faster if value <= MAX_BYTES_PER_S]
        return
    entries = catalog.entries("links")
    now = catalog.link(row["link"])
    kind = entries[now.name]["kind"]
    faster_links = sorted(
        (link.achieved_bytes_per_s, name)
        for name in entries
        if (link := catalog.link(name)).achieved_bytes_per_s > now.achieved_bytes_per_s or entries[name]["scope"] == "node"
    )
    names = [name for _, name in faster_links]
    yield [{"link": name} for name in names if entries[name]["kind"] == kind and entries[name]["per"] == "port"]
    yield [{"link": name} for name in names if entries[name]["kind"] in NETWORKS and entries[name]["per"] == "port"]
    yield [{"link": name} for name in names if entries[name]["kind"] in NETWORKS and str(entries[name]["per"]).endswith("rails")]
