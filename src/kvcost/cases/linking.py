"""The link options' words → links: by name or rate, hops in a row, staged, at the user's rate and efficiency."""

from collections.abc import Sequence
from itertools import product
from math import inf

from ..cost.path import Forwarding, path_link, staged_hops
from ..cost.transfer import Link
from ..errors import KvcostError
from .reading import Options, Reader, user_link

__all__ = ["at_rate", "links_of"]

# The copy between a GPU and pinned host memory that staging adds at either end.
STAGING_COPY = "host_dram_pcie4"


def links_of(reader: Reader, options: Options) -> list[Link]:
    """Links with the user's bandwidth and efficiency in place of their own."""
    links = _named_links(reader, options)
    bandwidths = reader.values("bandwidth", options.get("bandwidth", ()))
    if links == [None] and bandwidths == [None]:
        hint = "give one, such as --link 100gbe or --bandwidth 100Gbps; `kvcost links` lists all"
        raise KvcostError("no link given", where="--link", hint=hint)
    efficiencies = reader.values("efficiency", options.get("efficiency", ()))
    return [_at_efficiency(at_rate(link, rate), share) for link, rate, share in product(links, bandwidths, efficiencies)]


def _named_links(reader: Reader, options: Options) -> list[Link | None]:
    """The links given by name or rate, and the paths of hops, each staged in host memory where asked."""
    forwardings: list[Forwarding | None] = reader.values("forwarding", options.get("forwarding", ()))
    stagings = reader.values("staging", options.get("staging", ()), ["none"])
    hops: list[tuple[Link, ...]] = [(link,) for link in reader.values("link", options.get("link", ()), [])]
    hops += reader.values("path", options.get("path", ()), [])
    if not hops:
        return [None]
    found: list[Link | None] = []
    for path, staging, forwarding in product(hops, stagings, forwardings):
        whole = path
        if staging == "host":
            copy = reader.catalog.link(STAGING_COPY)
            # A link that is itself a slot of the host is one of the two copies.
            if all(_is_slot(reader, end) for end in (path[0], path[-1])):
                whole = (path[0], path[0]) if len(path) == 1 else path
            else:
                whole = staged_hops(path_link(path, "pipelined"), copy)
        found.append(_forwarded(whole, forwarding))
    return found


def _is_slot(reader: Reader, link: Link) -> bool:
    """Whether a link ends in host memory."""
    return reader.catalog.entries("links").get(link.name, {}).get("kind") in ("pcie", "c2c", "tier")


def _forwarded(hops: Sequence[Link], forwarding: Forwarding | None) -> Link:
    """A path as one link: pipelined unless told otherwise, its low end then one hop after the other."""
    if forwarding is not None or len(hops) == 1:
        return path_link(hops, forwarding or "pipelined")
    slow = path_link(hops, "store-and-forward")
    return path_link(hops, "pipelined")._replace(
        achieved_low_bytes_per_s=slow.achieved_low_bytes_per_s, low_name="one hop after the other, each at its low end"
    )


def at_rate(link: Link | None, bandwidth: float | None) -> Link:
    """The link with the user's line rate; its efficiency and range keep their shares of it."""
    if link is None or bandwidth == inf or (bandwidth is not None and link.achieved_bytes_per_s == inf):
        return user_link(bandwidth or inf)
    if bandwidth is None:
        return link
    scale = bandwidth / (link.bandwidth_bytes_per_s or link.achieved_bytes_per_s)
    return link._replace(
        bandwidth_bytes_per_s=bandwidth,
        achieved_bytes_per_s=link.achieved_bytes_per_s * scale,
        achieved_low_bytes_per_s=link.achieved_low_bytes_per_s * scale,
        achieved_high_bytes_per_s=min(bandwidth, link.achieved_high_bytes_per_s * scale),
        provenance="user",
        rate_provenance="user",
        source=f"rate given; efficiency of {link.name}: {link.source}",
    )


def _at_efficiency(link: Link, efficiency: float | None) -> Link:
    """The link at the user's efficiency, without a range."""
    if efficiency is None:
        return link
    if link.bandwidth_bytes_per_s is None:
        raise KvcostError(f"{link.name} has no line rate that an efficiency could apply to", where="--efficiency", hint="give --bandwidth as well")
    achieved = link.bandwidth_bytes_per_s * efficiency
    return link._replace(
        achieved_bytes_per_s=achieved,
        achieved_low_bytes_per_s=achieved,
        achieved_high_bytes_per_s=achieved,
        provenance="user",
        source="efficiency given",
        low_name="",
        high_name="",
    )
