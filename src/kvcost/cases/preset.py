"""A preset's words as options: read by the grammar of the command line, complained of where they stand in the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..errors import KvcostError, Notice
from ..presets.keys import PATH_OF
from ..presets.read import PresetFile
from .plan import Options
from .question import Ask, Question
from .reading import Reader, flag

__all__ = ["changed", "in_preset", "in_yaml_words", "over_preset", "placed", "placing", "preset_options", "under_typed"]

# Options that name the same thing: one that is typed takes the others' place.
_REPLACED = {
    "tp": ("prefill_tp", "decode_tp", "mono_tp"),
    "gpu": ("prefill_gpu", "decode_gpu", "mono_gpu"),
    "rate": ("concurrency",),
    "concurrency": ("rate",),
    "link": ("path", "bandwidth", "efficiency"),
    "path": ("link", "bandwidth", "efficiency"),
    "gpus_total": ("prefill_instances", "decode_instances", "mono_instances", "prefill_tp", "decode_tp", "mono_tp"),
}
_BOTH_POOLS = {"tp": "prefill.tp and decode.tp", "gpu": "prefill.gpu and decode.gpu"}
_FLAG = re.compile(r"--([a-z][a-z0-9-]*[a-z0-9])(?: (?!(?:or|and|as|at|if|in|to|for|with|alone|contradicts)\b)(?=\w))?")


def in_yaml_words(text: str) -> str:
    """A message for the command line as one for the writer of a preset.

    >>> in_yaml_words("give --slo-ttft, or --basis achievable")
    'give slo.ttft, or basis: achievable'
    """

    def said(match: re.Match[str]) -> str:
        option = match[1].replace("-", "_")
        if option in _BOTH_POOLS:
            name = _BOTH_POOLS[option]
        elif option in PATH_OF:
            name = ".".join(PATH_OF[option])
        else:
            return match[0]
        return f"{name}: " if match[0].endswith(" ") else name

    return _FLAG.sub(said, text)


def placed(error: KvcostError, preset: PresetFile) -> KvcostError:
    """An error of an option as an error of the file: at the option's word, or at the file's start where it is not given."""
    files = {place.file for place in (preset.top, *preset.places.values(), *(limit.place for limit in preset.limits))}
    if error.where.rsplit(":", 2)[0] in files:
        return error
    if error.where and not error.where.startswith("--"):  # inside the model's own file
        return KvcostError(f"{error.where}: {error.message}", hint=error.hint, where=str(preset.places.get("model", preset.top)))
    option = error.where.removeprefix("--").replace("-", "_")
    candidates = (option, f"prefill_{option}", f"decode_{option}")
    place = next((preset.places[name] for name in candidates if name in preset.places), preset.top)
    words = f"{preset.paths[option]}: {error.message}" if option in preset.paths else error.message
    return KvcostError(in_yaml_words(words), hint=in_yaml_words(error.hint), where=str(place))


def preset_options(reader: Reader, preset: PresetFile) -> Options:
    """The preset's options, every word read and of one value.

    Raises KvcostError at the place of the word that cannot be read or stands for several values.
    """
    for option, words in preset.options.items():
        try:
            if ".." in words[0] and option != "model":
                raise KvcostError(f"'{words[0]}' is a range", where=flag(option), hint="a preset is one deployment: write a preset each")
            values = reader.values(option, words)
            if len(values) != 1:
                raise KvcostError(f"'{words[0]}' is {len(values)} values", where=flag(option), hint="a preset is one deployment: write a preset each")
        except KvcostError as error:
            raise placed(error, preset) from None
    return preset.options


def placing(make: Ask, preset: PresetFile, typed: Options) -> Ask:
    """The same question, its complaints about the preset's words with their place in the file."""

    def asked(reader: Reader, options: Options, explain: bool) -> Question:
        try:
            return make(reader, options, explain)
        except KvcostError as error:
            option = error.where.removeprefix("--").replace("-", "_")
            raise (error if option in typed or option not in preset.places else placed(error, preset)) from None

    return asked


def over_preset(make: Ask, reader: Reader, preset: PresetFile, typed: Options, known: Sequence[str]) -> tuple[Ask, Options]:
    """A question and its options, with those of a preset below what was typed.

    Raises KvcostError at the place of a word that cannot be read.
    """
    return placing(make, preset, typed), under_typed(preset_options(reader, preset), typed, known)


def under_typed(options: Options, typed: Options, known: Iterable[str]) -> dict[str, Sequence[str]]:
    """A preset's options below those that were typed, as far as the command knows them.

    A command without pools takes what both pools have in common. Raises KvcostError where they differ in it.
    """
    names = frozenset(known)
    given: dict[str, Sequence[str]] = {option: words for option, words in options.items() if option in names}
    for option in ("tp", "gpu"):
        pools = [options.get(f"{pool}_{option}") for pool in ("prefill", "decode")]
        if option in names and f"prefill_{option}" not in names and option not in typed and pools[0] is not None:
            if pools[1] is not None and pools[0] != pools[1]:
                hint = f"give {flag(option)} {pools[0][0]} for the prefill pool, or {pools[1][0]} for the decode pool"
                raise KvcostError(f"the preset's pools differ in {option}", where=flag(option), hint=hint)
            given[option] = pools[0]
    for option in typed:
        for other in _REPLACED.get(option, ()):
            given.pop(other, None)
    return {**given, **typed}


def in_preset(notices: Iterable[Notice]) -> list[Notice]:
    """Warnings of a preset's question for the writer of the preset."""
    return [Notice(code, in_yaml_words(message), in_yaml_words(hint)) for code, message, hint in notices]


def changed(options: Options, change: Mapping[str, str]) -> dict[str, Sequence[str]]:
    """The options with some words replaced."""
    return {**options, **{option: [word] for option, word in change.items()}}
