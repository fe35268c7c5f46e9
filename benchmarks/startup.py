"""Start-up of the commands that sweeps call on every line, as CPU time against an empty Python.

    python benchmarks/startup.py [--runs 15] [--check]

Runs of all commands alternate, so that a busy machine slows them alike; the median of each is compared
with the median of `python -c pass`. --check ends with 1 when a command takes more than its limit.
"""

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

CASE = ("--model", "llama2-70b", "--ctx", "4096")
LINK = ("--link", "100gbe")


class Command(NamedTuple):
    """What is run, and how many times the CPU of an empty Python it may take (None: no limit)."""

    name: str
    words: tuple[str, ...]
    limit: float | None


KVCOST = ("-m", "kvcost")
COMMANDS = (
    Command("python -c pass", ("-c", "pass"), None),
    Command("transfer --json", (*KVCOST, "transfer", *CASE, *LINK, "--json"), 8.0),
    Command("transfer (table)", (*KVCOST, "transfer", *CASE, *LINK), 11.0),
    Command("size --json", (*KVCOST, "size", *CASE, "--json"), 8.0),
    Command("--help", (*KVCOST, "--help"), 7.5),
    Command("--version", (*KVCOST, "--version"), 7.5),
    Command("check, 1 preset", (*KVCOST, "check", "{presets}/000.yaml", "-q"), 22.0),
    Command("check, 200 presets", (*KVCOST, "check", "{presets}", "-q"), 60.0),
)
# Each with another length, so that no answer serves twice.
PRESET = """\
model: llama2-70b
weight_dtype: fp16
link: {{name: ib-ndr, rails: 8}}
prefill: {{gpu: h100, tp: 8}}
decode: {{gpu: h100, tp: 8}}
workload: {{isl: {isl}, osl: 512, rate: 3}}
slo: {{ttft: 1s, tpot: 50ms}}
limits: {{net_gain_s: "> 0", link_utilisation: "< 0.7", transfer_s: "< 50ms", verdict: "!= infeasible"}}
"""


class Cost(NamedTuple):
    """CPU and wall seconds of one run."""

    cpu_s: float
    wall_s: float


def measured(words: tuple[str, ...]) -> Cost:
    """CPU seconds (user and system) and wall seconds of one run in a process of its own."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    wall_s, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return Cost(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall_s)


def main() -> int:
    """Print a line for each command; 1 when a limit is broken and --check is given."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    parser.add_argument("--check", action="store_true", help="end with 1 when a limit is broken")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(200):
            Path(folder, f"{number:03}.yaml").write_text(PRESET.format(isl=2000 + 10 * number))
        return compared([command._replace(words=tuple(word.format(presets=folder) for word in command.words)) for command in COMMANDS], options)


def compared(commands: Sequence[Command], options: argparse.Namespace) -> int:
    """Run the commands in turn, and print how they compare."""
    for command in commands:  # once for the caches: byte code, compiled catalog, disk
        measured(command.words)
    runs: dict[str, list[Cost]] = {command.name: [] for command in commands}
    for _ in range(options.runs):
        for command in commands:
            runs[command.name].append(measured(command.words))
    cpu_s = {name: statistics.median(cost.cpu_s for cost in costs) for name, costs in runs.items()}
    empty_s = cpu_s["python -c pass"]
    broken = False
    print(f"{'command':<20} {'CPU ms':>8} {'wall ms':>8} {'ratio':>6} {'limit':>6}   (median of {options.runs}, interleaved)")
    for command in commands:
        ratio = cpu_s[command.name] / empty_s
        wall_ms = statistics.median(cost.wall_s for cost in runs[command.name]) * 1e3
        over = command.limit is not None and ratio > command.limit
        broken |= over
        limit = "" if command.limit is None else f"{command.limit:g}"
        print(f"{command.name:<20} {cpu_s[command.name] * 1e3:8.1f} {wall_ms:8.1f} {ratio:6.2f} {limit:>6}{'  over' if over else ''}")
    return 1 if broken and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
