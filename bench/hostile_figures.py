#!/usr/bin/env python3
"""Times small requests of one user while another user attacks all expensive routes at once.

    python3 bench/hostile_figures.py --build build [--seconds 15] [--only TEXT]

run.py includes it; alone it prints one JSON line per figure to stdout and the comparison with the targets to stderr.
The figure is a ratio within one run: the latency of small requests on a quiet server, and of the same requests while
all attacks of the tables below are running. The attackers run in another process, so that they do not delay the
measuring one. Memory is the peak resident memory of the server in that time.
"""
import argparse
import base64
import http.client
import json
import multiprocessing
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

import server_figures
from server_figures import process, show

N_QUIET = 400
ATTACK_SECONDS = 15
LIMIT_MB = 300
WANTED = 10  # times the quiet latency


# --- requests of the hostile user -------------------------------------------------------------

def many_messages():
    """12 MB in 390,000 messages."""
    return {"to": "anthropic", "mode": "gateway",
            "document": {"model": "m", "messages": [{"role": "user", "content": ""}] * 390_000}}


def many_blocks():
    """Text blocks of a few bytes each, which three formats join."""
    block = {"type": "text", "text": "word "}
    return {"to": "envelope", "document": {"model": "m", "max_tokens": 1, "messages": [
        {"role": "user", "content": [block] * 60_000}]}}


def many_findings():
    """Every message has several errors."""
    return {"as": "openai-chat", "document": {"model": "m", "messages": [
        {"role": "tool", "tool_call_id": f"nobody{n}", "content": ""} for n in range(30_000)]}}


def doubling_schema():
    """A tool with a schema in which each level refers twice to the next, and 5,000 calls of it."""
    levels = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(18)}
    schema = {"type": "object", "properties": {"a": {"$ref": "#/$defs/d0"}}, "$defs": levels | {"d18": {"type": "string"}}}
    calls = [{"role": "assistant", "content": None, "tool_calls": [
        {"id": f"c{n}", "type": "function", "function": {"name": "t", "arguments": '{"a":1}'}}]} for n in range(5_000)]
    return {"as": "openai-chat", "document": {"model": "m", "messages": calls, "tools": [
        {"type": "function", "function": {"name": "t", "parameters": schema}}]}}


def one_letter():
    return {"document": {"model": "gpt-4o", "messages": [{"role": "user", "content": "a" * 4_000_000}]}}


def growing_variable():
    """A variable of 60 KB that a prompt uses 6,000 times."""
    return {"variables": {"v": "x" * 60_000}, "document": {"id": "p", "messages": [
        {"id": "m", "role": "user", "blocks": [{"id": "b", "type": "text", "content": "{{v}}" * 6_000}]}]}}


def slow_pattern():
    return {"schema": {"type": "array", "items": {"pattern": "^(a|aa)+$"}},
            "document": ["a" * 40 + "b"] * 20_000}


def large_chat():
    return {"model": "demo/echo", "messages": [{"role": "user", "content": "word " * 600_000}]}


def large_import():
    return {"format": "openai-chat", "document": {"messages": [
        {"role": "user" if n % 2 else "assistant", "content": "w" * 1000} for n in range(3500)]}}


POSTS = {"/api/convert": [many_messages, many_blocks], "/api/lint": [many_findings, doubling_schema], "/api/tokens": [one_letter],
         "/api/trim": [lambda: one_letter() | {"max_tokens": 100}], "/api/render": [growing_variable],
         "/api/validate": [slow_pattern], "/v1/chat/completions": [large_chat], "/api/sessions/import": [large_import]}


# --- sending them -----------------------------------------------------------------------------

class Attack:
    """Data of all attackers: the ports, the hostile user's key and session, and the end time."""

    def __init__(self, port, key, session, silent_port, seconds):
        self.port, self.key, self.session, self.silent_port = port, key, session, silent_port
        self.end = time.monotonic() + seconds

    def goes_on(self):
        return time.monotonic() < self.end

    def head(self, method, path, n_bytes, with_key=True):
        key = f"Authorization: Bearer {self.key}\r\n" if with_key else ""
        return (f"{method} {path} HTTP/1.1\r\nHost: localhost:{self.port}\r\n{key}"
                f"Content-Type: application/json\r\nContent-Length: {n_bytes}\r\n\r\n").encode()

    def connect(self):
        return socket.create_connection(("127.0.0.1", self.port), timeout=self.end - time.monotonic() + 1)


