#!/usr/bin/env python3
"""The figures of `parley serve`, each with its peer in the same run.

    python3 bench/server_figures.py --build build [--only TEXT]

run.py includes them; alone it prints one JSON line per figure to stdout and the comparison with the
targets to stderr. A figure is measured in several rounds, ours next to the peers', and each keeps
its best round. Lines have the elapsed time and the processor time of the server: the target is for
elapsed time, but on a busy machine only processor time can be compared.
"""
import argparse
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

BENCH = pathlib.Path(__file__).resolve().parent
BUN = BENCH / "node_modules" / "@oven"
N_READERS, N_IDLE = 1000, 10_000
N_TABS, N_TAB_TURNS = 500, 20
UNLOADED_S = 130       # a quiet session is unloaded after a minute; free memory is returned once a minute
N_FRAMES = 500         # of one round: few enough that no queue of a reader overflows
N_DELTAS = 20_000
N_KEPT, N_SEARCHES = 10_000, 1000
ROUNDS = 3
VERSION_ROUTE = "/api/version"

NGINX = """daemon off; worker_processes 1; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000000; default_type application/json;
  open_file_cache max=16; sendfile off; tcp_nodelay on;
  client_body_temp_path {dir}; proxy_temp_path {dir}; fastcgi_temp_path {dir};
  uwsgi_temp_path {dir}; scgi_temp_path {dir};
  server {{ listen 127.0.0.1:{port}; root {dir}/www; }}
}}
"""


