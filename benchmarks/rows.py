"""A million transfer rows (model x ctx x link) to csv, against csv.writer with as many rows of equally many constants.

    python benchmarks/rows.py [--lengths 62500] [--runs 3] [--check]

CPU seconds are those of a process of its own, start-up included; the peak is its resident memory.
--check ends with 1 when the rows take more than 5 times the CPU of csv.writer or more than 120 MB.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

MODELS = "llama2-70b,llama3.1-8b,qwen3-235b-a22b,deepseek-v3"
LINKS = "nvlink4,ib-ndr,100gbe,pcie5"
MOST_RATIO, MOST_MB = 5.0, 120.0
CONSTANTS = """
import csv, json, sys
row = tuple(json.loads(sys.argv[2]))
writer = csv.writer(sys.stdout, lineterminator="\\n")
writer.writerows(row for _ in range(int(sys.argv[1])))
"""


class Cost(NamedTuple):
    """CPU and wall seconds of a process, and the most memory that it held."""

    cpu_s: float
    wall_s: float
    peak_mb: float


def measured(words: list[str]) -> Cost:
    """The cost of one run in a process of its own, its output thrown away."""
    start = time.perf_counter()
    process = subprocess.Popen([sys.executable, *words], stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"exit {process.returncode}: {' '.join(words[:6])} ...")
    scale = 1e6 if sys.platform == "darwin" else 1e3
    return Cost(used.ru_utime + used.ru_stime, time.perf_counter() - start, used.ru_maxrss / scale)


def a_row(columns: tuple[str, ...]) -> list[object]:
    """One row of the answer, as the constants of csv.writer."""
    words = ["-m", "kvcost", "transfer", "--model", "llama2-70b", "--ctx", "5000", "--link", "100gbe", "-q", "--format", "jsonl", *columns]
    text = subprocess.run([sys.executable, *words], check=True, capture_output=True, text=True, stdin=subprocess.DEVNULL).stdout
    return list(json.loads(text).values())


def main() -> int:
    """Print a line for all columns and one for three of them; 1 when a limit is broken and --check is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lengths", type=int, default=62_500, help="context lengths; rows = 16 x lengths")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--check", action="store_true", help="end with 1 when a limit is broken")
    options = parser.parse_args()
    count = 16 * options.lengths
    grid = ["-m", "kvcost", "transfer", "--model", MODELS, "--link", LINKS, "--ctx", f"1..{options.lengths}:+1", "-q", "--format", "csv"]
    broken = False
    print(f"{'rows to csv':<24} {'rows':>9} {'CPU s':>7} {'writer':>7} {'ratio':>6} {'limit':>6} {'peak MB':>8} {'limit':>6}   (median of {options.runs})")
    for name, columns in (("all columns", ()), ("three columns", ("--columns", "model,ctx_tokens,transfer_s"))):
        row = a_row(columns)
        ours, theirs = [], []
        for _ in range(options.runs):
            ours.append(measured([*grid, *columns]))
            theirs.append(measured(["-c", CONSTANTS, str(count), json.dumps(row)]))
        cpu_s, writer_s = (statistics.median(cost.cpu_s for cost in costs) for costs in (ours, theirs))
        peak_mb = max(cost.peak_mb for cost in ours)
        # The limit of the ratio is for whole rows: few columns leave csv.writer next to nothing to do.
        over = peak_mb > MOST_MB or (not columns and cpu_s > MOST_RATIO * writer_s)
        broken |= over
        limit = "" if columns else f"{MOST_RATIO:g}"
        print(
            f"{f'{name} ({len(row)})':<24} {count:>9,} {cpu_s:7.2f} {writer_s:7.2f} {cpu_s / writer_s:6.2f} {limit:>6} {peak_mb:8.1f} {MOST_MB:6.0f}"
            + ("  over" if over else "")
        )
    return 1 if broken and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