def posting(attack, path, body):
    """Sends the same large request repeatedly, and reads the answers."""
    while attack.goes_on():
        with attack.connect() as connection:
            connection.sendall(attack.head("POST", path, len(body)) + body)
            while connection.recv(1 << 20):
                if not attack.goes_on():
                    return


def fetching(attack, _path, _body):
    """Requests a fetch from a host that accepts and never answers."""
    body = json.dumps({"url": f"http://127.0.0.1:{attack.silent_port}/"}).encode()
    posting(attack, "/api/blobs/fetch", body)


def trickling(attack, _path, _body):
    """Sends a large body very slowly, without a key."""
    with attack.connect() as connection:
        connection.sendall(attack.head("POST", "/api/login", 4 << 20, with_key=False) + b'{"code":"')
        while attack.goes_on():
            connection.sendall(b"x" * 2048)
            time.sleep(1)


def not_reading(attack, _path, _body):
    """Requests a large page many times on one connection and never reads it."""
    with attack.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(attack.head("GET", f"/api/sessions/{attack.session}/messages?limit=100", 0) * 20)
        while attack.goes_on():
            time.sleep(0.2)


def deaf_socket(attack, _path, _body):
    """Subscribes to a large session on a WebSocket and never reads."""
    key = base64.b64encode(os.urandom(16)).decode()
    with attack.connect() as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall((f"GET /api/ws HTTP/1.1\r\nHost: localhost:{attack.port}\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
                            f"Sec-WebSocket-Protocol: parley.v1\r\nAuthorization: Bearer {attack.key}\r\n\r\n").encode())
        for n in range(20):
            text = json.dumps({"id": n, "event": "session:subscribe", "data": {"session_id": attack.session}}).encode()
            mask = os.urandom(4)
            masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(text))
            connection.sendall(bytes([0x81, 0x80 | 126]) + len(text).to_bytes(2, "big") + mask + masked)
        while attack.goes_on():
            time.sleep(0.2)


def uploading(attack, _path, _body):
    """Uploads blobs of 8 MiB, each with different bytes."""
    while attack.goes_on():
        with attack.connect() as connection:
            connection.sendall(attack.head("POST", "/api/blobs", 8 << 20) + os.urandom(8 << 20))
            connection.recv(1 << 16)


SPECIAL = {fetching: 40, trickling: 60, not_reading: 30, deaf_socket: 30, uploading: 1}
THREADS_EACH = 2  # for every kind of POST


def attackers(attack, only):
    """Yields (function, path, body) of each attacking thread."""
    for path, makers in POSTS.items():
        if only in path:
            for maker in makers:
                body = json.dumps(maker()).encode()
                yield from [(posting, path, body)] * THREADS_EACH
    for what, count in SPECIAL.items():
        if only in what.__name__:
            yield from [(what, None, None)] * count


def attacking(port, key, session, silent_port, seconds, only):
    """The process of the hostile user."""
    attack = Attack(port, key, session, silent_port, seconds)

    def take_part(what, path, body):
        while attack.goes_on():
            try:
                what(attack, path, body)
            except OSError:
                time.sleep(0.05)  # refused or cut off: tries again

    threads = [threading.Thread(target=take_part, args=one, daemon=True) for one in attackers(attack, only)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(max(0, attack.end - time.monotonic()) + 5)


# --- the other user ---------------------------------------------------------------------------

class User:
    """Sends small requests over one kept connection, one after the other."""

    def __init__(self, port, key):
        self.port, self.connection = port, None
        self.headers = {"content-type": "application/json", "authorization": f"Bearer {key}"}
        self.session = json.loads(self.ask("POST", "/api/sessions", {"intent": "small"})[1])["id"]

    def ask(self, method, path, body=None):
        if not self.connection:
            self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        begun = time.perf_counter()
        self.connection.request(method, path, body and json.dumps(body), self.headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:200]}")
        return time.perf_counter() - begun, text

    def round(self):
        """Sends one request of each kind; returns their seconds."""
        return [self.ask("GET", "/api/me")[0], self.ask("GET", "/api/sessions?limit=5")[0],
                self.ask("GET", f"/api/sessions/{self.session}")[0],
                self.ask("PATCH", f"/api/sessions/{self.session}", {"intent": "still small"})[0]]


