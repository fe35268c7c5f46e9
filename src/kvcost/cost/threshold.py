"""The router's question: the number of uncached prompt tokens from which on a prompt is worth sending to the prefill pool.

The deployment runs as it is loaded; one more prompt may be prefilled where it will be decoded, or be sent. Local work
delays everyone who decodes there; remote work waits for the pool, the transfer and the hand-over:

    G(e) = S(e) + B*I(e) - [w_P + s(e) + handover + w_L + E(e) + T_D where decode sends the first token]

S, I: the prompt's chunk steps beside the B requests that decode, and what they add; s: a prefill by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from .case import Case
from .disagg import Pools, pools, with_transfer
from .roots import crossings

__all__ = ["Threshold", "prompt_gain", "router_threshold"]

_LEAST_BUDGET = 64.0


class Threshold(NamedTuple):
    """Uncached prompt tokens from which on sending a prompt away gains at this load; None where no length does.

    own_tokens         the same when only the request's own time counts, not that of those who decode beside it
    at_half_rate_tokens, at_higher_rate_tokens  at 0.5x and 1.5x the load
    reason             why tokens is None, else ""
    """

    tokens: float | None
    own_tokens: float | None
    at_half_rate_tokens: float | None
    at_higher_rate_tokens: float | None
    reason: str


def prompt_gain(case: Case, found: Pools, *, others: float = 1.0) -> Callable[[float], float]:
    """G(e) in seconds as a function of uncached tokens, beside pools under load; `others` weighs the delay of those who decode."""
    work, side = case.work, case.split
    budget = max(_LEAST_BUDGET, case.mono.chunk_tokens - found.batch)
    due_s = found.step_s if side.first_token == "decode" else 0.0
    waits_s = found.prefill_wait_s + with_transfer(found, case.transfer_s).link_wait_s

    def gain(uncached: float) -> float:
        prompt = max(work.prompt_tokens, uncached)
        cached = prompt - uncached
        here = side.decode(prompt, cached, work.ctx_tokens)
        local_s, chunks = here.chunks(budget, found.batch)
        added_s = local_s - chunks * here.decode(found.batch) if found.batch else local_s
        own = found._replace(work=work._replace(prompt_tokens=prompt, cached_tokens=cached), prefill_s=side.prefill(prompt, cached, work.ctx_tokens).prefill_s)
        sent = with_transfer(own._replace(rate_per_s=0.0), case.transfer(prompt, cached, None))
        return local_s + others * found.batch * added_s - (waits_s + own.prefill_s + side.handover_s + sent.exposed_s + due_s)

    return gain


def _first(case: Case, found: Pools, high: float, others: float) -> float | None:
    """The shortest prompt with a gain, up to `high` tokens."""
    if found.limit:
        return None
    gain = prompt_gain(case, found, others=others)
    if gain(1.0) > 0:
        return 1.0
    return next((item.at for item in crossings(gain, 1.0, high) if item.rising), None)


def router_threshold(case: Case, *, high: float = 131072.0) -> Threshold:
    """The threshold for llm-d (nonCachedTokens), Dynamo (effective ISL) and the vLLM and SGLang routers, in tokens.

    A prompt's delay to each of the B requests that decode beside it counts like its own. The load is that of the case.

    >>> from .case import fixed_transfer
    >>> from .serving import Colocated, Split, Work
    >>> from .steps import measured_steps
    >>> steps = measured_steps({1024: 0.05, 4096: 0.2}, {1: 0.010})
    >>> case = Case(Work(4096, 256, rate_per_s=2), Colocated(steps, instances=2), Split(steps, steps, handover_s=0.01), fixed_transfer(0.05))
    >>> round(router_threshold(case).tokens)
    507

    Raises nothing of its own; where the pools saturate the reason says so.
    """
    found = pools(case.work, case.split)
    if found.limit:
        return Threshold(None, None, None, None, f"the pools saturate at this load ({found.limit})")
    rate = case.work.rate_per_s
    slower, faster = (pools(case.work._replace(rate_per_s=rate * factor), case.split) for factor in (0.5, 1.5))
    tokens = _first(case, found, high, 1.0)
    reason = "" if tokens is not None else f"no prompt up to {high:,.0f} uncached tokens gains from being sent away"
    return Threshold(tokens, _first(case, found, high, 0.0), _first(case, slower, high, 1.0), _first(case, faster, high, 1.0), reason)
