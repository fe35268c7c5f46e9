"""`kvcost completion`, and what its scripts ask for: commands, options, and the values that an option knows."""

import contextlib
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any

import typer

from ..errors import KvcostError
from .commands import COMMANDS, command_of
from .shells import ASKING, SCRIPTS

__all__ = ["complete"]

app = typer.Typer()
_CATALOGS = {"model": "models", "link": "links", "path": "links", "engine": "engines", "technique": "techniques", "with": "techniques"}
# Commands that take names, and what their names stand for.
_NAMED = {
    "models": "model",
    "links": "link",
    "gpus": "gpu",
    "engines": "engine",
    "techniques": "technique",
    "explain": "quantity",
    "schema": "schema",
    "completion": "shell",
}


@app.command()
def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh, fish or powershell.")],
    debug: Annotated[bool, typer.Option("--debug", help="Show tracebacks.")] = False,  # noqa: ARG001
) -> int:
    r"""A script that completes commands, options and the names of models, links, GPUs and engines.

    \b
    source <(kvcost completion bash)        in ~/.bashrc
    source <(kvcost completion zsh)         in ~/.zshrc, below compinit
    kvcost completion fish | source         in ~/.config/fish/config.fish
    kvcost completion powershell | Out-String | Invoke-Expression
    """
    if shell not in SCRIPTS:
        raise KvcostError(f"no completion for '{shell}'", where="SHELL", hint="write one of bash, zsh, fish, powershell")
    print(SCRIPTS[shell], end="")
    return 0


def complete(words: Sequence[str]) -> int:
    """Print the candidates for the last of the words; bash gets them as it cuts words, without their meaning."""
    shell = os.environ[ASKING]
    typed = [*words, ""] if shell.endswith("-new-word") or not words else list(words)
    cut = ""
    if shell == "bash":
        typed, cut = _rejoined(typed)
    found: list[tuple[str, str]] = []
    with contextlib.suppress(KvcostError):  # a catalog that cannot be read completes nothing
        found = list(dict(_candidates(typed)).items())
    for value, meaning in found:
        print(value.removeprefix(cut) if shell == "bash" else f"{value}\t{meaning}")
    return 0


def _rejoined(words: Sequence[str]) -> tuple[list[str], str]:
    """Words that bash cut at `=` and `:` in one piece again, and what of the last one stands before its last cut."""
    whole: list[str] = []
    cut, joined = "", False
    for word in words:
        breaks = word != "" and not word.strip("=:")
        if whole and (breaks or joined):
            cut = whole[-1] + word if breaks else whole[-1]
            whole[-1] += word
        else:
            whole.append(word)
            cut = ""
        joined = breaks and bool(whole)
    return whole, cut


def _candidates(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Candidate and meaning of whatever can stand where the last word does."""
    *before, word = words
    if not before:
        yield from _matching(word, {name: text for name, (_, text) in COMMANDS.items()})
        if word.startswith("-"):
            yield from _matching(word, {"--help": "Show this message and exit.", "--version": "Print the version."})
        return
    name = before[0]
    if name == "help":
        yield from _matching(word, {name: text for name, (_, text) in COMMANDS.items()} if len(before) == 1 else {})
        return
    if name not in COMMANDS:
        return
    options = [param for param in command_of(name).params if param.param_type_name == "option"]
    flag, equals, value = word.partition("=")
    if equals and flag.startswith("--"):
        yield from ((f"{flag}={found}", text) for found, text in _values(name, _option(options, flag), value, words))
    elif word.startswith("-"):
        yield from _flags(options, word)
    elif (option := _option(options, before[-1])) is not None:
        yield from _values(name, option, word, words)
    else:
        yield from _positional(name, options, word, words)


def _option(options: Sequence[Any], flag: str) -> Any:
    """The option of that flag if it takes a value."""
    return next((option for option in options if flag in option.opts and not option.is_flag), None)


def _flags(options: Sequence[Any], word: str) -> Iterator[tuple[str, str]]:
    flags = {flag: option.help for option in options for flag in option.opts if flag.startswith("--") or word == flag}
    return _matching(word, {**flags, "--help": "Show this message and exit."})


def _positional(command: str, options: Sequence[Any], word: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Names where a command takes them; where it takes nothing, its options."""
    if command in _NAMED:
        yield from _matching(word, _known(command, _NAMED[command], words))
    elif not word and "input" in {option.name for option in options}:
        yield from _flags(options, "--")


def _values(command: str, option: Any, word: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The values that an option knows, the last item of a list completed."""
    if option is None:
        return
    listed = option.multiple or option.name == "fail_if"
    head, comma, item = word.rpartition(",") if listed else ("", "", word)
    known = {value: meaning for value, meaning in _known(command, option.name.rstrip("_"), words).items() if value not in head.split(",")}
    for value, meaning in _matching(item, known):
        yield head + comma + value, meaning


def _matching(word: str, known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The known words that begin as this one does; where none does, those that do but for case, spaces, `-` and `_`."""
    from ..catalog.names import normalise

    exact = [(value, text) for value, text in known.items() if value.startswith(word)]
    yield from exact or [(value, text) for value, text in known.items() if word.strip("-") and normalise(value).startswith(normalise(word))]


def _known(command: str, option: str, words: Sequence[str]) -> dict[str, str]:
    """Word → meaning of all that an option, or a command's argument, takes by name."""
    kind = _CATALOGS.get(option, "gpus" if option == "gpu" or option.endswith("_gpu") else "")
    if kind:
        return _names(kind, words)
    if option == "columns":
        return _fields(command)
    return dict.fromkeys(_choices(option), "")


def _names(kind: str, words: Sequence[str]) -> dict[str, str]:
    """Name → title of the catalog's entries, aliases of one word behind them; with the catalogs that the line names."""
    from ..catalog.store import Catalog

    paths = [word for flag, word in itertools.pairwise(words) if flag == "--catalog"]
    entries = Catalog(paths or [path for path in os.environ.get("KVCOST_CATALOG", "").split(os.pathsep) if path]).entries(kind)
    found = {name: entry["title"] for name, entry in entries.items()}
    last = words[-1].rpartition(",")[2].rpartition("=")[2]
    if any(name.startswith(last) for name in found):
        return found
    return found | {alias: entry["title"] for entry in entries.values() for alias in entry["aliases"] if not re.search(r"\s", alias)}


def _fields(command: str) -> dict[str, str]:
    """Field → meaning of a pricing command's rows."""
    from ..cases.quantities import QUANTITIES
    from ..cases.schemas import row_fields

    return {field: QUANTITIES[field].meaning if field in QUANTITIES else "" for field in row_fields(command)}


def _choices(option: str) -> Sequence[str]:
    """The words of an option that takes one of a few."""
    from ..cases.models import VIEWS
    from ..cases.values import CHOICES
    from ..cost.dtypes import DTYPE_NAMES
    from ..cost.words import VERDICTS
    from ..render.output import FORMATS
    from .schema import WHAT

    if option == "quantity":
        from ..cases.quantities import QUANTITIES

        return tuple(QUANTITIES)
    known: dict[str, Sequence[str]] = {
        "kv_dtype": tuple(name.replace("gN", "g64") for name in DTYPE_NAMES),
        "format": FORMATS,
        "view": VIEWS,
        "color": ("auto", "always", "never"),
        "fail_if": (*VERDICTS, "never"),
        "schema": WHAT,
        "shell": tuple(name for name in SCRIPTS if name != "pwsh"),
    }
    return known.get(option) or CHOICES.get(option, ())
