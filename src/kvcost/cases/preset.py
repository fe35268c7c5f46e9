"""A preset's words as options: read by the grammar of the command line, complained of where they stand in the file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ..errors import KvcostError, Notice
from ..presets.form import PATH_OF
from ..presets.read import PresetFile
from .plan import Options
from .reading import Reader, flag

__all__ = ["in_yaml_words", "placed", "preset_options", "under_typed"]

# Options that name the same thing: one that is typed takes the others' place.
_REPLACED = {
    "tp": ("prefill_tp", "decode_tp", "mono_tp"),
    "gpu": ("prefill_gpu", "decode_gpu", "mono_gpu"),
    "rate": ("concurrency",),
    "concurrency": ("rate",),
    "link": ("path", "bandwidth"),
    "path": ("link", "bandwidth"),
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
    if error.where and not error.where.startswith("--"):
        return error
    option = error.where.removeprefix("--").replace("-", "_")
    candidates = (option, f"prefill_{option}", f"decode_{option}")
    place = next((preset.places[name] for name in candidates if name in preset.places), preset.top)
    path = ".".join(PATH_OF.get(option, ()))
    words = f"{path}: {error.message}" if path and option in preset.places else error.message
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


def under_typed(options: Options, typed: Options, known: Iterable[str]) -> dict[str, Sequence[str]]:
    """A preset's options below those that were typed, as far as the command knows them.

    A command without pools takes what both pools have in common.
    """
    names = frozenset(known)
    given: dict[str, Sequence[str]] = {option: words for option, words in options.items() if option in names}
    for option in ("tp", "gpu"):
        pools = [options.get(f"{pool}_{option}") for pool in ("prefill", "decode")]
        if option in names and f"prefill_{option}" not in names and pools[0] is not None and pools[0] == pools[1]:
            given[option] = pools[0]
    for option in typed:
        for other in _REPLACED.get(option, ()):
            given.pop(other, None)
    return {**given, **typed}


def in_preset(notices: Iterable[Notice], preset: PresetFile) -> list[Notice]:
    """Warnings of a preset's question, with its file before them."""
    return [Notice(code, f"{preset.name}: {in_yaml_words(message)}", in_yaml_words(hint)) for code, message, hint in notices]


def changed(options: Options, change: Mapping[str, str]) -> dict[str, Sequence[str]]:
    """The options with some words replaced."""
    return {**options, **{option: [word] for option, word in change.items()}}
