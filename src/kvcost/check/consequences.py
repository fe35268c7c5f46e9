"""What a change takes beside the words to write: other GPUs, both pools in one node, prompts that stay away from the pools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from ..cases.plan import Options
from ..cases.preset import changed
from ..catalog.store import Catalog

__all__ = ["consequences", "gpus", "threshold"]

# Kind of a link between the GPUs of one machine → what that machine is.
_WITHIN = {"nvlink": "node", "xgmi": "node", "c2c": "node", "nvlink-rack": "rack"}
POOLS, MONO = ("prefill", "decode"), ("mono",)


def consequences(options: Options, change: Mapping[str, str], catalog: Catalog) -> Iterator[str]:
    """What a change takes, a few words each.

    >>> list(consequences({"prefill_tp": ["4"], "decode_tp": ["4"]}, {"decode_tp": "8"}, Catalog()))
    ['12 GPUs in place of 8']
    """
    new = changed(options, change)
    pools = gpus(options, POOLS), gpus(new, POOLS)
    if pools[0] != pools[1]:
        yield f"{pools[1]} GPUs in place of {pools[0]}"
    mono = gpus(options, MONO), gpus(new, MONO)
    if pools[0] == pools[1] and mono[0] != mono[1] and any(option in change for option in ("mono_tp", "mono_instances")):
        yield f"{mono[1]} monolithic GPUs in place of {mono[0]}"
    link = change.get("link", "")
    if link and catalog.has("links", link):
        machine = _WITHIN.get(catalog.entries("links")[catalog.find("links", link)]["kind"])
        if machine:
            yield f"both pools in one {machine}"


def gpus(options: Options, pools: tuple[str, ...]) -> int:
    """GPUs of the pools: instances of TP by PP each."""
    return sum(_number(options, f"{pool}_instances") * _tp(options, pool) for pool in pools) * _number(options, "pp")


def _tp(options: Options, pool: str) -> int:
    if pool == "mono" and "mono_tp" not in options:
        return max(_tp(options, other) for other in POOLS)
    return _number(options, f"{pool}_tp")


def _number(options: Options, option: str) -> int:
    return int(float(options[option][0])) if option in options else 1


def threshold(now_tokens: int, tokens: int) -> str:
    """A change of the prompts' length as what it is for a deployment that takes prompts of all lengths.

    >>> threshold(4096, 1500)
    'a threshold: send only prompts of up to 1,500 tokens to the pools'
    """
    edge = "of up to" if tokens < now_tokens else "from"
    return f"a threshold: send only prompts {edge} {tokens:,} tokens{' on' if edge == 'from' else ''} to the pools"
