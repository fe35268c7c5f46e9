"""`reduce`: every technique that cuts or hides the transfer, side by side: bytes, times, what is exposed, the new verdict.

A technique is a change of one case (`changes`); it is priced by the question that `breakeven` asks, so rows, load on the link,
verdict and roots all see it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any, NamedTuple

from ..cost.technique import Technique
from ..errors import KvcostError, Notice
from .breakeven import BREAKEVEN_OPTIONS, BreakevenQuestion
from .changes import Setting, changed, names_of, unpaged_bytes
from .codecs import DEFAULT_MIX, Given, check_layers_given
from .document import Source
from .gains import Asked, GainRow
from .plan import Options, Path, paths
from .reading import Reader, flag
from .reduced import ReduceRow, Row, budgeted, fetched, model_remark, rank, routed
from .remarks import caution_of, quality_of
from .sending import TransferRow, one_row

__all__ = ["REDUCE_OPTIONS", "ReduceQuestion", "ReduceRow"]

_OWN = ("technique", "with", "mix", "layers", "budget", "keep", "codec_time")
# What says how far a technique goes, and the kind of change that heeds it.
_HEEDED_BY = {"mix": "mix", "layers": "layers", "budget": "tiers", "keep": "keep"}
REDUCE_OPTIONS = (*(option for option in BREAKEVEN_OPTIONS if option != "gpus_total"), *_OWN)
# What ranking and techniques need of a priced case, beside the columns asked for.
_NEEDED = frozenset(("net_gain_s", "verdict", "threshold_tokens", "prefill_s", "decode_step_s", "exposed_s", "breakeven_saved_s", "e2e_disagg_s"))
_TABLE = frozenset(("model", "ctx_tokens", "wire_bytes", "line_rate_s", "achievable_s", "engine_s", "transfer_s", "link_utilisation", "objective"))
NONE = "none"
_CODEC_WORDS = {
    "none": "",
    "fused": "; no codec time: the engine stores the cache so",
    "pass": "; codec time: one pass over memory at either end, a lower bound",
    "unknown": "; codec time: unknown, left out",
}


class _Case(NamedTuple):
    """One case of the question, all but the technique."""

    setting: Setting
    osl: int | None
    load: tuple[float | None, int | None]
    asked: Asked


class ReduceQuestion:
    """The cases of a break-even question; for each the row without a technique, then the techniques, the best first."""

    command = "reduce"

    def __init__(self, reader: Reader, options: Options, explain: bool = False) -> None:  # noqa: ARG002  # rows carry no terms
        if options.get("transfer_time"):
            raise KvcostError(
                "a measured transfer time fixes what techniques would change", where="--transfer-time", hint="give the rate that it reached: --bandwidth"
            )
        self.reader = reader
        self.given, rest = _given(reader, options)
        self.base = BreakevenQuestion(reader, rest)
        try:
            check_layers_given([work.model for work in self.base.transfer.works], self.given)
        except KvcostError as error:
            raise error.at(flag("layers")) from None
        if self.base.wanted is not None or reader.for_people:
            self.base.wanted = (self.base.wanted or _TABLE) | _NEEDED
        self.chosen: list[Technique] = reader.values("technique", options.get("technique", ()), [])
        self.by_name = bool(self.chosen)
        names = reader.catalog.entries("techniques")
        chosen = dict.fromkeys(self.chosen or map(reader.catalog.technique, names))
        combined = (_combination(found) for found in reader.values("with", options.get("with", ()), []))
        self.lists: list[tuple[Technique, ...]] = list(dict.fromkeys([*((item,) for item in chosen), *combined]))
        self.columns = (*ReduceRow._fields, *TransferRow._fields, *GainRow._fields)
        self._unheeded = [self._without_effect(option) for option in _HEEDED_BY if options.get(option) and not self._heeds(option)]
        self._left_out: dict[str, str] = {}
        self._applied = False
        self._gains: dict[Any, GainRow] = {}  # of one case: techniques that leave what is priced as it is share an answer
        self._unknown: dict[str, Notice] = {}
        self._notices: list[Notice] = []

    def _heeds(self, option: str) -> bool:
        return any(item.change.kind == _HEEDED_BY[option] for items in self.lists for item in items)

    def _without_effect(self, option: str) -> Notice:
        names = map(self.reader.catalog.technique, self.reader.catalog.entries("techniques"))
        name = next(item.name for item in names if item.change.kind == _HEEDED_BY[option])
        return Notice("without-effect", f"{flag(option)} changes nothing, as {name} is not among the techniques asked for", f"add {name} to --technique")

    def count(self, lengths: Sequence[int]) -> int:
        """Rows at these lengths, where every technique applies."""
        return self.base.count(lengths) * (1 + len(self.lists))

    def rows(self, lengths: Sequence[int]) -> Iterator[tuple[Any, ...]]:
        """The rows: the values of a ReduceRow, a TransferRow and a GainRow, ranked within each case."""
        base = self.base
        for work, path, values in base.transfer.priced(lengths):
            row = TransferRow._make(values)
            for deployment, osl, load, asked in product(base.deployments, base.osls, base.loads, base.asked):
                case = _Case(Setting(work, path, deployment, row.ctx_tokens, row.prefix_hit_tokens), osl, load, asked)
                yield from ((*own, *sent, *gain) for own, sent, gain in self._case(case))
        self._say_left_out()

    def _case(self, case: _Case) -> Iterator[Row]:
        self._gains = {}
        asked = self.base.wanted
        if asked is not None and self.reader.for_people:  # the question as asked says why
            self.base.wanted = asked | {"reason"}
        sent, gain, _ = self._priced(case, case.setting)
        self.base.wanted = asked
        yield ReduceRow(NONE, 1.0, quality=model_remark(case.setting.work.model)), sent, gain
        said = len(self.base._notices)
        found = []
        for techniques in self.lists:
            try:
                found.append(self._answer(case, techniques, (sent, gain)))
            except KvcostError as error:
                self._left_out.setdefault(names_of(techniques), error.message)
        self._applied = self._applied or bool(found)
        del self.base._notices[said:]  # flags of one technique's case would read as if they were of the question
        yield from sorted(found, key=rank)

    def _priced(self, case: _Case, setting: Setting) -> tuple[TransferRow, GainRow, float]:
        sent, codec_s = one_row(setting.work, setting.path, setting.ctx, setting.prefix)
        work, path, deployment = setting.work, setting.path, setting.deployment
        key = work, _as_priced(path), deployment, setting.prefix, sent.transfer_s
        if key not in self._gains:
            self._gains[key] = self.base.answer(work, path, sent, deployment, case.osl, case.load, case.asked)[1]
        gain = self._gains[key]
        return self.base.hidden(work, path, sent, deployment, gain), gain, codec_s

    def _answer(self, case: _Case, techniques: Sequence[Technique], before: tuple[TransferRow, GainRow]) -> Row:
        """One technique or combination. Raises KvcostError with the reason where it does not apply."""
        codecs = [item for item in techniques if item.is_codec]
        uncoded = case.setting
        for item in techniques:
            uncoded = uncoded if item.is_codec else changed(uncoded, item, self.given, self.reader.catalog)
        setting = uncoded
        for item in codecs:
            setting = changed(setting, item, self.given, self.reader.catalog)
        sent, gain, codec_s = self._priced(case, setting)
        if sent.exposed_s is None and case.setting.path.overlap == "serial":
            setting = setting._replace(says=(*setting.says, self._unknown_exposure(setting)))
        # A prefix that is held as asked is in every row; its own row tells it against the whole prompt.
        holds = any(item.change.kind == "prefix" for item in techniques)
        whole = unpaged_bytes(case.setting._replace(prefix=0) if holds else case.setting)
        own = ReduceRow(
            technique=names_of(techniques),
            kv_fraction=float(unpaged_bytes(setting) / whole) if whole else 1.0,
            codec_s=None if setting.codec_unknown else codec_s,
            risk=max(item.risk for item in techniques),
            research=any(item.research for item in techniques),
            measured=_each(techniques, [item.measured for item in techniques]),
            caution=_each(techniques, [caution_of(item, setting, self.given) for item in techniques]) or None,
        )
        says = [quality_of(item, setting, of_others=not self.reader.for_people) for item in techniques]
        own = own._replace(quality="; ".join(filter(None, [*setting.says, _each(techniques, says)])))
        if codecs:
            own = budgeted(own, one_row(uncoded.work, uncoded.path, uncoded.ctx, uncoded.prefix)[0], sent, codec_s)
        for item in techniques:
            if item.change.kind == "conditional":
                own, sent, gain = routed(own, sent, gain, setting)
            elif item.change.kind == "store":
                own = fetched(own, sent, before[1], setting)
        return own, sent, gain

    def _unknown_exposure(self, setting: Setting) -> str:
        """What is said, and once warned of, where nobody knows the compute time that hides the transfer."""
        push = setting.path.overlap == "push"
        words = f"what it hides depends on the time of {'a prefill' if push else 'a decode step'}, which is not known"
        notice = Notice(
            "exposed-unknown", f"{setting.path.overlap}: {words}", f"give {'--prefill-time' if push else '--decode-step-time'}, or --gpu, --osl and a load"
        )
        self._unknown.setdefault(setting.path.overlap, notice)
        return words

    def _say_left_out(self) -> None:
        """One note on all techniques that were left out of a case, each with the first reason, and what is not known of others."""
        self._notices += self._unknown.values()
        if not self._left_out:
            return
        message = f"does not apply: {self._reasons()}" if self.by_name else f"left out: {self._reasons()}"
        self._notices.append(Notice("not-applicable", message, ""))

    def _reasons(self) -> str:
        return "; ".join(f"{name} ({reason})" for name, reason in self._left_out.items())

    @property
    def nothing_to_do(self) -> str:
        """Once the rows are read: why of the techniques named not one applies; "" where one does."""
        return self._reasons() if self.by_name and not self._applied else ""

    def notices(self, lengths: Sequence[int]) -> list[Notice]:
        """Those of the break-even question, and what was left out; the list grows while rows are read."""
        self._notices = self.base.notices(lengths)
        self._notices += self._unheeded
        if any(path.basis != "engine" for path in self.base.transfer.paths) and any(
            item.change.kind in ("blocks", "cross-layer") for items in self.lists for item in items
        ):
            message = "pages and layouts change the time in an engine alone"
            self._notices.append(Notice("engine-basis", message, "--basis engine ranks by it"))
        return self._notices

    def sources(self, lengths: Sequence[int]) -> dict[str, Source]:
        """Those of the break-even question, and the techniques' shares."""
        chosen = dict.fromkeys(item for items in self.lists for item in items)
        own = {f"kv_fraction[{item.name}]": Source(None, item.provenance, f"{item.source}{_CODEC_WORDS[item.codec]}", item.name) for item in chosen}
        return {**self.base.sources(lengths), **own}


