#!/usr/bin/env python3
"""Checks that no test measures time, and that every suite in JavaScript is run.

    tools/check_tests.py [--source-root .] [--tap]

A test that compares durations fails on a busy machine and proves nothing on an idle one: figures belong in bench/. A
test waits for a condition (tests/e2e/waiting.mjs, tests/unit/io/turning.h), with a time limit of minutes as a safety
net. The exceptions below have to compare times, and give the reason. A suite that tests/meson.build does not name never
runs. Exit code 0 if everything holds, 1 otherwise.
"""
import argparse
import re
import sys
from pathlib import Path

# Spellings of an elapsed time, or of a deadline that is compared with the clock.
CLOCKS = {
    (".mjs", ".js"): r"(?:Date\.now\(\)|performance\.now\(\)|process\.hrtime(?:\.bigint)?\(\))",
    (".c", ".h"): r"(?:pl_clock_ms\(\)|pl_clock_unix_ms\(\)|clock_ns\(\)|clock_gettime\(|gettimeofday\()",
    (".py",): r"time\.(?:time|monotonic|perf_counter)(?:_ns)?\(\)",
}
COMPARED = r"{clock}\s*(?:-(?!>)|[<>])|[<>]=?\s*{clock}|process\.hrtime|gettimeofday\("
# A test's own time limit.
LIMITS = r"\{{[^{{}}]*\btimeout: [\d_]+[^{{}}]*\}}, (?:async )?\("

NOT_EARLY = "a lower bound: nothing happens before its time, however slow the machine is"
# (file, part of the line): the reason for the exception.
EXCEPTIONS = {
    ("tests/e2e/waiting.mjs", "Date.now() > end"): "the safety net itself",
    ("tests/unit/tools/check_tests_test.py", ""): "the examples of what this check refuses",
    ("tests/unit/io/turning.h", "pl_clock_ms() > turning->end_ms"): "the safety net itself",
    ("tests/e2e/soak.test.mjs", "Date.now() - begun > 9000"): NOT_EARLY,
    ("tests/e2e/soak.test.mjs", "Date.now() - begun > 29_000"): NOT_EARLY,
    ("tests/e2e/soak.test.mjs", "(Date.now() - begun) / 1000"): NOT_EARLY,
    ("tests/e2e/faults.test.mjs", "Date.now() - begun > 4000"): NOT_EARLY,
    ("tests/e2e/replay.test.mjs", "return Date.now() - began"): NOT_EARLY,
    ("tests/unit/io/fetch_test.c", "pl_clock_ms() - before_ms >= 200"): NOT_EARLY,
    ("tests/unit/io/loop_test.c", "pl_clock_ms() >= now_ms"): "two clocks are compared, not a time that passed",
    ("tests/unit/io/timer_test.c", "clock_ns() - self->started_ns >= 7 * 1000000"): NOT_EARLY,
    ("tests/unit/io/tls_test.c", "pl_clock_ms() - start_ms >= 9900"): NOT_EARLY,
    ("tests/unit/model/vendor_test.c", "pl_clock_ms() - began_ms >= "): NOT_EARLY,
}


def findings(root):
    """(file, line number, line) of each line that seems to measure time, and the exceptions that applied."""
    found, used = [], set()
    for path in sorted((root / "tests").rglob("*")):
        clock = next((text for suffixes, text in CLOCKS.items() if path.suffix in suffixes), None)
        if not clock or "node_modules" in path.parts or not path.is_file():
            continue
        pattern = re.compile(COMPARED.format(clock=clock) + "|" + LIMITS.format())
        place = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
            if not pattern.search(line):
                continue
            exception = next((key for key in EXCEPTIONS if key[0] == place and key[1] in line), None)
            if exception:
                used.add(exception)
            else:
                found.append((place, number, line.strip()))
    return found, used


def unlisted(root):
    """Suites that the list of tests does not name. Suites of the page and the SDKs have loops of their own there."""
    listing = root / "tests" / "meson.build"
    if not listing.exists():
        return []
    listed = set(re.findall(r"\w+", listing.read_text("utf-8")))
    listed |= {name.removesuffix("_nats").removesuffix("_postgres") for name in listed}
    return [path.relative_to(root).as_posix() for path in sorted((root / "tests").glob("*/*.test.mjs"))
            if path.name.removesuffix(".test.mjs") not in listed]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source-root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--tap", action="store_true")
    args = parser.parse_args()
    found, used = findings(args.source_root)
    problems = [f"{place}:{number}: measures time; wait for a condition, or move the figure to bench/: {line[:120]}"
                for place, number, line in found]
    problems += [f"tools/check_tests.py: the exception {key} is not needed any more"
                 for key in EXCEPTIONS if key not in used and (args.source_root / key[0]).exists()]
    problems += [f"{place}: nobody runs it; name it in tests/meson.build" for place in unlisted(args.source_root)]
    for problem in problems:
        print(("# " if args.tap else "") + problem)
    if args.tap:
        print(f"{'not ok' if problems else 'ok'} 1 - no test measures time, and every suite is run\n1..1")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
