"""How far a long answer has come, on the terminal of whoever waits for it."""

import sys
import time
from collections.abc import Iterable, Iterator
from typing import Any

__all__ = ["watched"]

PATIENCE_S, PAUSE_S = 1.0, 0.2


def watched(rows: Iterable[tuple[Any, ...]], total: int | None) -> Iterator[tuple[Any, ...]]:
    """The same rows; after a second of waiting a line on stderr counts them, and is wiped at the end."""
    start = shown = time.monotonic()
    said = False
    count = 0
    try:
        for row in rows:
            yield row
            count += 1
            now = time.monotonic()
            if now - start > PATIENCE_S and now - shown > PAUSE_S:
                shown, said = now, True
                share = f" of {total:,} rows, {count / total:.0%}" if total else " rows"
                sys.stderr.write(f"\r{count:,}{share}\x1b[K")
                sys.stderr.flush()
    finally:
        if said:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
