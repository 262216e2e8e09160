#!/usr/bin/env python3
"""The cost of extensions: a host call and its answer, ten hooks around a call, a stream with credits, and the
latency of other sessions while extensions flood the server.

    python3 bench/ext_figures.py --build build [--only TEXT]

run.py includes them; alone it prints one JSON line per figure to stdout and the comparison with the targets to stderr.
The extension is bench/ext_child.c, which measures from inside. The bare pipe is the same program. Server, extension
and pipe are pinned to one processor, with real-time priority if that is allowed ("real_time" tells whether): otherwise
a call would also measure its wait for other programs.
"""
import argparse
import contextlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from server_figures import Parley, process, resident_bytes, show

N_CALLS, N_ECHOES, N_HOOKS = 150, 5000, 20
STREAM_MB = 128
CAPABILITIES = [{"capability": "read"}, {"capability": "tool"}, {"capability": "session"}, {"capability": "log"},
                {"capability": "env", "scope": {"env": ["BENCH"]}}]


def first_that_runs(command, ways):
    """Prefixes the command with the first of `ways` that can start a program. Returns it and the flag of that way."""
    for words, is_real in ways:
        try:
            if subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0:
                return [*words, *command], is_real
        except FileNotFoundError:
            continue
    return list(command), False


def pinned(command):
    """The command pinned to the first processor we may use, and whether it has real-time priority."""
    cpu = str(min(os.sched_getaffinity(0)))
    return first_that_runs(command, ((["chrt", "-f", "10", "taskset", "-c", cpu], True), (["taskset", "-c", cpu], False)))


def urgent(command):
    """The command with real-time priority, which its children do not inherit: extensions compete with everything else."""
    return first_that_runs(command, ((["chrt", "-R", "-f", "10"], True),))


def as_it_is(command):
    return list(command), False


