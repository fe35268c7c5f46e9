"""The command `kvcost`: finds the subcommand, loads it alone, and turns what goes wrong into words."""

from __future__ import annotations

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
from .commands import COMMANDS, CONTEXT, command_of, unwrapped
from .shells import ASKING

__all__ = ["run"]

EXIT_BAD_INPUT, EXIT_BUG, EXIT_INTERRUPTED = 2, 70, 130
# Exit codes above this are those of signals.
SIGNALLED = 128
# typer carries its own copy of click, so its exception types are reached through typer's.
_ClickError: Any = typer.BadParameter.__mro__[2]


class _Commands(TyperGroup):
    """Loads the module of the command that is asked for, and no other."""

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        return command_of(cmd_name) if cmd_name in COMMANDS else None

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
    context_settings=CONTEXT,
)


@app.callback()
def root(version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")] = False) -> None:
    r"""What moving the KV cache costs when prefill and decode run in separate pools.

    \b
    kvcost transfer --model llama2-70b --ctx 4096 --link 100gbe
    kvcost breakeven --model llama2-70b --ctx 4096 --osl 256 --gpu h100 --tp 8 --link 100gbe --rate 2
    kvcost size --model deepseek-v3 --ctx 32k --json
    kvcost links 100gbe
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
        if ASKING in os.environ:
            from .completion import complete

            return complete(words if words != ["--help"] else [])
        if words[0] == "help":
            words = [*words[1:], "--help"]
        code = unwrapped(typer.main.get_command(app)).main(args=words, prog_name="kvcost", standalone_mode=False)
        sys.stdout.flush()
        return int(code or 0)
    except (BrokenPipeError, SystemExit) as stopped:
        # The reader has seen enough (typer turns that into an exit of its own), or a signal asked to end.
        _abandon_stdout()
        asked = getattr(stopped, "code", 0)
        return asked if isinstance(asked, int) and asked > SIGNALLED else 0
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
    hint = f"`{path} --help` lists the options"
    meant = _meant(getattr(error, "option_name", ""), context)
    if meant:
        message, hint = f"no such option: {error.option_name}", f"did you mean {meant}? {hint}"
    if path == "kvcost":
        hint = "name the command first, such as `kvcost transfer --model ...`; `kvcost --help` lists all"
    return KvcostError(message[:1].lower() + message[1:], hint=hint)


def _meant(option: str, context: Any) -> str:
    """The option that other tools call by the name that was typed, where the command has it."""
    from ..presets.keys import MEANT, OPTION_OF

    key = MEANT.get(option.removeprefix("--").replace("-", "_"), "")
    meant = OPTION_OF.get(("workload", key), "")
    return f"--{meant}" if context is not None and meant in {param.name for param in context.command.params} else ""
