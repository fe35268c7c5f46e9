"""A path of several hops: host staging, a gateway, a slot on either side of a network.

Store-and-forward: every hop carries all bytes before the next one starts, T = sum of bytes / rate.
Pipelined: chunks move over all hops at once, T = bytes / slowest rate, plus the fill of the first chunk.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

from ..errors import KvcostError
from .transfer import Link, Scope

__all__ = ["CHUNK_BYTES", "FORWARDINGS", "Forwarding", "fill_s", "path_link", "path_rate", "path_time_s", "staged_hops"]

Forwarding = Literal["store-and-forward", "pipelined"]
FORWARDINGS: tuple[Forwarding, ...] = ("store-and-forward", "pipelined")

# UCX stages device memory in host fragments of this size (RNDV_FRAG_SIZE, host:512K).
CHUNK_BYTES = 512 * 1024

_SCOPES: tuple[Scope, ...] = ("port", "node", "gpu")  # the scarcest first: it sets how many rails a path has
_WEAKEST = ("estimate", "measured", "user", "spec")


def _check(rates: Sequence[float]) -> None:
    if not rates:
        raise KvcostError("a path needs at least one hop", hint="give hops such as pcie5,ib-ndr,pcie5")
    if not all(rate > 0 for rate in rates):
        raise KvcostError("every hop of a path needs a rate above zero", hint="give each hop a rate such as 25GB/s")


def path_rate(rates: Sequence[float], forwarding: Forwarding) -> float:
    """Bytes/s of a path of hops with these rates.

    store-and-forward  1 / sum(1 / rate)
    pipelined          min(rate)

    math.inf is an unlimited hop. Raises KvcostError for no hops, a rate of zero or less, or an unknown forwarding.

    Two PCIe 4.0 cards without peer access, 25 GB/s into host memory and 25 out of it:

    >>> path_rate([25e9, 25e9], "store-and-forward"), path_rate([25e9, 25e9], "pipelined")
    (12500000000.0, 25000000000.0)
    """
    _check(rates)
    if forwarding not in FORWARDINGS:
        raise KvcostError(f"unknown forwarding '{forwarding}'", hint="write store-and-forward or pipelined")
    if forwarding == "pipelined":
        return min(rates)
    seconds_per_byte = sum(1 / rate for rate in rates)
    return 1 / seconds_per_byte if seconds_per_byte else math.inf


def fill_s(rates: Sequence[float], chunk_bytes: int = CHUNK_BYTES) -> float:
    """Seconds that a pipelined path takes beyond bytes / slowest rate: the first chunk over all hops but the slowest.

    fill = chunk x (sum(1 / rate) - max(1 / rate)); exact for whole chunks, else at most one chunk too long.

    >>> f"{fill_s([25e9, 50e9, 25e9]):.3g}"
    '3.15e-05'
    """
    _check(rates)
    costs = [1 / rate for rate in rates]
    return chunk_bytes * (sum(costs) - max(costs))


def path_time_s(rates: Sequence[float], wire_bytes: int, forwarding: Forwarding, *, chunk_bytes: int = CHUNK_BYTES, hop_fixed_s: Sequence[float] = ()) -> float:
    """Seconds for `wire_bytes` over hops with these rates (bytes/s).

    store-and-forward  sum(fixed) + bytes x sum(1 / rate)
    pipelined          sum(fixed) + bytes / min(rate) + fill of a chunk

    `hop_fixed_s` holds a fixed time per hop. A chunk is never larger than the transfer, so pipelining
    never takes longer than storing and forwarding, and takes as long where one chunk holds everything.

    1 GiB between two cards that stage in host memory at 25 GB/s each way:

    >>> round(path_time_s([25e9, 25e9], 2**30, "store-and-forward"), 4), round(path_time_s([25e9, 25e9], 2**30, "pipelined"), 4)
    (0.0859, 0.043)

    Raises KvcostError for no hops or a rate of zero or less.
    """
    if not wire_bytes:
        return 0.0
    seconds = sum(hop_fixed_s) + wire_bytes / path_rate(rates, forwarding)
    return seconds if forwarding == "store-and-forward" else seconds + fill_s(rates, min(chunk_bytes, wire_bytes))


def staged_hops(network: Link | None, copy_out: Link, copy_in: Link | None = None) -> tuple[Link, ...]:
    """The hops of a transfer without GPUDirect: out to host memory, over the network, in from host memory.

    With no network both cards are in one host: two hops. `copy_in` is the same kind of slot as `copy_out` unless given.

    >>> slot = Link("pcie4_x16", 31.5e9, 25.8e9, 22e9, 26.8e9, "gpu")
    >>> [hop.name for hop in staged_hops(Link("ib_ndr", 50e9, 48.8e9, 46e9, 49.1e9), slot)]
    ['pcie4_x16', 'ib_ndr', 'pcie4_x16']
    """
    last = copy_in or copy_out
    return (copy_out, last) if network is None else (copy_out, network, last)


def path_link(hops: Sequence[Link], forwarding: Forwarding) -> Link:
    """The one link that a path of hops amounts to, for a rail of each of them.

    Line rate, achieved rate and its ends are path_rate of the hops' own; the line rate is None where a
    hop has none. One rail of the path takes one rail of every hop, so it has as many as its scarcest hop:
    a port before a node (the fewest rails of its node rows) before what every GPU owns. A message is
    handled by each hop in turn (the sum) or by all at once (the slowest). Provenance is the weakest hop's.

    >>> slot = Link("pcie5_x16", 63e9, 55.3e9, 52.8e9, 57.2e9, "gpu")
    >>> port = Link("ib_ndr", 50e9, 48.8e9, 46e9, 49.1e9)
    >>> path = path_link([slot, port, slot], "pipelined")
    >>> path.name, path.bandwidth_bytes_per_s, path.scope
    ('pcie5_x16+ib_ndr+pcie5_x16', 50000000000.0, 'port')

    The name joins the hops with + where they work at once, with > where one follows the other.
    A path of one hop is that hop. Raises KvcostError for no hops. The fill of a pipelined path is
    not in its rate: see fill_s.
    """
    if len(hops) == 1:
        return hops[0]
    nominal = [hop.bandwidth_bytes_per_s for hop in hops if hop.bandwidth_bytes_per_s is not None]
    messages = [hop.message_s for hop in hops]
    achieved = path_rate([hop.achieved_bytes_per_s for hop in hops], forwarding)
    scope = min((hop.scope for hop in hops), key=_SCOPES.index)
    return Link(
        name=("+" if forwarding == "pipelined" else ">").join(hop.name for hop in hops),
        bandwidth_bytes_per_s=path_rate(nominal, forwarding) if len(nominal) == len(hops) else None,
        achieved_bytes_per_s=achieved,
        achieved_low_bytes_per_s=path_rate([hop.achieved_low_bytes_per_s for hop in hops], forwarding),
        achieved_high_bytes_per_s=path_rate([hop.achieved_high_bytes_per_s for hop in hops], forwarding),
        scope=scope,
        rails=min(hop.rails for hop in hops if hop.scope == "node") if scope == "node" else 0,
        message_s=sum(messages) if forwarding == "store-and-forward" else max(messages),
        provenance=min((hop.provenance for hop in hops), key=_WEAKEST.index),
        source="; ".join(dict.fromkeys(f"{hop.name}: {hop.source}" for hop in hops)),
        low_name="every hop at its low end",
        high_name="every hop at its high end",
        rate_provenance=min((hop.rate_provenance for hop in hops), key=_WEAKEST.index),
    )
