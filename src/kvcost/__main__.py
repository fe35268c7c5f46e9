"""`python -m kvcost` and the `kvcost` command."""

from __future__ import annotations


def main() -> None:
    """Run the command line and exit with its code."""
    from .cli.app import run

    raise SystemExit(run())


if __name__ == "__main__":
    main()
