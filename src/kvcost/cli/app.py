"""The command `kvcost`: finds the subcommand, loads it alone, and turns what goes wrong into words."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from .. import __version__
from ..errors import KvcostError
from ..render.output import say_error

__all__ = ["COMMANDS", "run"]

# Command → (module in this package, what it answers).
COMMANDS: dict[str, tuple[str, str]] = {
    "size": ("size", "How many KV bytes a request holds."),
    "transfer": ("transfer", "How long they take over a link: at line rate, achievable, in an engine."),
    "compute": ("compute", "How long a prefill or a decode step takes on a GPU, and what bounds it."),
    "import": ("import_", "A Hugging Face config.json as a catalog entry."),
    "breakeven": ("breakeven", "Is splitting prefill and decode worth it, and where the sign turns."),
    "check": ("check", "Presets of deployments held to their limits, for CI."),
    "models": ("catalogs", "The models, with where their figures come from."),
    "links": ("catalogs", "The links, one direction each, with where their figures come from."),
    "gpus": ("catalogs", "The GPUs: dense peaks, memory, links, with where their figures come from."),
    "engines": ("catalogs", "The serving engines, with where their figures come from."),
    "explain": ("explain", "What a field of the output means: formula, symbols, source."),
    "schema": ("schema", "JSON Schema of presets, of results and of catalog entries."),
}
EXIT_BAD_INPUT, EXIT_BUG, EXIT_INTERRUPTED = 2, 70, 130
# typer carries its own copy of click, so its exception types are reached through typer's.
_ClickError: Any = typer.BadParameter.__mro__[2]


def _unwrapped(command: Any) -> Any:
    """The command with the examples of its help left as they are: below a mark that only an escape can write."""
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    return command


class _Commands(TyperGroup):
    """Loads the module of the command that is asked for, and no other."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f".{COMMANDS[cmd_name][0]}", __package__)
        app = getattr(module, f"{cmd_name}_app", None) or module.app
        app.info.context_settings = {"help_option_names": ["-h", "--help"]}
        app.rich_markup_mode = None
        app._add_completion = False
        return _unwrapped(typer.main.get_command(app))

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from ..catalog.names import near_names

            near = near_names(args[0], COMMANDS)
            raise KvcostError(
                f"unknown command '{args[0]}'", hint=f"nearest: {', '.join(near)}; `kvcost --help` lists all" if near else "`kvcost --help` lists all"
            )
        return super().resolve_command(ctx, args)


def _version(asked: bool) -> None:
    if asked:
        print(f"kvcost {__version__}")
        raise typer.Exit


app = typer.Typer(
    cls=_Commands,
    rich_markup_mode=None,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback()
def root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    r"""What moving the KV cache costs when prefill and decode run in separate pools.

    \b
    kvcost transfer --model llama2-70b --ctx 4096 --link 100gbe
    kvcost size --model deepseek-v3 --ctx 32k --json
    kvcost links
    """


def _usable_streams(words: Sequence[str]) -> None:
    """Characters that the terminal cannot show become marks, never tracebacks; nothing meant for stderr lands on stdout."""
    if sys.stderr is None:
        sys.stderr = io.StringIO()
    if sys.stdout is None:
        if not any(word.startswith(("-o", "--output")) for word in words):
            raise KvcostError("standard output is closed", hint="redirect it to a file or a pipe, or use -o FILE")
        sys.stdout = io.StringIO()
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def _abandon_stdout() -> None:
    """Nothing more can be written: keep the interpreter from trying again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    words = list(sys.argv[1:] if arguments is None else arguments) or ["--help"]
    try:
        _usable_streams(words)
        code = _unwrapped(typer.main.get_command(app)).main(args=words, prog_name="kvcost", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except (BrokenPipeError, SystemExit):
        # The reader has seen enough; typer turns that into an exit of its own.
        _abandon_stdout()
        return 0
    except (KeyboardInterrupt, typer.Abort):
        return EXIT_INTERRUPTED
    except Exception as error:
        if "--debug" in words:
            import traceback

            traceback.print_exc()
        return _explained(error)


def _explained(error: Exception) -> int:
    """Say what went wrong, and return the exit code for it."""
    if isinstance(error, KvcostError):
        say_error(error)
    elif isinstance(error, _ClickError):
        say_error(_usage(error))
    elif isinstance(error, OSError):
        _abandon_stdout()
        say_error(KvcostError(f"cannot write the answer: {error.strerror}", hint="check the space and the permissions of where it goes"))
    else:
        print(f"error: a bug in kvcost: {type(error).__name__}: {error}", file=sys.stderr)
        print("hint: run again with --debug and report the traceback", file=sys.stderr)
        return EXIT_BUG
    return EXIT_BAD_INPUT


def _usage(error: Any) -> KvcostError:
    """A complaint of the argument parser in our form."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else "kvcost"
    message = error.format_message().rstrip(".")
    return KvcostError(message[:1].lower() + message[1:], hint=f"`{path} --help` lists the options")