def percentiles(times):
    times = sorted(times)
    return {f"p{p}_ms": round(times[len(times) * p // 100] * 1000, 3) for p in (50, 99)}


def most_resident_mb(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return round(int(line.split()[1]) / 1024, 1)
    return 0


def large_session(server):
    """Creates a session of 4 MB in 40 turns; returns its id."""
    turns = [{"role": "user" if n % 2 == 0 else "assistant", "content": "w " * 50_000} for n in range(40)]
    made = server.ask("POST", "/api/sessions/import", {"format": "openai-chat", "document": {"messages": turns}})
    return made["id"]


def silent_host():
    """Opens a socket that accepts connections and never answers; returns it and its port."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    return listener, listener.getsockname()[1]


def hostile(build, seconds=ATTACK_SECONDS, only=""):
    """Yields the latency of small requests, quiet and under attack, and the peak memory."""
    listener, silent_port = silent_host()
    with listener, tempfile.TemporaryDirectory() as data, \
            process([build / "parley", "serve", "--port", "0", "--data", data, "--log-level", "error",
                     "--allow-fetch", "127.0.0.1"], stdout=subprocess.PIPE) as child:
        server = server_figures.Parley(child, [child.stdout.readline() for _ in range(4)])
        keys = {name: server.ask("POST", "/api/users", {"name": name})["key"]["plaintext"]
                for name in ("hostile", "small")}
        user = User(server.port, keys["small"])
        server.key = keys["hostile"]
        session = large_session(server)
        for _ in range(20):
            user.round()
        quiet = [time for _ in range(N_QUIET) for time in user.round()]
        context = multiprocessing.get_context("fork")
        attackers_process = context.Process(
            target=attacking, args=(server.port, keys["hostile"], session, silent_port, seconds, only))
        attackers_process.start()
        time.sleep(1)  # until all attacks have started
        loud, end = [], time.monotonic() + seconds - 2
        while time.monotonic() < end:
            loud += user.round()
        attackers_process.join()
        memory = most_resident_mb(child.pid)
    before, after = percentiles(quiet), percentiles(loud)
    yield {"name": "hostile.quiet", "impl": "parley", "ops": len(quiet)} | before
    yield {"name": "hostile.loud", "impl": "parley", "ops": len(loud)} | after | {
        f"{p}_ratio": round(after[f"{p}_ms"] / before[f"{p}_ms"], 2) for p in ("p50", "p99")} | {
        "most_resident_mb": memory}


def measure(build, only=""):
    if only in "hostile":
        yield from hostile(build)


def rows(lines):
    """Comparison with the targets, in the shape of server_figures.rows."""
    for line in lines:
        if line["name"] != "hostile.loud":
            continue
        for field, limit, what in (("p50_ratio", WANTED, "small requests under attack, p50 times quiet"),
                                   ("p99_ratio", WANTED, "small requests under attack, p99 times quiet"),
                                   ("most_resident_mb", LIMIT_MB, "most memory under attack, MB")):
            factor = limit / line[field] if line[field] else None
            yield {"what": what, "ours": line[field], "peer": "limit", "theirs": limit,
                   "factor": factor and round(factor, 2), "wanted": 1,
                   "verdict": "ok" if factor and factor >= 1 else "MISS"}


def main():
    options = argparse.ArgumentParser(description="Time small requests while another user attacks.")
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), metavar="DIR")
    options.add_argument("--seconds", type=int, default=ATTACK_SECONDS)
    options.add_argument("--only", default="", metavar="TEXT", help="attacks whose path or name contains it")
    asked = options.parse_args()
    lines = []
    for line in hostile(asked.build.resolve(), asked.seconds, asked.only):
        print(json.dumps(line, separators=(",", ":")), flush=True)
        lines.append(line)
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", file=sys.stderr)
    show(list(rows(lines)), sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
