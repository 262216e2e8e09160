#!/usr/bin/env python3
"""Builds the given build directories, runs their tests and adds up what they report.

    tools/run_tests.py build=e2e,layers build-asan=unit,fault,conformance,fuzz,tools [--only TEXT]

An argument is a build directory and the suites to run from it. The commands come from
`meson introspect --tests`; every test prints TAP (testanything.org). A test program that crashes, times
out, or prints no plan counts as one failure; so does a failed build. Tests with a higher priority begin
first: those that take long. The last line is `N passed, N failed`, and `, N skipped` if any were skipped;
the failures are repeated before it.
"""
import argparse
import concurrent.futures
import json
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

POINT = re.compile(r"^(not )?ok\b *(?:\d+)? *(?:- )?(.*?)(?: *(?<!\\)# *(SKIP|TODO)\b *(.*))?$", re.IGNORECASE)
PLAN = re.compile(r"^1\.\.(\d+)(?: *# *SKIP *(.*))?$", re.IGNORECASE)
MAX_SHOWN = 200


@dataclass
class Outcome:
    """The report of one test program. Only points at the left margin count: indented ones are subtests."""
    name: str
    n_passed: int = 0
    failures: list = field(default_factory=list)
    skips: list = field(default_factory=list)  # (what, why)
    output: str = ""
    seconds: float = 0.0


def read_tap(name, output, exit_code):
    outcome = Outcome(name, output=output)
    planned, n_points, last = None, 0, "the start"
    for line in output.splitlines():
        plan = PLAN.match(line)
        if plan:
            planned = int(plan[1])
            if planned == 0:
                outcome.skips.append((name, plan[2] or "no reason given"))
            continue
        if line.startswith("Bail out!"):
            outcome.failures.append(line)
        point = POINT.match(line)
        if not point:
            continue
        n_points, last = n_points + 1, f'"{point[2]}"'
        directive = (point[3] or "").upper()
        if directive == "SKIP":
            outcome.skips.append((f"{name}: {point[2]}", point[4] or "no reason given"))
        elif point[1] and directive != "TODO":
            outcome.failures.append(point[2])
        else:
            outcome.n_passed += 1
    if exit_code < 0:
        outcome.failures.append(f"killed by signal {-exit_code} ({signal.strsignal(-exit_code)}) after {last}")
    elif planned is None:
        outcome.failures.append("printed no plan")
    elif planned != n_points:
        outcome.failures.append(f"planned {planned} points, printed {n_points}")
    if exit_code > 0 and not outcome.failures:
        outcome.failures.append(f"exit code {exit_code}")
    return outcome


def watch(name, child, limit):
    try:
        out, err = child.communicate(timeout=limit)
        # Only standard output is TAP; standard error explains it.
        outcome = read_tap(name, out, child.returncode)
    except subprocess.TimeoutExpired:
        os.killpg(child.pid, signal.SIGKILL)
        out, err = child.communicate()
        outcome = Outcome(name, output=out, failures=[
            f"SAFETY NET: not done after {limit} s and stopped. It hangs, or the machine is far too busy; "
            "no test is to take that long, and none fails for being slow."])
    outcome.output += err
    return outcome


def run_one(test):
    name, started = test["name"], time.monotonic()
    env = {**os.environ, **test["env"], "CMOCKA_MESSAGE_OUTPUT": "TAP"}
    env.setdefault("ASAN_OPTIONS", "detect_stack_use_after_return=1:strict_string_checks=1")
    env.setdefault("UBSAN_OPTIONS", "print_stacktrace=1:halt_on_error=1")
    limit = test["timeout"] or None
    try:
        # Starts a session of its own, so that all its processes can be killed together.
        with subprocess.Popen(test["cmd"], cwd=test["workdir"], env=env, text=True, errors="replace",
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              start_new_session=True) as child:
            outcome = watch(name, child, limit)
    except OSError as error:
        outcome = Outcome(name, failures=[str(error)])
    outcome.seconds = time.monotonic() - started
    return outcome


def build(directory, jobs):
    started = time.monotonic()
    result = subprocess.run(["ninja", "-C", directory, "-j", str(jobs)], text=True, errors="replace",
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    outcome = Outcome(f"compile {directory}", output=result.stdout, seconds=time.monotonic() - started)
    if result.returncode == 0:
        outcome.n_passed = 1
    else:
        outcome.failures.append("does not compile without a warning")
    return outcome


def tests_of(directory, suites):
    text = subprocess.run(["meson", "introspect", "--tests", directory], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    # Meson writes a suite as project:suite, and runs a test in the build directory by default.
    return [{**test, "workdir": test["workdir"] or directory} for test in json.loads(text)
            if suites & {suite.rsplit(":", 1)[-1] for suite in test["suite"]}]


def show(outcome):
    state = "FAIL" if outcome.failures else "skip" if outcome.skips and not outcome.n_passed else "ok"
    print(f"{state:4} {outcome.name} ({outcome.n_passed} passed, {outcome.seconds:.1f} s)", flush=True)
    if not outcome.failures:
        return
    for failure in outcome.failures[:MAX_SHOWN]:
        print(f"     not ok: {failure}")
    lines = [line for line in outcome.output.splitlines() if not line.startswith("ok ")]
    if len(lines) > MAX_SHOWN:
        print(f"     | … {len(lines) - MAX_SHOWN} lines left out")
    for line in lines[-MAX_SHOWN:]:
        print(f"     | {line}")
    sys.stdout.flush()


def show_skips(outcomes):
    reasons = {}
    for outcome in outcomes:
        for what, why in outcome.skips:
            reasons.setdefault(why, []).append(what)
    for why, what in reasons.items():
        print(f"skipped: {what[0]}" + (f" and {len(what) - 1} more" if len(what) > 1 else "") + f": {why}")


def show_failures(outcomes):
    for outcome in outcomes:
        for failure in outcome.failures[:MAX_SHOWN]:
            print(f"failed: {outcome.name}: {failure}")


def run_all(args):
    plan = dict(argument.split("=", 1) for argument in args.builds)
    outcomes, tests = [], []
    for directory, suites in plan.items():
        outcomes.append(build(directory, args.jobs))
        show(outcomes[-1])
        if not outcomes[-1].failures:
            tests += tests_of(directory, set(suites.split(",")))
    tests = [test for test in tests if args.only in test["name"]]
    tests.sort(key=lambda test: -test["priority"])
    # One more than the processors: many tests wait for a timer, a disk or another program.
    with concurrent.futures.ThreadPoolExecutor(args.jobs + 1) as pool:
        for done in concurrent.futures.as_completed([pool.submit(run_one, test) for test in tests]):
            show(done.result())
            outcomes.append(done.result())
    return outcomes


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("builds", nargs="+", metavar="DIR=SUITE,SUITE")
    parser.add_argument("--only", default="", metavar="TEXT", help="run only tests whose name contains it")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1))
    args = parser.parse_args()
    outcomes = run_all(args)
    show_skips(outcomes)
    show_failures(outcomes)
    n_passed = sum(outcome.n_passed for outcome in outcomes)
    n_failed = sum(len(outcome.failures) for outcome in outcomes)
    n_skipped = sum(len(outcome.skips) for outcome in outcomes)
    print(f"{n_passed} passed, {n_failed} failed" + (f", {n_skipped} skipped" if n_skipped else ""))
    return 1 if n_failed or not n_passed else 0


if __name__ == "__main__":
    sys.exit(main())
