"""The time that wire bytes take: at line rate, achievable, and in an engine.

T = t0 + descriptors x t_desc + bytes_per_lane / (efficiency x line rate), lanes in parallel.
"""

import math
from typing import Literal, NamedTuple

from ..errors import KvcostError

__all__ = ["Engine", "Lanes", "Link", "LinkTimes", "Scope", "check_tp_pair", "lanes_of", "link_times"]

# What one row of the link catalog is: a port on the wire, something every GPU owns, a whole node.
Scope = Literal["port", "gpu", "node"]


class Link(NamedTuple):
    """One rail of a link, one direction.

    bandwidth_bytes_per_s  line rate (math.inf: unlimited; None: no nominal rate is published)
    achieved_*_bytes_per_s what large messages reach: expected, low end, high end
    rails                  rails of a node row; 0 elsewhere
    message_s              time per message at the wire, for `--engine line` with a block size
    """

    name: str
    bandwidth_bytes_per_s: float | None
    achieved_bytes_per_s: float
    achieved_low_bytes_per_s: float
    achieved_high_bytes_per_s: float
    scope: Scope = "port"
    rails: int = 0
    message_s: float = 0.0
    provenance: str = "user"
    source: str = "a rate given, all of it taken as reached; --efficiency says otherwise"
    low_name: str = ""
    high_name: str = ""
    rate_provenance: str = "user"

    @property
    def efficiency(self) -> float | None:
        """Achieved over line rate."""
        if self.bandwidth_bytes_per_s is None:
            return None
        return 1.0 if math.isinf(self.bandwidth_bytes_per_s) else self.achieved_bytes_per_s / self.bandwidth_bytes_per_s


class Engine(NamedTuple):
    """What an engine's connector adds to the wire.

    t0_s, descriptor_s     fixed time and time per descriptor (expected, low, high)
    posting                serial: descriptors, then bytes; overlapped: the longer of the two
    block_tokens, regions  how the cache is cut; 0 = not cut
    efficiency             share of line rate of its whole path where measured; None = the link's
    hybrid_cache           window layers are sent as windows
    handover_s             proxy and scheduling between the two sides, beside the transfer (expected, low, high)
    chunk_tokens           prompt and decode tokens of one step of a colocated server
    """

    name: str
    t0_s: float = 0.0
    t0_low_s: float = 0.0
    t0_high_s: float = 0.0
    descriptor_s: float = 0.0
    descriptor_low_s: float = 0.0
    descriptor_high_s: float = 0.0
    posting: Literal["serial", "overlapped"] = "serial"
    block_tokens: int = 0
    regions: int = 1
    layers_share_blocks: bool = False
    hybrid_cache: bool = True
    efficiency: float | None = None
    overlap: Literal["serial", "push", "decode-start"] = "serial"
    push_floor_s: float = 0.0
    push_from_tokens: int = 0
    first_token: Literal["prefill", "decode"] = "decode"
    provenance: str = "spec"
    source: str = "definition"
    handover_s: float = 0.010
    handover_low_s: float = 0.003
    handover_high_s: float = 0.168
    chunk_tokens: int = 8192


class LinkTimes(NamedTuple):
    """Seconds for one request's bytes, and the range of the achievable and the engine's figure."""

    line_rate_s: float | None
    achievable_s: float
    achievable_low_s: float
    achievable_high_s: float
    engine_s: float
    engine_low_s: float
    engine_high_s: float


class Lanes(NamedTuple):
    """Rails that one request uses at once, of the rails that are there."""

    lanes: int
    rails: int


def check_tp_pair(prefill_tp: int, decode_tp: int) -> None:
    """Raises KvcostError unless one tensor-parallel size divides the other."""
    if max(prefill_tp, decode_tp) % min(prefill_tp, decode_tp):
        raise KvcostError(
            f"prefill TP {prefill_tp} and decode TP {decode_tp} do not divide each other",
            hint="choose sizes of which one divides the other: connectors split heads evenly",
        )


def lanes_of(link: Link, rails: int | None, prefill_tp: int, decode_tp: int) -> Lanes:
    """Parallel lanes = min(t_P, t_D, rails); rails default to 1 for a port, to every rank's own for a GPU link.

    >>> nvlink4 = Link("nvlink4", 450e9, 396e9, 371e9, 397e9, "gpu")
    >>> lanes_of(nvlink4, None, 8, 8)
    Lanes(lanes=8, rails=8)
    """
    ranks = min(prefill_tp, decode_tp)
    if rails is None:
        rails = {"port": 1, "gpu": ranks, "node": link.rails}[link.scope]
    return Lanes(min(ranks, rails), rails)


def link_times(link: Link, engine: Engine, wire_bytes: int, lanes: int, descriptors: int) -> LinkTimes:
    """Seconds for `wire_bytes` over `lanes` rails of `link` under `engine`; all 0 over an unlimited link.

    line rate   bytes_per_lane / line_rate
    achievable  bytes_per_lane / achieved rate, low to high
    engine      t0 + descriptors x t_desc + bytes_per_lane / rate, or t0 + the larger term (posting overlapped)

    >>> link = Link("100gbe", 12.5e9, 11.5e9, 1.2e9, 12.25e9)
    >>> link_times(link, Engine("line"), 1342177280, 1, 0).line_rate_s
    0.1073741824
    """
    if wire_bytes == 0 or link.bandwidth_bytes_per_s == math.inf:
        return LinkTimes(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    lane_bytes = wire_bytes / lanes
    expected = lane_bytes / link.achieved_bytes_per_s
    low = lane_bytes / link.achieved_high_bytes_per_s
    high = lane_bytes / link.achieved_low_bytes_per_s
    nominal = None if link.bandwidth_bytes_per_s is None else lane_bytes / link.bandwidth_bytes_per_s
    if engine.efficiency is None or nominal is None:
        wire, wire_low, wire_high = expected, low, high
    else:
        wire = nominal / engine.efficiency
        wire_low, wire_high = min(low, wire), max(high, wire)
    post = descriptors * engine.descriptor_s
    post_low, post_high = descriptors * engine.descriptor_low_s, descriptors * engine.descriptor_high_s
    if engine.posting == "serial":
        costs = wire + post, wire_low + post_low, wire_high + post_high
    else:
        costs = max(wire, post), max(wire_low, post_low), max(wire_high, post_high)
    return LinkTimes(nominal, expected, low, high, engine.t0_s + costs[0], engine.t0_low_s + costs[1], engine.t0_high_s + costs[2])
