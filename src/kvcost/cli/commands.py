"""The commands: which there are, and each one's parser, loaded when it is asked for."""

from __future__ import annotations

import importlib
from typing import Any

import typer

__all__ = ["COMMANDS", "CONTEXT", "command_of", "unwrapped"]

# Command → (module in this package, what it answers).
COMMANDS: dict[str, tuple[str, str]] = {
    "size": ("size", "How many KV bytes a request holds."),
    "transfer": ("transfer", "How long they take over a link, at best and in an engine."),
    "compute": ("compute", "How long a prefill or a decode step takes on a GPU."),
    "breakeven": ("breakeven", "Is splitting worth it, and where the sign turns."),
    "reduce": ("reduce", "Every technique that cuts the transfer, side by side."),
    "check": ("check", "Presets of deployments held to their limits, for CI."),
    "import": ("import_", "A Hugging Face config.json as a catalog entry."),
    "models": ("catalogs", "The models, each figure with its source."),
    "links": ("catalogs", "The links, one direction each."),
    "gpus": ("catalogs", "The GPUs: dense peaks, memory, links."),
    "engines": ("catalogs", "The serving engines: what they add to the wire."),
    "techniques": ("catalogs", "What cuts or hides the transfer, and what is published of it."),
    "explain": ("explain", "What a field of the output means: formula, symbols, source."),
    "schema": ("schema", "JSON Schema of presets, of results and of catalog entries."),
    "completion": ("completion", "Completion of commands, options and names in a shell."),
}
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}


def unwrapped(command: Any) -> Any:
    """The command with the examples of its help left as they are: below a mark that only an escape can write."""
    command.help = (command.help or "").replace("\\b\n", "\b\n")
    return command


def command_of(name: str) -> Any:
    """The command of that name, its module loaded and no other."""
    module = importlib.import_module(f".{COMMANDS[name][0]}", __package__)
    app = getattr(module, f"{name}_app", None) or module.app
    app.info.context_settings = CONTEXT
    app.rich_markup_mode = None
    app._add_completion = False
    return unwrapped(typer.main.get_command(app))
