"""A row of `reduce` and what is worked out once it is priced: what a codec may take, whether the prompt is sent, its rank."""

from __future__ import annotations

from math import inf
from typing import Any, NamedTuple

from ..cost.layers import Chunked, FullAttention, MlaLatent, SlidingWindow
from ..cost.model import Model
from ..cost.techniques import heads_share, latent_share, reuse_bandwidth
from ..errors import KvcostError
from .changes import Setting
from .gains import GainRow
from .plan import held_tokens
from .sending import TransferRow, one_row

__all__ = ["ReduceRow", "Row", "budgeted", "fetched", "model_remark", "rank", "routed"]


class ReduceRow(NamedTuple):
    """The fields of a technique's row before those of its break-even.

    kv_fraction  its bytes over those of the question as asked, before rounding up to pages; 1 where it leaves them as they are
    codec_s      0: nothing is encoded, or the engine stores it so; None: unknown
    """

    technique: str
    kv_fraction: float
    codec_s: float | None = 0.0
    codec_budget_s: float | None = None
    codec_worth: bool | None = None
    quality: str = ""
    measured: str = ""
    caution: str | None = None
    risk: int = 0
    research: bool = False
    fetch_bandwidth_bytes_per_s: float | None = None


Row = tuple[ReduceRow, TransferRow, GainRow]


def budgeted(own: ReduceRow, uncoded: TransferRow, sent: TransferRow, codec_s: float) -> ReduceRow:
    """The most time of encoding and decoding that is worth it: what the link takes less than without the codec."""
    budget_s = max(0.0, uncoded.transfer_s - (sent.transfer_s - codec_s))
    worth = None if own.codec_s is None or not (own.codec_s or budget_s) else own.codec_s < budget_s
    return own._replace(codec_budget_s=budget_s, codec_worth=worth)


def routed(own: ReduceRow, sent: TransferRow, gain: GainRow, setting: Setting) -> Row:
    """A prompt below the router's threshold is not sent: no transfer, and nothing gained or lost by one."""
    threshold = gain.threshold_tokens
    if threshold is None:
        raise KvcostError("no threshold is known: it takes --gpu, --osl and a --rate at which both pools keep up")
    new = setting.ctx - held_tokens(setting.deployment.cached, setting.ctx)
    words = f"the threshold is {threshold:,.0f} uncached tokens at this load, "
    if new >= threshold:
        return own._replace(quality=f"{own.quality}; {words}so this prompt of {new:,} is sent"), sent, gain
    stays = GainRow(objective=gain.objective, osl_tokens=gain.osl_tokens, rate_per_s=gain.rate_per_s, concurrency=gain.concurrency, threshold_tokens=threshold)
    stays = stays._replace(
        net_gain_s=0.0, net_gain_low_s=0.0, net_gain_high_s=0.0, verdict="colocate", reason=f"{words}so this prompt is prefilled where it is decoded"
    )
    own = own._replace(kv_fraction=0.0, quality=f"{own.quality}; {words}so this prompt of {new:,} is not sent")
    kept, _ = one_row(setting.work, setting.path, setting.ctx, setting.ctx)  # the decode side holds all of it
    return own, kept._replace(prefix_hit_tokens=sent.prefix_hit_tokens), stays


def fetched(own: ReduceRow, sent: TransferRow, gain: GainRow, setting: Setting) -> ReduceRow:
    """Fetching the prompt's cache against computing it: the bandwidth at which both take as long."""
    own = own._replace(quality="; ".join(filter(None, [own.quality, _mooncake(setting)])))
    if gain.prefill_s is None or not sent.kv_bytes:
        return own._replace(quality=f"{own.quality}; the bandwidth from which fetching pays takes --gpu, --osl and a load, or --prefill-time with them")
    rate = sent.kv_bytes / gain.prefill_s
    link_s = sent.achievable_s
    words = f"fetching {setting.ctx:,} tokens beats computing them ({1e3 * gain.prefill_s:,.4g} ms) from {rate / 1e9:.3g} GB/s on"
    pays = f"over this link {1e3 * link_s:,.4g} ms: {'pays' if link_s < gain.prefill_s else 'does not pay'}"
    return own._replace(fetch_bandwidth_bytes_per_s=rate, quality=f"{own.quality}; {words}; {pays}")


def _mooncake(setting: Setting) -> str:
    """Mooncake's own condition, at peak arithmetic, where the GPU is known and the cache is that of heads."""
    model, gpu = setting.work.model, setting.deployment.prefill_gpu
    heads = [group.layer.kv_heads for group in model.groups if isinstance(group.layer, FullAttention)]
    if gpu is None or not heads or not model.query_heads:
        return ""
    flops = setting.work.prefill_tp * gpu.bf16_flops_per_s
    rate = reuse_bandwidth(model.hidden_size, 2, model.query_heads / heads[0], setting.ctx, flops)
    return f"Mooncake's condition at peak arithmetic of {setting.work.prefill_tp} x {gpu.name}: above {rate / 1e9:.3g} GB/s"


def model_remark(model: Model) -> str:
    """What the model itself saves against one K and V a query head."""
    for _, layer in model.groups:
        if isinstance(layer, FullAttention | SlidingWindow | Chunked) and model.query_heads > layer.kv_heads:
            share = float(heads_share(layer.kv_heads, model.query_heads))
            return f"as asked; {layer.kv_heads} KV heads for {model.query_heads} query heads send {share:.3g} of what one a query head would"
        if isinstance(layer, MlaLatent) and model.query_heads and model.head_dim:
            share = float(latent_share(layer.latent_dim, layer.rope_dim, model.query_heads, 128))
            return f"as asked; the latent is {share:.3g} of what K and V of {model.query_heads} heads of 128 would be"
    return "as asked"


def rank(row: Row) -> tuple[Any, ...]:
    """The order of rows: net gain first, in whole nanoseconds; ties by risk; without a gain, the saving that would have to be there."""
    own, sent, gain = row
    known = gain.net_gain_s is not None
    cost = _nanoseconds(sent.exposed_s if known else gain.breakeven_saved_s)
    return (not known, -round(1e9 * (gain.net_gain_s or 0.0)), own.risk if known else cost, cost if known else own.risk, own.technique.count("+"))


def _nanoseconds(seconds: float | None) -> float:
    return inf if seconds is None or seconds == inf else round(1e9 * seconds)
