"""What both deployments are described by: the work, its load, and how many requests fit.

`mono` prices a colocated deployment (continuous batching, chunked prefill), `disagg` a split one (prefill pool, link,
decode pool); both see the hardware through `steps.Curves` alone, so modelled and measured times take the same way.
"""

from __future__ import annotations

from collections.abc import Callable
from math import exp, inf, log, sqrt
from typing import Literal, NamedTuple

from ..errors import KvcostError
from .capacity import memory
from .kv import kv_layout
from .load import check_router
from .prepare import Prepared
from .steps import Steps
from .wire import wire_bytes

__all__ = ["NO_CAP", "Cap", "Capacity", "Colocated", "Split", "Work", "capped", "check_work", "length_moments", "model_capacity"]


class Work(NamedTuple):
    """What arrives: prompts of one length, and how fast.

    prompt_tokens, output_tokens  ISL and OSL
    rate_per_s          requests/s over the whole deployment (open loop)
    concurrency         requests in flight over the whole deployment (closed loop) in place of a rate
    cached_tokens       of the prompt, held by whoever prefills it
    prefix_hit_tokens   of the prompt, held by the decode side: these do not travel
    length_cv           standard deviation of the prompt length over its mean
    """

    prompt_tokens: float
    output_tokens: float
    rate_per_s: float = 0.0
    concurrency: float | None = None
    cached_tokens: float = 0.0
    prefix_hit_tokens: float = 0.0
    length_cv: float = 0.0

    @property
    def ctx_tokens(self) -> float:
        """Mean context of a decoding request: n + m/2."""
        return self.prompt_tokens + self.output_tokens / 2

    @property
    def new_tokens(self) -> float:
        """Prompt tokens that are computed: n - p, at least one."""
        return max(1.0, self.prompt_tokens - self.cached_tokens)


class Cap(NamedTuple):
    """How many requests an instance decodes at once, and what keeps it from more: kv, max-seqs, weights or nothing."""

    requests: float
    name: Literal["kv", "max-seqs", "weights", ""]


# (prompt + output tokens of a request) -> cap
Capacity = Callable[[float], Cap]
_NOTHING = Cap(inf, "")


def NO_CAP(_: float) -> Cap:  # noqa: N802  # a constant of type Capacity
    """No limit on the batch."""
    return _NOTHING


def capped(requests: float) -> Capacity:
    """At most `requests` at once, whatever their length."""
    cap = Cap(requests, "max-seqs")
    return lambda _: cap


def model_capacity(prepared: Prepared, max_seqs: float = inf) -> Capacity:
    """B_cap = min(max_seqs, KV bytes that are free/KV bytes of n + m tokens), for one instance.

    Free is 0.9*HBM - 2 GB - weights on the fullest GPU; KV is reserved for the whole request. A weights cap of 0
    says that nothing fits beside the weights.

    >>> from ..catalog.store import Catalog
    >>> from .prepare import prepare
    >>> model_capacity(prepare(Catalog().model("llama2-70b"), Catalog().gpu("h100"), tp=4), 256)(4096)
    Cap(requests=105, name='kv')
    """
    p = prepared
    group_tp = p.tp // p.attention_dp
    layout = kv_layout(p.model.groups, p.encoding)
    room = memory(p, 1)
    free_bytes = room.usable_bytes_per_gpu - room.weight_bytes_per_gpu

    def capacity(tokens: float) -> Cap:
        if free_bytes <= 0:
            return Cap(0, "weights")
        kv_bytes = wire_bytes(layout, tokens, decode_tp=group_tp).wire_bytes / (group_tp * p.pp)  # type: ignore[arg-type]
        held = int(free_bytes / kv_bytes) * p.attention_dp if kv_bytes else inf
        if not held:
            return Cap(0, "weights")
        return Cap(held, "kv") if held < max_seqs else Cap(max_seqs, "max-seqs")

    return capacity


class Colocated(NamedTuple):
    """A monolithic deployment: `instances` equal ones (a real number where GPUs do not divide evenly).

    chunk_tokens  prompt and decode tokens of one step
    """

    steps: Steps
    capacity: Capacity = NO_CAP
    instances: float = 1.0
    chunk_tokens: float = 8192.0
    router: str = "round-robin"


