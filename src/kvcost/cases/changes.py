"""A technique applied to one case: the same work, path and prefix hit with one thing changed.

What does not apply is refused with the reason; the caller leaves the technique out and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import inf
from typing import NamedTuple, assert_never

from ..catalog.store import Catalog
from ..cost.dtypes import parse_kv_dtype
from ..cost.kv import KvLayout, held_bytes, kv_layout
from ..cost.layers import Chunked, CrossAttention, FullAttention, Indexer, MlaLatent, Recurrent, SlidingWindow
from ..cost.model import Model
from ..cost.technique import Technique
from ..cost.techniques import WireCut, codec_pass_s, joined
from ..cost.transfer import lanes_of
from ..cost.wire import wire_bytes
from ..errors import KvcostError
from .codecs import Given, codec_of
from .deployment import Deployment
from .linking import at_rate
from .plan import Path, Work, held_tokens, stored_work

__all__ = ["Setting", "changed", "names_of", "unpaged_bytes"]

# Splitwise goes back to sending after prefill below so many prompt tokens; engines that do not push say nothing of it.
PUSH_FROM_TOKENS = 512


class Setting(NamedTuple):
    """One case as a technique changes it.

    says           what was assumed, for people
    codec_unknown  whether a codec takes part whose time nobody knows
    """

    work: Work
    path: Path
    deployment: Deployment
    ctx: int
    prefix: int = 0
    says: tuple[str, ...] = ()
    codec_unknown: bool = False


def changed(setting: Setting, technique: Technique, given: Given, catalog: Catalog) -> Setting:
    """The setting under a technique. Raises KvcostError with the reason where it does not apply."""
    _check_layers(setting.work.model, technique)
    match technique.change.kind:
        case "format":
            found = _stored(setting, technique)
        case "share" | "tiers" | "mix" | "keep" | "layers":
            found = _coded(setting, technique, given)
        case "prefix":
            found = _held(setting)
        case "push" | "decode-start":
            found = _overlapped(setting, technique.change.kind)
        case "blocks" | "cross-layer":
            found = _recut(setting, technique)
        case "rails":
            found = _railed(setting)
        case "rdma":
            found = _over_rdma(setting, catalog)
        case "gpudirect":
            found = _direct(setting, given)
        case "conditional" | "store":  # they change the answer, not the question
            found = setting
        case unreachable:
            assert_never(unreachable)
    return _timed(found, technique, given) if technique.is_codec else found


def _has(model: Model, *kinds: type) -> bool:
    return any(isinstance(group.layer, kinds) for group in model.groups)


def _check_layers(model: Model, technique: Technique) -> None:
    heads = _has(model, FullAttention, SlidingWindow, Chunked)
    if technique.is_codec and not heads and not _has(model, MlaLatent):
        raise KvcostError(f"{model.name} caches no keys and values")
    if technique.needs == "heads" and not heads:
        raise KvcostError(f"{model.name} caches a latent, and this is for keys and values of heads")
    if technique.needs == "latent" and (heads or not _has(model, MlaLatent)):
        raise KvcostError(f"{model.name} has attention layers with heads, and this is for latents alone")


def _stored(setting: Setting, technique: Technique) -> Setting:
    work = setting.work
    encoding = parse_kv_dtype(technique.change.kv_dtype or "")
    if encoding.name == work.encoding.name:
        raise KvcostError(f"the cache is stored as {encoding.name} already")
    stored = stored_work(work.model, encoding, work.prefill_tp, work.decode_tp)
    if held_bytes(stored.layout, setting.ctx) >= held_bytes(work.layout, setting.ctx):
        raise KvcostError(f"it takes no fewer bytes than {work.encoding.name}")
    found = setting._replace(work=stored._replace(codec=work.codec, untouched=work.untouched))
    if unpaged_bytes(found) >= unpaged_bytes(setting):  # of the newest tokens alone a format may send more
        raise KvcostError(f"what travels takes no fewer bytes than as {work.encoding.name}")
    return found


def _coded(setting: Setting, technique: Technique, given: Given) -> Setting:
    """The work under a codec; parts of the cache that it does not touch (states, an indexer's keys) travel whole."""
    work = setting.work
    if "bits" in technique.excludes and work.encoding.element_bits != 16:
        raise KvcostError(f"it cuts 16-bit KV, and the cache is stored as {work.encoding.name}")
    codec, says = codec_of(work.model, technique, given)
    untouched = work.untouched
    kept = (Recurrent, CrossAttention, Indexer) if "bits" in technique.excludes else (Recurrent, CrossAttention)
    groups = [group for group in work.model.groups if isinstance(group.layer, kept)]
    if groups and technique.change.kind != "layers" and (untouched is None or "bits" in technique.excludes):
        untouched = kv_layout(groups, work.encoding)
    whole = codec if work.codec is None else joined(work.codec, codec)
    return setting._replace(work=work._replace(codec=whole, untouched=untouched), says=(*setting.says, *says))


def _timed(setting: Setting, technique: Technique, given: Given) -> Setting:
    """The setting with the codec's time: the user's, one pass over memory at either end where the GPUs are known, or unknown."""
    work = setting.work
    if given.codec_s is not None:
        # One time for all codecs of a combination.
        codec = work.codec or WireCut()
        return setting._replace(work=work._replace(codec=codec._replace(codec_s=given.codec_s, codec_s_per_byte=0.0)))
    if technique.codec in ("none", "fused"):
        return setting
    sides = (setting.deployment.prefill_gpu, work.prefill_tp), (setting.deployment.decode_gpu, work.decode_tp)
    if technique.codec == "unknown" or work.codec is None:
        return setting._replace(codec_unknown=True)
    share, seconds = float(work.codec.share(setting.ctx, setting.prefix)), 0.0
    for gpu, tp in sides:
        if gpu is None:
            return setting._replace(codec_unknown=True)
        seconds += codec_pass_s(1.0, share, tp, gpu.hbm_bytes_per_s)
    return setting._replace(work=work._replace(codec=work.codec._replace(codec_s_per_byte=seconds)))


def _held(setting: Setting) -> Setting:
    """The prefix that the question says the decode side holds; where it says none, half of the prompt as a what-if."""
    prefix = setting.prefix or held_tokens(0.5, setting.ctx)
    words = f"{prefix:,} of {setting.ctx:,} tokens held by the decode side"
    words = f"as asked: {words}" if setting.prefix else f"what-if: {words}"
    return setting._replace(prefix=prefix, says=(*setting.says, words))


def _overlapped(setting: Setting, kind: str) -> Setting:
    path = setting.path
    if path.overlap != "serial":
        raise KvcostError(f"the transfer overlaps already ({path.overlap})")
    if path.link.bandwidth_bytes_per_s == inf:
        raise KvcostError("an unlimited link leaves nothing to hide")
    if kind == "decode-start":
        return setting._replace(path=path._replace(overlap="decode-start"))
    start = path.engine.push_from_tokens or PUSH_FROM_TOKENS
    says = (f"below {start} prompt tokens it sends after prefill, and hides nothing",) if setting.ctx < start else ()
    pushed = path._replace(overlap="push", engine=path.engine._replace(push_from_tokens=start))
    return setting._replace(path=pushed, says=(*setting.says, *says))


def _recut(setting: Setting, technique: Technique) -> Setting:
    engine, tokens = setting.path.engine, technique.change.block_tokens
    if not engine.block_tokens:
        raise KvcostError(f"{engine.name} does not cut the cache into pages")
    if not engine.descriptor_s:
        raise KvcostError(f"{engine.name} is priced without a cost per descriptor")
    if tokens is not None:
        if tokens <= engine.block_tokens:
            raise KvcostError(f"pages hold {engine.block_tokens} tokens already")
        return setting._replace(path=setting.path._replace(engine=engine._replace(block_tokens=tokens)))
    if engine.layers_share_blocks:
        raise KvcostError(f"{engine.name} does it already")
    return setting._replace(path=setting.path._replace(engine=engine._replace(layers_share_blocks=True, provenance="estimate")))


def _railed(setting: Setting) -> Setting:
    path, work = setting.path, setting.work
    ranks = min(work.prefill_tp, work.decode_tp)
    lanes = lanes_of(path.link, path.rails, work.prefill_tp, work.decode_tp).lanes
    most = min(ranks, path.link.rails) if path.link.scope == "node" else ranks
    if path.link.bandwidth_bytes_per_s == inf:
        raise KvcostError("an unlimited link needs none")
    if lanes >= most:
        why = "one rank sends, over one rail" if ranks == 1 else f"{lanes} rails for {ranks} ranks are all that there are" if lanes < ranks else None
        raise KvcostError(why or "every rank has a rail of its own already")
    rails = min(2 * lanes, most)
    return setting._replace(path=path._replace(rails=rails), says=(*setting.says, f"what-if: {rails} rails in place of {lanes}"))


def _over_rdma(setting: Setting, catalog: Catalog) -> Setting:
    path, link = setting.path, setting.path.link
    entry = catalog.entries("links").get(link.name)
    if entry is None:
        raise KvcostError(f"{link.name} names no protocol" if link.provenance == "user" else f"{link.name} is more than one hop")
    if entry["kind"] not in ("tcp", "ethernet"):
        raise KvcostError(f"{link.name} does not run over TCP")
    if link.source == "efficiency given":
        raise KvcostError("the efficiency given says nothing of the protocol")
    name = "roce_" + link.name.partition("_")[2]
    if not catalog.has("links", name):
        raise KvcostError(f"no RoCE of the rate of {link.name} in the catalog")
    better = catalog.link(name)
    if link.bandwidth_bytes_per_s != catalog.link(link.name).bandwidth_bytes_per_s:
        better = at_rate(better, link.bandwidth_bytes_per_s)
    return setting._replace(path=path._replace(link=better))


def _direct(setting: Setting, given: Given) -> Setting:
    """The same path without its copies through host memory."""
    for staged, direct in given.direct:
        if staged.link == setting.path.link:
            return setting._replace(path=setting.path._replace(link=direct.link))
    raise KvcostError("the path is not staged in host memory")


def unpaged_bytes(setting: Setting) -> Fraction:
    """Bytes on the wire before they are rounded up to pages: what a technique's share of the bytes is told by."""
    work = setting.work

    def sent(layout: KvLayout) -> int:
        return wire_bytes(layout, setting.ctx, prefix_hit_tokens=setting.prefix, prefill_tp=work.prefill_tp, decode_tp=work.decode_tp).wire_bytes

    whole = Fraction(sent(work.layout if setting.path.engine.hybrid_cache else work.flat_layout))
    if work.codec is None or not whole:
        return whole
    kept = 0 if work.untouched is None else sent(work.untouched)
    return kept + (whole - kept) * Fraction(work.codec.share(setting.ctx, setting.prefix))


def names_of(techniques: Sequence[Technique]) -> str:
    """The name of a combination, in the catalog's order whatever the order typed."""
    return "+".join(technique.name for technique in sorted(techniques, key=lambda item: item.place))
