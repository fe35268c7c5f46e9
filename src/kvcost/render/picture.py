"""A picture of what the terminal shows: SVG or HTML that loads nothing from anywhere."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from typing import TextIO

from rich._export_format import CONSOLE_HTML_FORMAT, CONSOLE_SVG_FORMAT
from rich.cells import cell_len
from rich.console import Console
from rich.terminal_theme import TerminalTheme
from rich.text import Text

from .plain import Screen
from .terminal import RichScreen

__all__ = ["write_picture"]

# Light on dark in a frame of its own, which reads on light and dark pages alike. Dim text is halfway between the two
# colours and keeps a contrast of 4.5 to 1; on a white page it would not, so there it is mixed with a grey.
_DARK = TerminalTheme((24, 24, 27), (236, 236, 236), [(108, 108, 108)] * 8)
_LIGHT = TerminalTheme((208, 208, 208), (0, 0, 0), [(108, 108, 108)] * 8)
_PAGE = CONSOLE_HTML_FORMAT.replace("{background}", "#ffffff")

# rich's own frame, with the reader's fonts in place of one from a web site.
_FONTS = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace"
_FRAME = re.sub(r"@font-face \{\{.*?\}\}\s*", "", CONSOLE_SVG_FORMAT, flags=re.DOTALL).replace("Fira Code, monospace", _FONTS)


def write_picture(show: Callable[[Screen], None], stream: TextIO, kind: str, width: int, title: str) -> None:
    """Write what `show` puts on a terminal of `width` columns, as kind svg or html; as wide as its longest line."""
    shown = io.StringIO()
    show(RichScreen(shown, width, color=True))
    lines = Text.from_ansi(shown.getvalue().rstrip("\n"))
    longest = max(cell_len(line) for line in lines.plain.split("\n"))
    console = Console(file=io.StringIO(), record=True, width=longest, force_terminal=True, color_system="standard", highlight=False, legacy_windows=False)
    console.print(lines, soft_wrap=True)
    if kind == "svg":
        stream.write(console.export_svg(title=title, theme=_DARK, code_format=_FRAME))
    else:
        stream.write(console.export_html(theme=_LIGHT, code_format=_PAGE, inline_styles=True))
