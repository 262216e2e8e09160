#!/usr/bin/env python3
"""Prints the line coverage of the tests for each room, from a build with -Db_coverage=true.

    tools/cover.py build-cover
"""
import json
import subprocess
import sys
from pathlib import Path

from check_layers import Layers

ROOT = Path(__file__).resolve().parent.parent


def main():
    build = sys.argv[1]
    layers = Layers(json.loads((ROOT / "tools/layers.json").read_text("utf-8")))
    report = subprocess.run(
        ["gcovr", "--root", ROOT, "--filter", "src/", "--json-summary", "-", "--exclude-unreachable-branches",
         "--gcov-ignore-parse-errors", build], cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    rooms = {}
    files = json.loads(report)["files"]
    for entry in files:
        room = layers.room_of(entry["filename"])
        if room:
            covered, total = rooms.get(room, (0, 0))
            rooms[room] = (covered + entry["line_covered"], total + entry["line_total"])
    rooms["all"] = tuple(map(sum, zip(*rooms.values())))
    print(f"{'room':16} {'lines':>7} {'covered':>8} {'':>7}")
    for room, (covered, total) in rooms.items():
        print(f"{room:16} {total:7} {covered:8} {100 * covered / total if total else 0:6.1f}%")
    least = sorted(files, key=lambda entry: entry["line_percent"] or 0)[:5]
    print("least covered: " + ", ".join(f"{entry['filename']} {entry['line_percent']}%" for entry in least))


if __name__ == "__main__":
    main()
