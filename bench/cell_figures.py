#!/usr/bin/env python3
"""Measures the time to start a cell.

    python3 bench/cell_figures.py --build build [--runs 200]

run.py includes it; alone it prints one JSON line to stdout and the comparison with the target to stderr.
It uses real-time priority if that is allowed ("real_time" tells whether): a start is several processes one after the
other, and on a busy machine each of them waits for other programs. cpu_ms does not depend on that.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys

from ext_figures import first_that_runs
from server_figures import show

WANTED_MS = 10


def measure(build, only="", runs=200):
    if only not in "cell.start":
        return
    words, is_real = first_that_runs([build / "bench/cell-bench", build / "parley", str(runs)], ((["chrt", "-f", "10"], True),))
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        yield {"name": "cell.start", "impl": "parley", "problem": done.stderr.strip()}
        return
    yield json.loads(done.stdout) | {"real_time": is_real}


def rows(lines):
    """Comparison with the target, in the shape of server_figures.rows."""
    for line in lines:
        if line["name"] != "cell.start":
            continue
        ours = line.get("p50_ms")
        factor = WANTED_MS / ours if ours else None
        yield {"what": "start of a cell, p50 ms", "ours": ours, "peer": "limit", "theirs": WANTED_MS,
               "factor": factor and round(factor, 2), "wanted": 1,
               "verdict": "not measured" if not ours else "ok" if factor >= 1 else "MISS"}


def main():
    options = argparse.ArgumentParser(description="Time the start of cells.")
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), metavar="DIR")
    options.add_argument("--runs", type=int, default=200)
    asked = options.parse_args()
    lines = list(measure(asked.build.resolve(), runs=asked.runs))
    for line in lines:
        print(json.dumps(line, separators=(",", ":")), flush=True)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", file=sys.stderr)
    show(list(rows(lines)), sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
