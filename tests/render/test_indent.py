"""Running text that is indented stays so where a terminal wraps it."""

import io

from kvcost.render.terminal import RichScreen


def test_continuation_lines_keep_their_indentation():
    stream = io.StringIO()
    RichScreen(stream, 40, color=False).text("      a.yaml:1:1: a sentence that is longer than one line of a terminal")
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2
    assert all(line.startswith("      ") and line[6] != " " and len(line) <= 40 for line in lines)
    stream = io.StringIO()
    RichScreen(stream, 10, color=False).text("        wide beyond the screen")
    assert all(len(line) <= 10 for line in stream.getvalue().splitlines())
