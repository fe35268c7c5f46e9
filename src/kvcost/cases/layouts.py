"""`--gpus-total N`: the best split of N GPUs, and the best monolithic layout of as many, by goodput."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..cost.goodput import Layout, Limits, best_layouts, disagg_goodput, mono_goodput, split_layouts
from ..cost.kv import kv_layout
from ..cost.model import check_model_tp
from ..cost.serving import Work as Load
from ..errors import KvcostError
from .breakeven import BreakevenQuestion
from .deployment import EXPECTED_FIRST, Deployment, case_of
from .plan import Options, Path, Work, held_tokens
from .reading import Reader, flag
from .transfer import TransferRow

__all__ = ["best_question"]

TPS = (1, 2, 4, 8)


class _Setting(NamedTuple):
    """All but the layout."""

    question: BreakevenQuestion
    work: Work
    path: Path
    deployment: Deployment
    load: Load
    limits: Limits


def _tps(setting: _Setting) -> list[int]:
    """Tensor-parallel sizes that the model has."""
    found = []
    for tp in TPS:
        try:
            check_model_tp(setting.work.model, tp)
        except KvcostError:
            continue
        found.append(tp)
    return found


def _goodput(setting: _Setting, layout: Layout) -> float:
    """Requests/s of a layout within the limits; 0 where it does not fit or does not meet them."""
    split = bool(layout.decode_instances)
    tps = (layout.prefill_tp, layout.decode_tp) if split else (layout.prefill_tp, layout.prefill_tp)
    work = setting.work._replace(prefill_tp=tps[0], decode_tp=tps[1], layout=kv_layout(setting.work.model.groups, setting.work.encoding))
    deployment = setting.deployment._replace(
        mono_tp=tps[0],
        mono_instances=None if split else layout.prefill_instances,
        prefill_instances=layout.prefill_instances if split else 1,
        decode_instances=layout.decode_instances if split else 1,
    )
    sides = setting.question.builder.sides(work, setting.path, deployment, int(setting.load.prompt_tokens), EXPECTED_FIRST[0])
    case = case_of(sides, work, setting.path, deployment, setting.load, EXPECTED_FIRST[0])
    if split:
        return disagg_goodput(setting.load, case.split, setting.limits, case.transfer_s, case.derate)
    return mono_goodput(setting.load, case.mono, setting.limits)


def _words(layout: Layout | None, rate: float) -> str | None:
    if layout is None:
        return None
    if not layout.decode_instances:
        return f"{layout.prefill_instances} x TP {layout.prefill_tp} ({rate:.3g}/s)"
    return f"{layout.prefill_instances} prefill x TP {layout.prefill_tp} + {layout.decode_instances} decode x TP {layout.decode_tp} ({rate:.3g}/s)"


def best_question(reader: Reader, options: Options, explain: bool) -> BreakevenQuestion:
    """The question for the best layouts of `gpus_total` GPUs on both sides.

    Raises KvcostError without limits, for several cases at once, and where no layout meets the limits.
    """
    for option in ("prefill_instances", "decode_instances", "mono_instances", "prefill_tp", "decode_tp", "mono_tp"):
        if option in options:
            raise KvcostError(f"{flag(option)} contradicts --gpus-total, which looks for it", where=flag(option), hint="leave one of them out")
    (gpus,) = reader.values("gpus_total", options["gpus_total"]) if len(options["gpus_total"]) == 1 else (None,)
    question = BreakevenQuestion(reader, {key: words for key, words in options.items() if key != "gpus_total"}, explain)
    lengths = reader.values("ctx", options.get("ctx", ()), [])
    if gpus is None or question.count([1]) != 1 or len(lengths) != 1:
        raise KvcostError("layouts are searched for one case at a time", where="--gpus-total", hint="give single values")
    limits = question.asked[0].limits
    if limits is None:
        raise KvcostError("the best layout needs limits", where="--gpus-total", hint="give --slo-ttft and --slo-tpot")
    work, path, values = next(question.transfer.priced(lengths))
    row = TransferRow._make(values[: len(TransferRow._fields)])
    deployment = question.deployments[0]
    if deployment.prefill_gpu is None or deployment.decode_gpu is None or question.osls[0] is None:
        raise KvcostError("the best layout needs a GPU and the output length", where="--gpus-total", hint="give --gpu and --osl")
    load = Load(row.ctx_tokens, question.osls[0], 0.0, None, held_tokens(deployment.cached, row.ctx_tokens), row.prefix_hit_tokens, deployment.length_cv)
    return _chosen(reader, options, explain, _Setting(question, work, path, deployment, load, limits), gpus)


def _chosen(reader: Reader, options: Options, explain: bool, setting: _Setting, gpus: int) -> BreakevenQuestion:
    tps = _tps(setting)

    def goodput(layout: Layout) -> float:
        return _goodput(setting, layout)

    splits, monos = list(split_layouts(gpus, tps)), [Layout(gpus // tp, tp) for tp in tps if gpus % tp == 0]
    split, mono = best_layouts(splits, goodput), best_layouts(monos, goodput)
    if split.layout is None or mono.layout is None:
        side = "disaggregated" if split.layout is None else "monolithic"
        raise KvcostError(f"no {side} layout of {gpus} GPUs meets the limits", where="--gpus-total", hint="loosen --slo-ttft or --slo-tpot, or give more GPUs")
    layout: dict[str, Sequence[Any]] = {
        "prefill_instances": [str(split.layout.prefill_instances)],
        "decode_instances": [str(split.layout.decode_instances)],
        "prefill_tp": [str(split.layout.prefill_tp)],
        "decode_tp": [str(split.layout.decode_tp)],
        "mono_tp": [str(mono.layout.prefill_tp)],
        "mono_instances": [str(mono.layout.prefill_instances)],
    }
    rest = {key: words for key, words in options.items() if key not in ("gpus_total", "tp")}
    question = BreakevenQuestion(reader, {**rest, **layout}, explain)
    question.layout = {
        "layout": f"{_words(split.layout, split.rate_per_s)} against {_words(mono.layout, mono.rate_per_s)}",
        "runner_up": _words(split.runner_up, split.runner_up_rate_per_s),
        "layout_remark": split.remark or None,
    }
    return question
