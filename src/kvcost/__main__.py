"""`python -m kvcost` and the `kvcost` command."""

import gc
import os
import sys


def main() -> None:
    """Run the command line and exit with its code.

    A sweep in a shell loop pays start-up and exit on every line, so the collector runs rarely (imports
    make no garbage) and the process ends without taking the interpreter apart, as nothing is left to do
    once the streams are flushed.
    """
    gc.set_threshold(200_000)
    from .cli.app import run

    code = run()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            code = code or 2
    os._exit(code)


if __name__ == "__main__":
    main()
