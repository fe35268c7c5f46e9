"""How much of the transfer the request still waits for when it overlaps with compute."""

from __future__ import annotations

from ..errors import KvcostError

__all__ = ["OVERLAPS", "exposed_time", "overlap_used"]

OVERLAPS = ("serial", "push", "decode-start")


def exposed_time(
    overlap: str,
    transfer_s: float,
    layers: int,
    *,
    prefill_s: float | None = None,
    decode_step_s: float | None = None,
    floor_s: float = 0.0,
) -> float | None:
    """Seconds of the transfer that no compute hides, for `layers` equal layers.

    serial        E = T
    push          E = max(T/L, T - T_p + T_p/L), at least the floor, never more than T (layer k is sent while k+1 computes)
    decode-start  E = max(T/L, T - T_d + T_d/L) (decoding starts on the layers that have arrived)

    None when the compute time that hides it is not known.

    >>> round(exposed_time("push", 0.1073741824, 80, prefill_s=0.3903), 6)
    0.001342

    Raises KvcostError for an unknown overlap. Source: Splitwise (ISCA'24) section 4.3; the source article's pipeline.
    """
    if overlap == "serial":
        return transfer_s
    if overlap not in OVERLAPS:
        raise KvcostError(f"unknown overlap '{overlap}'", hint="write serial, push or decode-start")
    compute_s = prefill_s if overlap == "push" else decode_step_s
    if compute_s is None:
        return None
    layers = max(1, layers)
    hidden = max(transfer_s / layers, transfer_s - compute_s + compute_s / layers)
    return min(transfer_s, max(hidden, floor_s if overlap == "push" else 0.0))


def overlap_used(overlap: str, new_tokens: float, push_from_tokens: float) -> str:
    """The overlap of a prompt of which `new_tokens` are computed: engines that push do so from a length on.

    >>> overlap_used("push", 511, 512), overlap_used("push", 512, 512), overlap_used("decode-start", 1, 512)
    ('serial', 'push', 'decode-start')

    Source: Splitwise (ISCA'24) section 4.3: one layer behind the other only from 512 prompt tokens on.
    """
    return "serial" if overlap == "push" and new_tokens < push_from_tokens else overlap
