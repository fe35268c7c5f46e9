"""`python -m kvcost` and the `kvcost` command."""

# Both are there already when Python starts; everything else is imported where an interrupt ends in silence.
import os
import sys

INTERRUPTED = 130


def _stop(number: int, _frame: object) -> None:
    """A request to end, taken as an exception: what lies half-written is removed on its way out."""
    raise SystemExit(128 + number)


def _answered() -> int:
    """Run the command line and write out what it left in the streams."""
    import gc
    import signal

    gc.set_threshold(200_000)
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) == signal.SIG_DFL:  # nohup has it ignored
            signal.signal(number, _stop)
    from .cli.app import run

    code = run()
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            code = code or 2
    return code


def main() -> None:
    """Run the command line and exit with its code.

    A sweep in a shell loop pays start-up and exit on every line, so the collector runs rarely (imports
    make no garbage) and the process ends without taking the interpreter apart, as nothing is left to do
    once the streams are flushed.
    """
    try:
        code = _answered()
    except KeyboardInterrupt:  # while the command was still being loaded, or its last words written
        code = INTERRUPTED
    except SystemExit as stopped:
        code = stopped.code if isinstance(stopped.code, int) else 1
    os._exit(code)


if __name__ == "__main__":
    main()