class Missing(Exception):
    """An unavailable peer; the text is the reason."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_seconds(pid):
    """Processor time of all threads of a process, to the nanosecond."""
    tasks = pathlib.Path(f"/proc/{pid}/task")
    return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks.iterdir()) / 1e9


def resident_bytes(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024
    return 0


@contextlib.contextmanager
def process(command, **more):
    child = subprocess.Popen([str(word) for word in command], text=True, **more)
    try:
        yield child
    finally:
        child.terminate()
        try:
            child.wait(15)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


class Parley:
    """Our server with its own data directory, one shard, and a key."""

    def __init__(self, child, first):
        self.pid = child.pid
        self.port = int(first[0].rsplit(":", 1)[1].split("/")[0])
        code = first[2].split("#login=")[1].strip()
        self.key = self.ask("POST", "/api/login", {"code": code})["plaintext"]

    def ask(self, method, path, body=None):
        headers = {"content-type": "application/json"}
        if hasattr(self, "key"):
            headers["authorization"] = f"Bearer {self.key}"
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text)


@contextlib.contextmanager
def parley(build):
    with tempfile.TemporaryDirectory() as data, \
            process([build / "parley", "serve", "--port", "0", "--data", data, "--shards", "1",
                     "--log-level", "error"], stdout=subprocess.PIPE) as child:
        yield Parley(child, [child.stdout.readline() for _ in range(4)])


@contextlib.contextmanager
def nginx():
    if not shutil.which("nginx"):
        raise Missing("nginx is not installed")
    with tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o755)
        port = free_port()
        config = pathlib.Path(where) / "nginx.conf"
        config.write_text(NGINX.format(dir=where, port=port))
        (pathlib.Path(where) / "www" / "api").mkdir(parents=True)
        yield port, config, pathlib.Path(where) / "www" / VERSION_ROUTE[1:]


def bun_program():
    for path in sorted(BUN.glob("bun-*/bin/bun")) if BUN.is_dir() else []:
        if subprocess.run([str(path), "--version"], capture_output=True).returncode == 0:
            return path
    raise Missing("npm bun has no program for this machine")


@contextlib.contextmanager
def fanout_peer(impl):
    if not (BENCH / "node_modules" / "ws").is_dir():
        raise Missing("npm ci was not run in bench/")
    command = ["node", "fanout_ws.mjs"] if impl == "ws" else [bun_program(), "fanout_bun.mjs"]
    with process([command[0], BENCH / "peers" / command[1]], stdout=subprocess.PIPE) as child:
        child.port = int(child.stdout.readline())
        yield child


class Readers:
    """bench/live_client.c: many sockets that are all ready."""

    def __init__(self, child):
        self.child = child
        if child.stdout.readline() != "ready\n":
            raise RuntimeError("live-client: the sockets did not get ready")

    def round(self, line):
        self.child.stdin.write(line + "\n")
        self.child.stdin.flush()
        return json.loads(self.child.stdout.readline())


@contextlib.contextmanager
def readers(build, port, path, count, ready, end, *hello_and_key):
    with process([build / "bench" / "live-client", port, path, count, ready, end, *hello_and_key],
                 stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
        yield Readers(child)


def subscribers(build, server, session, count):
    hello = json.dumps({"id": 1, "event": "session:subscribe", "data": {"session_id": session}})
    return readers(build, server.port, "/api/ws", count, '{"ack":1', '{"event":"chat:end"', hello,
                   server.key)


# --- fan-out ----------------------------------------------------------------------------------

def play(server, session, group, script):
    """Plays one turn of the demo model to all subscribers; returns the result of the round."""
    message = {"id": 2, "event": "chat:send",
               "data": {"session_id": session, "message": f"#!demo\n{script}"}}
    cpu = cpu_seconds(server.pid)
    result = group.round(json.dumps(message))
    return result | {"server_cpu_s": cpu_seconds(server.pid) - cpu}


def deliveries(name, impl, result, **more):
    """The line of a figure: messages per second that reached a reader, their size and their cost."""
    frames = result["frames"]
    return {"name": name, "impl": impl, "per_second": round(frames / result["seconds"]),
            "cpu_ns_per_op": round(result["server_cpu_s"] * 1e9 / frames),
            "bytes_per_frame": round(result["bytes"] / frames), "ops": frames} | more


def best_of(lines):
    return max(lines, key=lambda line: line["per_second"])


def fanout(build):
    """The figures of fan-out. Ours: a turn of one session with N_FRAMES patches. Each patch is a separate
    block and so a separate frame at any speed. The peers publish as many messages of the average size
    of our frames. Then a turn of N_DELTAS words, which are gathered to frames of 512 bytes: counts the
    frames and the words that reached a reader."""
    with parley(build) as server:
        session = server.ask("POST", "/api/sessions", {})["id"]
        with subscribers(build, server, session, N_READERS) as group:
            turns = "\n".join(["repeat 1 ab", "think cd"] * (N_FRAMES // 2))
            ours = best_of([deliveries("live.fanout", "parley", play(server, session, group, turns))
                            for _ in range(ROUNDS)])
            words = [play(server, session, group, f"repeat {N_DELTAS} word ") for _ in range(ROUNDS)]
    yield ours
    best = min(words, key=lambda result: result["seconds"])
    yield deliveries("live.fanout.gathered", "parley", best)
    n_words = N_DELTAS * N_READERS
    yield {"name": "live.fanout.deltas", "impl": "parley", "ops": n_words,
           "per_second": round(n_words / best["seconds"]),
           "cpu_ns_per_op": round(best["server_cpu_s"] * 1e9 / n_words, 2)}
    for impl in ("bun", "ws"):
        yield peer_fanout(build, impl, ours["bytes_per_frame"])


def peer_fanout(build, impl, size):
    line = {"name": "live.fanout", "impl": impl}
    try:
        with fanout_peer(impl) as server, \
                readers(build, server.port, "/", N_READERS, "ready", "end") as group:
            results = []
            for _ in range(ROUNDS):
                cpu = cpu_seconds(server.pid)
                result = group.round(f"go {N_FRAMES} {size}")
                results.append(result | {"server_cpu_s": cpu_seconds(server.pid) - cpu})
        return best_of([deliveries("live.fanout", impl, result) for result in results])
    except Missing as reason:
        return line | {"skipped": str(reason)}


# --- idle sockets -----------------------------------------------------------------------------

def settled_bytes(pid):
    time.sleep(1)
    return resident_bytes(pid)


def idle_line(impl, before, after, count):
    return {"name": "live.idle", "impl": impl, "sockets": count,
            "bytes_each": round((after - before) / count)}


def idle(build):
    """The memory of a socket that is subscribed to a quiet session."""
    with parley(build) as server:
        session = server.ask("POST", "/api/sessions", {})["id"]
        before = settled_bytes(server.pid)
        with subscribers(build, server, session, N_IDLE):
            yield idle_line("parley", before, settled_bytes(server.pid), N_IDLE)
    for impl in ("bun", "ws"):
        try:
            with fanout_peer(impl) as server:
                before = settled_bytes(server.pid)
                with readers(build, server.port, "/", N_IDLE, "ready", "end"):
                    yield idle_line(impl, before, settled_bytes(server.pid), N_IDLE)
        except Missing as reason:
            yield {"name": "live.idle", "impl": impl, "skipped": str(reason)}


# --- tabs -------------------------------------------------------------------------------------

def open_tab(server):
    """Creates a session and opens its event stream; returns both."""
    session = server.ask("POST", "/api/sessions", {})["id"]
    tab = socket.create_connection(("127.0.0.1", server.port))
    tab.sendall(f"GET /api/sessions/{session}/events HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                f"Authorization: Bearer {server.key}\r\n\r\n".encode())
    return session, tab


def drain(tab):
    tab.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        while tab.recv(1 << 16):
            pass
    tab.setblocking(True)


def converse(server, tabs):
    """Asks ten questions in each tab, which makes twenty turns."""
    for _ in range(N_TAB_TURNS // 2):
        for session, _ in tabs:
            server.ask("POST", f"/api/sessions/{session}/chat", {"message": "word " * 100})
        for session, tab in tabs:
            while server.ask("GET", f"/api/sessions/{session}")["status"] == "running":
                time.sleep(0.005)
            drain(tab)


def tab_round(server):
    """Returns the memory while all tabs are open, and after they closed."""
    opened = [open_tab(server) for _ in range(N_TABS)]
    converse(server, opened)
    during = settled_bytes(server.pid)
    for _, tab in opened:
        tab.close()
    time.sleep(UNLOADED_S)
    return during, settled_bytes(server.pid)


def tabs(build):
    """The memory of an open tab after twenty turns, and the memory that remains after all closed. The first
    round fills the page cache of the store, which does not belong to a tab."""
    with parley(build) as server:
        _, before = tab_round(server)
        during, after = tab_round(server)
        yield {"name": "live.tabs", "impl": "parley", "tabs": N_TABS,
               "kb_each": round((during - before) / N_TABS / 1024, 1),
               "left": round(after / before, 3)}


# --- start ------------------------------------------------------------------------------------

def started(build, port, command):
    done = subprocess.run([str(word) for word in [build / "bench" / "start-client", port,
                                                  VERSION_ROUTE, *command]],
                          capture_output=True, text=True, timeout=30)
    if done.returncode:
        raise RuntimeError(f"{command[0]} did not answer: {done.stderr}")
    return json.loads(done.stdout)


def start(build):
    """Time from exec to the first answer with an existing store; memory half a second later."""
    with tempfile.TemporaryDirectory() as data:
        port = free_port()
        command = [build / "parley", "serve", "--port", port, "--data", data]
        first = started(build, port, command)
        lines = [started(build, port, command) for _ in range(3 * ROUNDS)]
    yield {"name": "start.first", "impl": "parley", "ms": first["ms"]}
    yield start_line("parley", lines)
    try:
        with nginx() as (port, config, file):
            file.write_text("{}")
            yield start_line("nginx", [started(build, port, ["nginx", "-c", config])
                                       for _ in range(3 * ROUNDS)])
    except Missing as reason:
        yield {"name": "start", "impl": "nginx", "skipped": str(reason)}


def start_after_crash(build):
    """Time from exec to the first answer with 10,000 sessions that were running at a crash."""
    with tempfile.TemporaryDirectory() as data:
        with process([build / "parley", "serve", "--port", "0", "--data", data, "--log-level", "error"],
                     stdout=subprocess.PIPE) as child:
            server = Parley(child, [child.stdout.readline() for _ in range(4)])
            session = server.ask("POST", "/api/sessions", {})["id"]
            server.ask("POST", f"/api/sessions/{session}/chat", {"message": "#!demo\nsay x\nwait 60000"})
            while len(server.ask("GET", f"/api/sessions/{session}/messages")) < 2:
                time.sleep(0.01)
            child.kill()
            child.wait()
        subprocess.run([sys.executable, pathlib.Path(__file__).resolve().parent.parent / "tests/e2e/fill_store.py", f"{data}/parley.db", "sessions", "10000"],
                       check=True)
        port = free_port()
        line = started(build, port, [build / "parley", "serve", "--port", port, "--data", data])
    yield {"name": "start.crashed", "impl": "parley", "ms": line["ms"]}


def start_line(impl, lines):
    return {"name": "start", "impl": impl, "ms": min(line["ms"] for line in lines),
            "median_ms": sorted(line["ms"] for line in lines)[len(lines) // 2],
            "idle_mb": round(min(line["resident_kb"] for line in lines) / 1024, 2)}


# --- requests ---------------------------------------------------------------------------------

def wrk(port, pid, seconds=2):
    cpu = cpu_seconds(pid)
    done = subprocess.run(["wrk", "-t1", "-c64", f"-d{seconds}", f"http://127.0.0.1:{port}{VERSION_ROUTE}"],
                          capture_output=True, text=True, check=True).stdout
    if "Non-2xx" in done or "Socket errors" in done:
        raise RuntimeError(done)
    cpu = cpu_seconds(pid) - cpu
    n = int(next(line for line in done.splitlines() if "requests in" in line).split()[0])
    rate = float(next(line for line in done.splitlines() if "Requests/sec" in line).split()[1])
    return {"per_second": round(rate), "cpu_ns_per_op": round(cpu * 1e9 / n), "ops": n}


def requests(build):
    """GET of a small JSON route over 64 kept connections; nginx serves the same bytes from a file. We use one
    shard, nginx one worker."""
    if not shutil.which("wrk"):
        yield {"name": "http.version", "impl": "parley", "skipped": "wrk is not installed"}
        return
    with contextlib.ExitStack() as stack:
        ours = stack.enter_context(parley(build))
        body = json.dumps(ours.ask("GET", VERSION_ROUTE), separators=(",", ":"))
        servers = {"parley": (ours.port, ours.pid)}
        try:
            port, config, file = stack.enter_context(nginx())
            file.write_text(body)
            master = stack.enter_context(process(["nginx", "-c", config]))
            servers["nginx"] = (port, worker_of(master.pid))
        except Missing as reason:
            yield {"name": "http.version", "impl": "nginx", "skipped": str(reason)}
        lines = {impl: [] for impl in servers}
        for _ in range(ROUNDS):
            for impl, (port, pid) in servers.items():
                lines[impl].append(wrk(port, pid))
    for impl, results in lines.items():
        yield {"name": "http.version", "impl": impl} | best_of(results)


def worker_of(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children")
    for _ in range(200):
        if children.read_text().split():
            return int(children.read_text().split()[0])
        time.sleep(0.01)
    raise RuntimeError("nginx has no worker")


# --- durable appends --------------------------------------------------------------------------

def appends(build):
    """Runs bench/store_bench.c on the disk of the build directory; each figure keeps its best round."""
    best = {}
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(dir=build) as where:
            done = subprocess.run([str(build / "bench" / "store-bench"), where, "1"],
                                  capture_output=True, text=True, check=True)
        for line in map(json.loads, done.stdout.splitlines()):
            key = line["name"], line["impl"]
            rank = line.get("per_second") or -line["p99_ms"]
            if key not in best or rank > best[key][0]:
                best[key] = rank, line
    for _, line in best.values():
        yield line


# --- search -----------------------------------------------------------------------------------

def made_up_words(draw):
    """Words of two languages and their frequencies: the n-th most common has 1/n of the frequency of the first."""
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    english = ["".join(draw.choices(syllables, k=draw.randrange(2, 5))) for _ in range(4000)]
    chinese = [chr(draw.randrange(0x4E00, 0x5200)) + chr(draw.randrange(0x4E00, 0x5200)) for _ in range(1000)]
    return [(words, [1 / (n + 1) for n in range(len(words))]) for words in (english, chinese)]


def made_up(draw, languages):
    """A sentence in both languages, and a query of four of its words."""
    (english, chinese) = (draw.choices(words, weights, k=12) for words, weights in languages)
    asked = draw.sample(english, 2) + draw.sample(chinese, 2)
    return " ".join(english) + "，" + "".join(chinese), " ".join(asked)


def searched(build, name, fill, ask):
    """Stores N_KEPT items, then sends N_SEARCHES searches over one kept connection, one after the other."""
    draw = random.Random(7)
    languages = made_up_words(draw)
    kept = [made_up(draw, languages) for _ in range(N_KEPT)]
    with parley(build) as server:
        fill(server, [sentence for sentence, _ in kept])
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        headers = {"content-type": "application/json", "authorization": f"Bearer {server.key}"}

        def search(question):
            method, path, body = ask(question)
            cpu, begun = cpu_seconds(server.pid), time.perf_counter()
            connection.request(method, path, body and json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
            seconds = time.perf_counter() - begun
            found = json.loads(text)
            if answer.status != 200 or not found["items"]:
                raise RuntimeError(f"{path}: {answer.status}, nothing found for {question}")
            return seconds * 1000, (cpu_seconds(server.pid) - cpu) * 1000

        questions = [question for _, question in draw.sample(kept, N_SEARCHES)]
        for question in questions[:50]:
            search(question)
        before = settled_bytes(server.pid)
        clock, cpu = (sorted(times) for times in zip(*map(search, questions)))
        after = settled_bytes(server.pid)
    return {"name": name, "impl": "parley", "kept": N_KEPT, "ops": N_SEARCHES,
            "p50_ms": round(clock[N_SEARCHES // 2], 2), "p99_ms": round(clock[N_SEARCHES * 99 // 100], 2),
            "cpu_p99_ms": round(cpu[N_SEARCHES * 99 // 100], 2),
            "cpu_ns_per_op": round(sum(cpu) * 1e6 / N_SEARCHES),
            "resident_mb_before": round(before / 2**20, 2), "resident_mb_after": round(after / 2**20, 2)}


def fill_memories(server, sentences):
    for at in range(0, len(sentences), 100):
        create = [{"content": sentence} for sentence in sentences[at:at + 100]]
        server.ask("POST", "/api/memories/batch", {"create": create})


def fill_prompts(server, sentences):
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda sentence: server.ask(
            "POST", "/api/prompts", {"name": sentence[:40], "content": sentence}), sentences))


def memory_search(build):
    """Searches memories by words, ranked."""
    yield searched(build, "memory.search", fill_memories,
                   lambda question: ("POST", "/api/memories/search", {"query": question}))


def prompt_search(build):
    """Searches prompts by words, ranked."""
    yield searched(build, "prompt.search", fill_prompts,
                   lambda question: ("GET", f"/api/prompts?q={urllib.parse.quote(question)}", None))


FIGURES = {"durable-append": appends, "live.fanout": fanout, "live.idle": idle, "live.tabs": tabs,
           "start": start,
           "start.crashed": start_after_crash,
           "http.version": requests, "memory.search": memory_search, "prompt.search": prompt_search}


def measure(build, only=""):
    """Yields the lines of the figures with `only` in their name."""
    for name, figure in FIGURES.items():
        if only in name:
            yield from figure(build)


# --- targets ----------------------------------------------------------------------------------

def rows(lines):
    """Yields the comparison with the targets: what, ours, peer, theirs, factor, wanted, verdict."""
    by_key = {(line["name"], line["impl"]): line for line in lines}

    def value(name, impl, field):
        return by_key.get((name, impl), {}).get(field)

    def row(what, name, field, peer, wanted, fixed=None, is_less_better=False):
        if (name, "parley") not in by_key:
            return
        ours = value(name, "parley", field)
        theirs = fixed if fixed is not None else value(name, peer, field)
        factor = None
        if ours and theirs:
            factor = theirs / ours if is_less_better else ours / theirs
        verdict = ("not measured" if factor is None else "" if wanted is None else
                   "ok" if factor >= wanted else "MISS")
        yield {"what": what, "ours": ours, "peer": peer, "theirs": theirs,
               "factor": factor and round(factor, 2), "wanted": wanted, "verdict": verdict}

    yield from row("64 sessions append durably, /s", "durable-append", "per_second", "sqlite-plain", 5)
    yield from row("64 sessions append durably, /s", "durable-append", "per_second", "fsync", None)
    yield from row("acknowledgement, p99 ms", "durable-append-wait", "p99_ms", "25 ms", 1, 25, True)
    yield from row("fan-out to 1,000, messages/s", "live.fanout", "per_second", "bun", 1)
    yield from row("fan-out to 1,000, messages/s", "live.fanout", "per_second", "ws", 5)
    yield from row("fan-out to 1,000, messages/s", "live.fanout", "per_second", "1.4 million", 1, 1.4e6)
    yield from row("fan-out, processor ns each", "live.fanout", "cpu_ns_per_op", "bun", None, None, True)
    yield from row("10,000 idle sockets, bytes each", "live.idle", "bytes_each", "2 KB", 1, 2048, True)
    yield from row("10,000 idle sockets, bytes each", "live.idle", "bytes_each", "bun", None, None, True)
    yield from row("10,000 idle sockets, bytes each", "live.idle", "bytes_each", "ws", None, None, True)
    yield from row("500 tabs of 20 turns, KB each", "live.tabs", "kb_each", "16 KB", 1, 16, True)
    yield from row("memory when they left, of before", "live.tabs", "left", "1.2", 1, 1.2, True)
    yield from row("start to first answer, ms", "start", "ms", "10 ms", 1, 10, True)
    yield from row("start to first answer, ms", "start", "ms", "nginx", None, None, True)
    yield from row("start after a crash, 10,000 running, ms", "start.crashed", "ms", "2 s", 1, 2000, True)
    yield from row("idle memory, MB", "start", "idle_mb", "14 MB", 1, 14, True)
    yield from row("idle memory, MB", "start", "idle_mb", "nginx", None, None, True)
    yield from row("small JSON route, requests/s", "http.version", "per_second", "nginx", 0.7)
    yield from row("small JSON route, processor ns", "http.version", "cpu_ns_per_op", "nginx", None, None,
                   True)
    yield from row("memory search p99, ms", "memory.search", "p99_ms", "20 ms", 1, 20, True)
    yield from row("prompt search p99, ms", "prompt.search", "p99_ms", "20 ms", 1, 20, True)


def show(table, file):
    """Prints the rows as lines of text, then the missed targets."""
    def number(value):
        return "-" if value is None else f"{value:,.0f}" if value >= 100 else f"{value:,.2f}"
    for row in table:
        wanted = "" if row["wanted"] is None else f">= {row['wanted']}"
        print(f"{row['what']:36}{number(row['ours']):>14}{number(row['theirs']):>14}  {row['peer']:14}"
              f"{row['factor'] or '-':>8}{wanted:>8}  {row['verdict']}", file=file)
    for verdict, title in (("MISS", "missed"), ("not measured", "not measured")):
        names = [f"{row['what']} ({row['peer']})" for row in table
                 if row["verdict"] == verdict and row["wanted"] is not None]
        if names:
            print(f"{len(names)} {title}: {'; '.join(names)}", file=file)


def main():
    options = argparse.ArgumentParser(description="Measure the server beside its peers.")
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), metavar="DIR")
    options.add_argument("--only", default="", metavar="TEXT", help="figures whose name contains it")
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