def _given(reader: Reader, options: Options) -> tuple[Given, Options]:
    """What the user says of techniques, and the options of the question without it."""

    def one(option: str, default: Any = None) -> Any:
        values = reader.values(option, options.get(option, ()), [default])
        if len(values) > 1:
            raise KvcostError("several values of what is one technique", where=flag(option), hint="give one value")
        return values[0]

    rest = {key: words for key, words in options.items() if key not in _OWN}
    direct: tuple[tuple[Path, Path], ...] = ()
    if rest.get("staging") and "host" in reader.values("staging", rest["staging"]):
        staged, plain = (paths(reader, {**rest, "staging": [kind]}) for kind in ("host", "none"))
        direct = tuple(zip(staged, plain, strict=True))
    mix = reader.values("mix", options.get("mix", ()) or (DEFAULT_MIX,))
    given = Given(one("mix") or mix[0], one("layers"), one("budget"), one("keep"), one("codec_time"), direct)
    return given, rest


def _combination(found: tuple[Technique, ...]) -> tuple[Technique, ...]:
    """A combination in the catalog's order. Raises KvcostError where two of it take hold of the same thing."""
    techniques = sorted(set(found), key=lambda item: item.place)
    for place, first in enumerate(techniques):
        for second in techniques[place + 1 :]:
            shared = first.excludes & second.excludes
            if shared:
                what = {"bits": "how the cache is encoded", "overlap": "what the transfer overlaps with"}.get(min(shared), min(shared))
                raise KvcostError(
                    f"{first.name} and {second.name} both decide on {what}", where="--with", hint=f"leave one of them out: {first.name} or {second.name}"
                )
            if any(caution.overlap for caution in first.cautions) and second.change.kind == "push":
                raise KvcostError(
                    f"{first.name} needs whole groups of tokens before it sends, {second.name} sends before they are there",
                    where="--with",
                    hint="leave one of them out",
                )
    return tuple(techniques)


def _as_priced(path: Path) -> Path:
    """The path without what only its time in an engine depends on, where that is not what is priced."""
    if path.basis == "engine":
        return path
    return path._replace(engine=path.engine._replace(block_tokens=0, layers_share_blocks=False, provenance=""))


def _each(techniques: Sequence[Technique], texts: Sequence[str]) -> str:
    """The texts, each with its technique's name where there are several."""
    if len(techniques) == 1:
        return texts[0]
    return "; ".join(f"{item.name}: {text}" for item, text in zip(techniques, texts, strict=True) if text)