class Host:
    def __init__(self, server, build, directory):
        self.server, self.build, self.directory = server, build, directory

    def add(self, name, *args):
        """Adds the extension under this name."""
        package = self.directory / name
        package.mkdir()
        program = package / "ext-child"
        program.write_bytes((self.build / "bench/ext-child").read_bytes())
        program.chmod(0o755)
        manifest = {"schema": "pi.ext.manifest.v1", "extension_id": name, "name": name, "version": "1.0.0",
                    "api_version": "1.0", "runtime": "process", "entrypoint": "ext-child", "args": [name, *args],
                    "capability_manifest": {"schema": "pi.ext.cap.v1", "capabilities": CAPABILITIES}}
        (package / "extension.json").write_text(json.dumps(manifest))
        done = subprocess.run([self.build / "parley", "ext", "add", package, "--yes", "--profile", "permissive",
                               "--data", self.directory / "data"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr)

    def session(self):
        return self.server.ask("POST", "/api/sessions", {"model": "demo/agent"})["id"]

    def call(self, name, do, n=0):
        """Calls the tool; returns its output as a number."""
        return float(self.say(name, do, n))

    def say(self, name, do, n=0, limit_s=180):
        """Calls the tool in a new session; returns its output."""
        session = self.session()
        message = f"#!demo\ncall measure_{name} {json.dumps({'do': do, 'n': n}, separators=(',', ':'))}\n---\nsay done"
        self.server.ask("POST", f"/api/sessions/{session}/chat", {"message": message})
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            if self.server.ask("GET", f"/api/sessions/{session}")["status"] in ("completed", "failed", "interrupted"):
                break
            time.sleep(0.01)
        turns = self.server.ask("GET", f"/api/sessions/{session}/messages")
        results = [call.get("result") for turn in turns for call in turn.get("tool_calls") or []]
        if len(results) != 1 or not isinstance(results[0], str):
            raise RuntimeError(f"measure_{name} {do}: {json.dumps(results)[:400]}")
        return results[0]


@contextlib.contextmanager
def host(build, way=as_it_is):
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        directory.chmod(0o755)
        config = directory / "parley.yaml"
        config.write_text("ext_env:\n  - BENCH=value\n")
        (directory / "workspaces").mkdir()
        command = [build / "parley", "serve", "--port", "0", "--data", directory / "data", "--shards", "1", "--config", config,
                   "--workspace", directory / "workspaces", "--log-level", "error"]
        words, is_real = way(command)
        with process(words, stdout=subprocess.PIPE) as child:
            yield Host(Parley(child, [child.stdout.readline() for _ in range(4)]), build, directory), is_real


def round_trip(build):
    words, is_real = pinned([build / "bench/ext-child", "echo", str(N_ECHOES)])
    with host(build, pinned) as (one, _):
        one.add("trip")
        ours, bare = [], []
        for i in range(3):
            if i:
                time.sleep(4)  # until its quota of calls is full again
            bare.append(float(subprocess.run(words, capture_output=True, text=True, check=True).stdout))
            ours.append(one.call("trip", "calls", N_CALLS))
    yield {"name": "ext.round_trip", "impl": "parley", "p50_us": min(ours), "bare_p50_us": min(bare),
           "ratio": round(min(ours) / min(bare), 2),
           "real_time": is_real}


def hooks(build):
    """The time from the first of ten extensions to the last, by their own clocks: nine hops of a deciding chain."""
    with host(build, pinned) as (one, is_real):
        one.add("target")
        one.say("target", "nothing")
        for i in range(10):
            one.add(f"hook{i}", "hooks")
            one.say(f"hook{i}", "nothing")  # it registers
        for _ in range(N_HOOKS):
            one.say("target", "nothing")
        # The calls of "seen" run the hooks, too: one at the first extension, two at the last.
        first, last = (list(map(float, one.say(name, "seen", skip).split()))
                       for name, skip in (("hook0", 1), ("hook9", 2)))
    hops = sorted((b - a) / 9 for a, b in zip(first, last))
    if len(hops) < N_HOOKS or hops[0] <= 0:
        raise RuntimeError(f"the hooks were not seen in order: {hops}")
    yield {"name": "ext.hooks10", "impl": "parley", "hop_p50_us": round(hops[len(hops) // 2], 1),
           "ten_p50_us": round(10 * hops[len(hops) // 2], 1), "real_time": is_real}


def stream(build):
    with host(build) as (one, _):
        one.add("flow")
        session = one.session()
        home = one.directory / "workspaces" / one.server.ask("GET", f"/api/sessions/{session}")["user_id"]
        home.mkdir(exist_ok=True)
        (home / "big.txt").write_bytes(b"0123456789abcdef" * (STREAM_MB << 16))
        one.call("flow", "calls", 1)
        before, most, over = resident_bytes(one.server.pid), [0], threading.Event()

        def watch():
            while not over.wait(0.02):
                most[0] = max(most[0], resident_bytes(one.server.pid))

        watcher = threading.Thread(target=watch)
        watcher.start()
        try:
            rates = [one.call("flow", "stream") for _ in range(3)]
        finally:
            over.set()
            watcher.join()
    yield {"name": "ext.stream", "impl": "parley", "mb_per_s": max(rates), "file_mb": STREAM_MB,
           "host_grew_mb": round((most[0] - before) / 1e6, 1)}


def small_requests(one, seconds):
    """Sends small requests in another session, one after another; returns p50 and p99 in milliseconds."""
    times, end = [], time.monotonic() + seconds
    session = one.session()
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(10))
    while time.monotonic() < end:
        begin = time.perf_counter()
        one.server.ask("GET", f"/api/sessions/{session}")
        times.append((time.perf_counter() - begin) * 1e3)
        time.sleep(0.002)
    with contextlib.suppress(OSError):
        os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
    times.sort()
    return times[len(times) // 2], times[len(times) * 99 // 100]


def flood(build):
    with host(build, urgent) as (one, is_real):
        for i in range(3):
            one.add(f"flood{i}")
        small_requests(one, 1)
        quiet = small_requests(one, 4)
        for i in range(3):
            session = one.session()
            one.server.ask("POST", f"/api/sessions/{session}/chat",
                           {"message": f"#!demo\ncall measure_flood{i} {json.dumps({'do': 'flood'}, separators=(',', ':'))}\n---\nsay done"})
        time.sleep(1)
        loud = small_requests(one, 6)
        resident = resident_bytes(one.server.pid)
    yield {"name": "ext.flood", "impl": "parley", "quiet_p50_ms": round(quiet[0], 3), "loud_p50_ms": round(loud[0], 3),
           "quiet_p99_ms": round(quiet[1], 3), "loud_p99_ms": round(loud[1], 3),
           "p50_ratio": round(loud[0] / quiet[0], 2), "p99_ratio": round(loud[1] / quiet[1], 2),
           "resident_mb": round(resident / 1e6, 1), "real_time": is_real}


FIGURES = {"ext.round_trip": round_trip, "ext.hooks10": hooks, "ext.stream": stream, "ext.flood": flood}
TARGETS = [("ext.round_trip", "host call and back over a bare pipe", "ratio", 1.5, False),
           ("ext.stream", "stream with credits, MB/s", "mb_per_s", 100, True),
           ("ext.flood", "another session while extensions flood, p50 ratio", "p50_ratio", 10, False)]


def measure(build, only=""):
    for name, figure in FIGURES.items():
        if only not in name:
            continue
        try:
            yield from figure(build)
        except (RuntimeError, OSError, subprocess.SubprocessError) as problem:
            yield {"name": name, "impl": "parley", "problem": str(problem)[:400]}


def rows(lines):
    """Comparison with the targets, in the shape of server_figures.rows."""
    for name, what, member, limit, is_least in TARGETS:
        for line in lines:
            if line["name"] != name:
                continue
            ours = line.get(member)
            factor = (ours / limit if is_least else limit / ours) if ours else None
            yield {"what": what, "ours": ours, "peer": "limit", "theirs": limit, "factor": factor and round(factor, 2),
                   "wanted": 1, "verdict": "not measured" if not ours else "ok" if factor >= 1 else "MISS"}


def main():
    options = argparse.ArgumentParser(description="Measure what extensions cost.")
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), metavar="DIR")
    options.add_argument("--only", default="", metavar="TEXT")
    asked = options.parse_args()
    lines = []
    for line in measure(asked.build.resolve(), asked.only):
        print(json.dumps(line, separators=(",", ":")), flush=True)
        lines.append(line)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", file=sys.stderr)
    show(list(rows(lines)), sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