class Split(NamedTuple):
    """A disaggregated deployment: a prefill pool, a link, a decode pool.

    capacity      of a decode instance; prefill_capacity of a prefill instance (it must hold one prompt)
    handover_s    proxy and scheduling between the pools, beside the transfer
    first_token   which side sends it: the exposed transfer lands before it (decode) or before the second (prefill)
    overlap       serial, push or decode-start; layers and push_floor_s belong to it, push only from push_from_tokens on
    prefill_streams  prompts that a prefill instance works on at once: its attention data parallelism
    ports         first-come ports that the prefill instances feed; 0: min of both pools, so several prefill instances
                  that meet one decode port share it (incast)
    """

    prefill: Steps
    decode: Steps
    capacity: Capacity = NO_CAP
    prefill_instances: int = 1
    decode_instances: int = 1
    router: str = "round-robin"
    first_token: Literal["prefill", "decode"] = "decode"
    handover_s: float = 0.0
    overlap: str = "serial"
    layers: int = 1
    push_floor_s: float = 0.0
    push_from_tokens: float = 0.0
    ports: int = 0
    prefill_streams: int = 1
    prefill_capacity: Capacity = NO_CAP

    @property
    def prefill_servers(self) -> int:
        """Prompts that the prefill pool works on at once."""
        return self.prefill_instances * self.prefill_streams

    @property
    def link_ports(self) -> int:
        """First-come ports of the link; no more than there are prefill instances to feed them."""
        return min(self.ports or self.decode_instances, self.prefill_instances)


def check_work(work: Work, mono: Colocated, split: Split) -> None:
    """Raises KvcostError for lengths, loads and pools that mean nothing, and for an unknown router."""
    if not work.prompt_tokens >= 1 or not work.output_tokens >= 1:
        raise KvcostError("a request needs at least one prompt token and one output token", hint="give --ctx and --osl of 1 or more")
    if work.cached_tokens < 0 or work.cached_tokens > work.prompt_tokens:
        raise KvcostError(f"{work.cached_tokens:,.0f} cached tokens do not fit a prompt of {work.prompt_tokens:,.0f}", hint="give --cached of at most --ctx")
    if not 0 <= work.rate_per_s < inf:
        raise KvcostError("the rate must be zero or more and finite", hint="write --rate 2")
    if work.concurrency is not None and not 0 < work.concurrency < inf:
        raise KvcostError("the concurrency must be above zero and finite", hint="write --concurrency 32")
    if work.concurrency is not None and work.rate_per_s:
        raise KvcostError("a rate and a concurrency cannot both be given", hint="give --rate or --concurrency")
    if min(mono.instances, split.prefill_instances, split.decode_instances) <= 0:
        raise KvcostError("every pool needs at least one instance", hint="give --prefill-instances and --decode-instances of 1 or more")
    check_router(mono.router)
    check_router(split.router)


# Nodes and weights of five-point Gauss-Hermite quadrature, for a standard normal.
_NODES = ((0.0, 8 / 15), (1.3556261799742659, 0.2220759220056126), (2.8569700138728056, 0.011257411327720691))


def length_moments(seconds: Callable[[float], float], tokens: float, length_cv: float) -> tuple[float, float]:
    """E[s] and E[s^2]/E[s]^2 over log-normal prompt lengths of mean `tokens`; (s(tokens), 1) for one length.

    >>> [round(x, 3) for x in length_moments(lambda n: n / 1000, 1000, 0.5)]
    [1.0, 1.25]

    Source: M/G/1 needs the moments over lengths, not the value at the mean length; five-point quadrature.
    """
    if not length_cv:
        return seconds(tokens), 1.0
    sigma = sqrt(log(1.0 + length_cv * length_cv))
    first = second = 0.0
    for node, weight in _NODES:
        for z in (node, -node) if node else (node,):
            value = seconds(tokens * exp(sigma * z - sigma * sigma / 2))
            first += weight * value
            second += weight * value * value
    return first, second / (first * first)
