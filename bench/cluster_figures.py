#!/usr/bin/env python3
"""The cost and the speed of several nodes on one PostgreSQL, each figure with its peer in the same run.

    python3 bench/cluster_figures.py --build build [--only TEXT] [--kills 50] [--turns 3000] [--seconds 10] [--rounds 5]

It starts its own PostgreSQL and NATS (tests/contract/with_postgres, with_nats) and three nodes, all on
this machine. One JSON line per figure goes to stdout, the comparison with the targets to stderr.
Processor time is measured for all threads of the nodes, all processes of the database, and NATS: it can
be compared on a busy machine, elapsed time cannot. Each line has the load of the machine. If a figure is
a difference (the cost of forwarding), both sides take turns, and it is the median of the rounds.
"""
import argparse
import base64
import contextlib
import hashlib
import http.client
import itertools
import json
import os
import pathlib
import selectors
import shutil
import signal
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time
import uuid

sys.dont_write_bytecode = True
from server_figures import cpu_seconds, free_port, process, show, worker_of  # noqa: E402

BENCH = pathlib.Path(__file__).resolve().parent
CONTRACT = BENCH.parent / "tests" / "contract"
N_NODES = 3
N_SESSIONS = 60            # turns and chats are spread over them
N_STREAMS = 60
N_SOCKETS = 1000           # on each node
N_TEXTS = 300              # frames of the turn that all sockets read
N_FRAMES = 400             # frames for the delay to another node
N_REVOKED = 20
WORDS_PER_S = 50           # of demo/slow
SAFETY_S = 60


class Missing(Exception):
    """A figure or peer that is unavailable here; the text is the reason."""


# --- the machines ------------------------------------------------------------------------------

def postgres_seconds():
    """Processor time of the database: its running processes, and those that have ended."""
    directory = os.environ["PARLEY_TEST_POSTGRES_DIR"]
    postmaster = int(pathlib.Path(directory, "data", "postmaster.pid").read_text().split()[0])
    total = cpu_seconds(postmaster)
    fields = pathlib.Path(f"/proc/{postmaster}/stat").read_text().rpartition(")")[2].split()
    total += (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    for child in pathlib.Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split():
        with contextlib.suppress(OSError):
            total += cpu_seconds(int(child))
    return total


def nats_pid():
    return int(pathlib.Path(os.environ["PARLEY_TEST_NATS_DIR"], "plain.pid").read_text())


def sql(url, text):
    return subprocess.run(["psql", "-X", "-q", "-A", "-t", url.replace("postgres:", "postgresql:", 1), "-c", text],
                          check=True, capture_output=True, text=True).stdout.strip()


class Node:
    """A node, with kept connections to it."""

    def __init__(self, child, data, name):
        self.child, self.data, self.name, self.pid = child, data, name, child.pid
        first = child.stdout.readline()
        if "ready at" not in first:
            raise RuntimeError(f"node {name} does not start: {first}")
        self.port = int(first.rsplit(":", 1)[1].split("/")[0])
        self.connections = threading.local()

    def ask(self, method, path, body=None, key=None, is_any=False, port=None):
        """Sends a request; returns the JSON of the answer. With is_any: accepts any status, and returns it and the body."""
        port = port or self.port
        connection = getattr(self.connections, "of", {}).get(port)
        if connection is None:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=SAFETY_S)
            self.connections.of = getattr(self.connections, "of", {}) | {port: connection}
        headers = {"content-type": "application/json", "authorization": f"Bearer {key or self.key}"}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            if is_any:
                return 0, None
            raise
        if is_any:
            return answer.status, text
        if answer.status >= 300:
            raise RuntimeError(f"{method} {path}: {answer.status} {text[:300]}")
        return json.loads(text) if text else None

    def kill(self):
        self.child.kill()
        self.child.wait()


class Cluster:
    """Nodes on a new database; `store` "": one node with SQLite."""

    def __init__(self, build, with_bus=True, store=None):
        self.build, self.with_bus, self.nodes = build, with_bus, []
        self.key, self.numbers, self.store = None, itertools.count(1), store
        if store is None:
            name = f"b{uuid.uuid4().hex}"
            sql(os.environ["PARLEY_TEST_POSTGRES"], f"CREATE DATABASE {name}")
            self.store = os.environ["PARLEY_TEST_POSTGRES"].replace("/postgres?", f"/{name}?")

    def add(self):
        name, data = f"n{next(self.numbers)}", tempfile.mkdtemp(prefix="parley-bench-")
        command = [self.build / "parley", "serve", "--port", "0", "--data", data, "--shards", "1", "--log-level", "error"]
        if self.store:
            command += ["--store", self.store, "--node", name]
            if self.with_bus:
                command += ["--bus", os.environ["PARLEY_TEST_NATS"]]
        child = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
        node = Node(child, data, name)
        if self.key is None:
            code = [child.stdout.readline() for _ in range(3)][1].split("#login=")[1].strip()
            connection = http.client.HTTPConnection("127.0.0.1", node.port)
            connection.request("POST", "/api/login", json.dumps({"code": code}), {"content-type": "application/json"})
            self.key = json.loads(connection.getresponse().read())["plaintext"]
        node.key = self.key
        self.nodes.append(node)
        return node

    def drop(self, node):
        if node.child.poll() is None:
            node.kill()
        shutil.rmtree(node.data, ignore_errors=True)
        self.nodes.remove(node)

    def seconds(self):
        return sum(cpu_seconds(node.pid) for node in self.nodes)


@contextlib.contextmanager
def cluster(build, n, with_bus=True, store=None):
    made = Cluster(build, with_bus, store)
    try:
        for _ in range(n):
            made.add()
        yield made
    finally:
        for node in list(made.nodes):
            made.drop(node)


def load():
    return round(os.getloadavg()[0], 1)


def percentile(values, percent):
    values = sorted(values)
    return values[min(len(values) - 1, len(values) * percent // 100)]


def until(look, what):
    end = time.monotonic() + SAFETY_S
    while True:
        seen = look()
        if seen:
            return seen
        if time.monotonic() > end:
            raise RuntimeError(f"waited {SAFETY_S} s in vain: {what}")
        time.sleep(0.005)


class Socket:
    """A WebSocket that reads text messages as they come."""

    def __init__(self, node, key=None):
        self.conn = socket.create_connection(("127.0.0.1", node.port), SAFETY_S)
        self.conn.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        nonce = base64.b64encode(os.urandom(16)).decode()
        self.conn.sendall((f"GET /api/ws HTTP/1.1\r\nHost: 127.0.0.1:{node.port}\r\nUpgrade: websocket\r\n"
                           f"Connection: Upgrade\r\nSec-WebSocket-Key: {nonce}\r\nSec-WebSocket-Version: 13\r\n"
                           f"Sec-WebSocket-Protocol: parley.v1\r\nAuthorization: Bearer {key or node.key}\r\n\r\n").encode())
        self.bytes = b""
        while b"\r\n\r\n" not in self.bytes:
            self.read()
        head, _, self.bytes = self.bytes.partition(b"\r\n\r\n")
        if b" 101 " not in head:
            raise RuntimeError(head.decode())

    def read(self):
        piece = self.conn.recv(1 << 16)
        if not piece:
            raise ConnectionError("the socket was closed")
        self.bytes += piece

    def send(self, message):
        self.send_frame(0x81, json.dumps(message).encode())

    def send_frame(self, first, payload):
        mask = b"\1\2\3\4"
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(payload))
        head = struct.pack("!BB", first, 0x80 | len(payload)) if len(payload) < 126 else \
            struct.pack("!BBH", first, 0xFE, len(payload))
        self.conn.sendall(head + mask + masked)

    def messages(self):
        """Takes the complete messages; keeps the rest."""
        at, found, have = 0, [], self.bytes
        while len(have) - at >= 2:
            first, length, begin = have[at], have[at + 1], at + 2
            if length == 126 and len(have) >= at + 4:
                length, begin = struct.unpack_from("!H", have, at + 2)[0], at + 4
            elif length == 127 and len(have) >= at + 10:
                length, begin = struct.unpack_from("!Q", have, at + 2)[0], at + 10
            elif length > 125:
                break
            if len(have) < begin + length:
                break
            if first & 15 == 1:
                found.append(have[begin:begin + length])
            elif first & 15 == 9:  # the server closes a socket that does not answer a ping
                self.send_frame(0x8A, have[begin:begin + length])
            at = begin + length
        self.bytes = have[at:]
        return found

    def subscribe(self, session):
        """Subscribes and waits for the answer; drops messages that came with it."""
        self.send({"id": 1, "event": "session:subscribe", "data": {"session_id": session}})
        while True:
            messages = self.messages()
            if any(message.startswith(b'{"ack":1') for message in messages):
                return self
            self.read()


def sessions_of(node, n, model="demo/echo"):
    return [node.ask("POST", "/api/sessions", {"model": model})["id"] for _ in range(n)]


def is_at_rest(node, session):
    return node.ask("GET", f"/api/sessions/{session}")["status"] not in ("created", "running")


# --- turns -------------------------------------------------------------------------------------

def turns(build, asked):
    """Messages and their answers, 8 at a time, to sessions and nodes in turns. So with three nodes, two of three
    messages come to a node that does not own the session. The peer is one node with SQLite."""
    for name, n, store in (("cluster.turn.sqlite", 1, ""), ("cluster.turn.1", 1, None), ("cluster.turn.3", N_NODES, None)):
        with cluster(build, n, with_bus=n > 1, store=store) as made:
            ids = sessions_of(made.nodes[0], N_SESSIONS)
            readers = [Socket(made.nodes[i % n]).subscribe(session) for i, session in enumerate(ids)]
            drain = threading.Thread(target=swallow, args=(readers,), daemon=True)
            drain.start()

            def say(number):
                # In each round, a session gets its message from another node.
                session, node = ids[number % N_SESSIONS], made.nodes[(number + number // N_SESSIONS) % n]
                node.ask("POST", f"/api/sessions/{session}/chat", {"message": "word " * 20})

            spread(say, N_SESSIONS * 2)
            until(lambda: all(is_at_rest(made.nodes[0], session) for session in ids), "the turns end")
            time.sleep(1)
            before, database, began = made.seconds(), postgres_seconds(), time.monotonic()
            spread(say, asked.turns)
            until(lambda: all(is_at_rest(made.nodes[0], session) for session in ids), "the turns end")
            seconds = time.monotonic() - began
            ours, theirs = made.seconds() - before, postgres_seconds() - database
            yield {"name": name, "impl": "parley", "nodes": n, "ops": asked.turns, "per_second": round(asked.turns / seconds),
                   "node_cpu_ms": round(ours * 1000 / asked.turns, 3),
                   "database_cpu_ms": round(theirs * 1000 / asked.turns, 3) if store is None else 0, "load": load()}


def swallow(readers):
    """Reads and discards messages until all sockets are closed."""
    with selectors.DefaultSelector() as waiting:
        for reader in readers:
            waiting.register(reader.conn, selectors.EVENT_READ, reader)
        while waiting.get_map():
            for entry, _ in waiting.select():
                try:
                    entry.data.read()
                    entry.data.messages()
                except OSError:
                    waiting.unregister(entry.fileobj)


def spread(do, n, n_threads=8):
    numbers, failures = itertools.count(), []

    def work():
        try:
            for number in iter(lambda: next(numbers), None):
                if number >= n:
                    return
                do(number)
        except Exception as problem:  # raised by the caller, not by a thread
            failures.append(problem)
    threads = [threading.Thread(target=work) for _ in range(n_threads)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


# --- streams -----------------------------------------------------------------------------------

def streams(build, asked):
    """Answers of fifty words per second, each with one reader: on the same node, or with three nodes on another one."""
    for name, n, store in (("cluster.stream.sqlite", 1, ""), ("cluster.stream.1", 1, None), ("cluster.stream.3", N_NODES, None)):
        with cluster(build, n, with_bus=n > 1, store=store) as made:
            ids, readers = [], []
            for i in range(N_STREAMS):
                owner, other = made.nodes[i % n], made.nodes[(i + 1) % n]
                session = sessions_of(owner, 1, "demo/slow")[0]
                words = " ".join(f"word{k}" for k in range(int(WORDS_PER_S * (asked.seconds + 30))))
                owner.ask("POST", f"/api/sessions/{session}/chat", {"message": words})
                readers.append(Socket(other).subscribe(session))
                ids.append(session)
            threading.Thread(target=swallow, args=(readers,), daemon=True).start()
            time.sleep(2)
            before, database, began = made.seconds(), postgres_seconds(), time.monotonic()
            time.sleep(asked.seconds)
            seconds = (time.monotonic() - began) * N_STREAMS
            ours, theirs = made.seconds() - before, postgres_seconds() - database
            yield {"name": name, "impl": "parley", "nodes": n, "streams": N_STREAMS, "words_per_second": WORDS_PER_S,
                   "node_cpu_ms": round(ours * 1000 / seconds, 3),
                   "database_cpu_ms": round(theirs * 1000 / seconds, 3) if store is None else 0, "load": load()}


# --- forwarding --------------------------------------------------------------------------------

NGINX = """daemon off; worker_processes 1; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path {dir}; proxy_temp_path {dir}; fastcgi_temp_path {dir}; uwsgi_temp_path {dir}; scgi_temp_path {dir};
  upstream owner {{ server 127.0.0.1:{owner}; keepalive 16; }}
  server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://owner; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_set_header Host 127.0.0.1:{owner}; }}
  }}
}}
"""


@contextlib.contextmanager
def proxy(owner):
    """An nginx that forwards to the owner: the cost of a proxy with sticky sessions."""
    if not shutil.which("nginx"):
        raise Missing("nginx is not installed")
    with tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o755)
        port, path = free_port(), pathlib.Path(where, "nginx.conf")
        path.write_text(NGINX.format(dir=where, port=port, owner=owner))
        with process(["nginx", "-c", path]) as master:
            yield port, worker_of(master.pid)


class Way:
    """A way to send messages to sessions of one owner."""

    def __init__(self, node, port, pids):
        self.node, self.port, self.pids, self.ms, self.cpu_ms, self.nats_ms = node, port, pids, [], [], []

    def round(self, ids, n, idle):
        """Subtracts the idle processor time of the processes, because the ways take different times."""
        before, start = [cpu_seconds(pid) for pid in self.pids], time.monotonic()
        for number in range(n):
            began = time.perf_counter()
            self.node.ask("POST", f"/api/sessions/{ids[number % len(ids)]}/chat", {"message": "word"}, port=self.port)
            self.ms.append((time.perf_counter() - began) * 1000)
        time.sleep(0.2)
        seconds = time.monotonic() - start
        used = [(cpu_seconds(pid) - was) * 1000 - idle.get(pid, 0) * seconds for pid, was in zip(self.pids, before)]
        self.cpu_ms.append(sum(ms for pid, ms in zip(self.pids, used) if pid != nats_pid()) / n)
        self.nats_ms.append(sum(ms for pid, ms in zip(self.pids, used) if pid == nats_pid()) / n)


def forwarded(build, asked):
    """A message to the owner, to another node, and to the owner through nginx, in turns. The owner has a reader of each
    session, so it stays the owner. A message is accepted when it is durable; the time includes that on every way."""
    n_each = max(20, asked.turns // (10 * asked.rounds))
    for with_bus in (True, False):
        with contextlib.ExitStack() as stack:
            made = stack.enter_context(cluster(build, 2, with_bus))
            owner, other = made.nodes
            ids = sessions_of(owner, n_each)
            readers = [Socket(owner).subscribe(session) for session in ids]
            threading.Thread(target=swallow, args=(readers,), daemon=True).start()
            nodes = [owner.pid, other.pid] + ([nats_pid()] if with_bus else [])
            ways = {"direct": Way(owner, owner.port, nodes), "forwarded": Way(other, other.port, nodes)}
            with contextlib.suppress(Missing):
                port, worker = stack.enter_context(proxy(owner.port))
                ways["nginx"] = Way(owner, port, nodes + [worker])
            for way in ways.values():
                way.round(ids, n_each, {})
                way.ms, way.cpu_ms, way.nats_ms = [], [], []
            idle = idle_cpu(nodes)
            for _ in range(asked.rounds * 4):
                for way in ways.values():
                    way.round(ids, n_each, idle)
            owned = sql(made.store, f"SELECT count(*) FROM sessions JOIN nodes ON writer = owner WHERE name = '{owner.name}'")
            if owned != str(n_each):
                raise RuntimeError(f"{owned} of {n_each} sessions are where they were made: not all was forwarded")
        for impl, way in ways.items():
            direct = ways["direct"]
            added = [a - b for a, b in zip(way.cpu_ms, direct.cpu_ms)]
            yield {"name": "cluster.forward" if with_bus else "cluster.forward.pg", "impl": {"forwarded": "parley"}.get(impl, impl),
                   "ops": len(way.ms), "p50_ms": round(statistics.median(way.ms), 3), "p99_ms": round(percentile(way.ms, 99), 3),
                   "cpu_ms": round(statistics.median(way.cpu_ms), 3), "added_cpu_ms": round(statistics.median(added), 3),
                   "added_p50_ms": round(statistics.median(way.ms) - statistics.median(direct.ms), 3),
                   "nats_cpu_ms": round(statistics.median(way.nats_ms), 3) if with_bus else 0,
                   "idle_cpu_ms_per_second": round(sum(idle.values()), 3), "load": load()}


def idle_cpu(pids, seconds=5):
    """Processor time of each process without requests, in ms per second."""
    before = {pid: cpu_seconds(pid) for pid in pids}
    time.sleep(seconds)
    return {pid: (cpu_seconds(pid) - was) * 1000 / seconds for pid, was in before.items()}


# --- take-over ---------------------------------------------------------------------------------

def takeovers(build, asked):
    """Time from kill -9 of a node with a running session until another node reports it at rest and accepts a message."""
    for with_bus in (True, False):
        waited = []
        n = asked.kills if with_bus else max(1, asked.kills // 5)
        with cluster(build, N_NODES, with_bus) as made:
            time.sleep(5)
            for number in range(n):
                victim, witness = made.nodes[number % N_NODES], made.nodes[(number + 1) % N_NODES]
                session = sessions_of(victim, 1, "demo/slow")[0]
                victim.ask("POST", f"/api/sessions/{session}/chat", {"message": "word " * 5000})
                until(lambda: witness.ask("GET", f"/api/sessions/{session}")["status"] == "running", "it runs")
                began = time.monotonic()
                victim.kill()
                until(lambda: is_served(witness, session, f"m{number}"), "it is served again")
                waited.append(time.monotonic() - began)
                made.drop(victim)
                made.add()
                # A new node may take over only after it has renewed for a whole lease.
                time.sleep(4.5)
        yield {"name": "cluster.takeover" if with_bus else "cluster.takeover.pg", "impl": "parley", "kills": n,
               "p50_s": round(statistics.median(waited), 2), "max_s": round(max(waited), 2), "load": load()}


def is_served(node, session, mark):
    status, text = node.ask("GET", f"/api/sessions/{session}", is_any=True)
    if status != 200 or json.loads(text)["status"] == "running":
        return False
    status, _ = node.ask("POST", f"/api/sessions/{session}/chat", {"message": "again", "client_message_id": mark}, is_any=True)
    return status == 202


# --- keys --------------------------------------------------------------------------------------

def revocations(build, asked):
    """Time from the answer that a key is revoked until every other node refuses it, and until its sockets there close."""
    for with_bus in (True, False):
        refused, closed = [], []
        with cluster(build, N_NODES, with_bus) as made:
            first, *others = made.nodes
            for number in range(min(N_REVOKED, asked.kills)):
                made_key = first.ask("POST", "/api/user/api-keys", {"name": f"k{number}"})
                key, key_id = made_key["plaintext"], made_key["id"]
                held = []
                for node in others:
                    # A node looks up at most ten unknown keys a second; the requests below may have used these up.
                    until(lambda: node.ask("GET", "/api/sessions", key=key, is_any=True)[0] == 200, "the new key is known")
                    held.append(Socket(node, key))
                ends = [None] * len(held)
                threads = [threading.Thread(target=wait_end, args=(one, ends, i)) for i, one in enumerate(held)]
                for thread in threads:
                    thread.start()
                first.ask("DELETE", f"/api/user/api-keys/{key_id}")
                began = time.monotonic()
                for node in others:
                    until(lambda: node.ask("GET", "/api/sessions", key=key, is_any=True)[0] == 401, "the key is refused")
                refused.append(time.monotonic() - began)
                for thread in threads:
                    thread.join(SAFETY_S)
                closed.append(max(ends) - began)
        yield {"name": "cluster.revoke" if with_bus else "cluster.revoke.pg", "impl": "parley", "ops": len(refused),
               "p50_ms": round(statistics.median(refused) * 1000, 1), "max_ms": round(max(refused) * 1000, 1),
               "sockets_max_ms": round(max(closed) * 1000, 1), "load": load()}


def wait_end(reader, ends, i):
    with contextlib.suppress(OSError):
        while True:
            reader.read()
            # A close frame counts as the end, whichever side closes the connection.
            if any(byte & 0x8F == 0x88 for byte in reader.bytes[:1]):
                break
            reader.messages()
            if reader.bytes[:1] and reader.bytes[0] & 0x8F == 0x88:
                break
    ends[i] = time.monotonic()


# --- frames ------------------------------------------------------------------------------------

def frames(build, asked):
    """The delay of a frame to a reader on another node, compared with a reader on the owner. The peer is NATS alone: the
    time from publishing a message of that size to receiving it."""
    for with_bus in (True, False):
        with cluster(build, 2, with_bus) as made:
            owner, other = made.nodes
            session = sessions_of(owner, 1)[0]
            near, far = Socket(owner).subscribe(session), Socket(other).subscribe(session)
            script = "\n".join(["repeat 1 ab", "wait 5", "think cd", "wait 5"] * (N_FRAMES // 2))
            seen = {near: {}, far: {}}
            sizes = []
            owner.ask("POST", f"/api/sessions/{session}/chat", {"message": f"#!demo\n{script}"})
            with selectors.DefaultSelector() as waiting:
                for reader in (near, far):
                    waiting.register(reader.conn, selectors.EVENT_READ, reader)
                n_over = 0
                while n_over < 2:
                    for entry, _ in waiting.select(SAFETY_S):
                        entry.data.read()
                        now = time.perf_counter()
                        for message in entry.data.messages():
                            data = json.loads(message)
                            if "sequence" in data.get("data", {}):
                                seen[entry.data].setdefault(data["data"]["sequence"], now)
                                sizes.append(len(message))
                            n_over += data.get("event") == "chat:end"
            late = [(seen[far][number] - at) * 1000 for number, at in seen[near].items() if number in seen[far]]
            if len(late) != len(seen[near]):
                raise RuntimeError(f"{len(seen[near]) - len(late)} frames are missing on the other node")
        yield {"name": "cluster.frames" if with_bus else "cluster.frames.pg", "impl": "parley", "ops": len(late),
               "p50_ms": round(statistics.median(late), 3), "p99_ms": round(percentile(late, 99), 3), "load": load()}
        if with_bus:
            yield bare_nats(round(statistics.mean(sizes)))


def bare_nats(size, n=1000):
    address = os.environ["PARLEY_TEST_NATS"].split("//")[1].rsplit(":", 1)
    taken = []
    with socket.create_connection((address[0], int(address[1])), SAFETY_S) as sender, \
            socket.create_connection((address[0], int(address[1])), SAFETY_S) as reader:
        for one in (sender, reader):
            one.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            one.sendall(b'CONNECT {"verbose":false}\r\nSUB bench 1\r\nPING\r\n' if one is reader else b'CONNECT {"verbose":false}\r\nPING\r\n')
            answer = b""
            while b"PONG\r\n" not in answer:
                answer += one.recv(1 << 16)
        whole = len(f"MSG bench 1 {size}\r\n") + size + 2
        for _ in range(n):
            began = time.perf_counter()
            sender.sendall(f"PUB bench {size}\r\n".encode() + b"x" * size + b"\r\n")
            got = 0
            while got < whole:
                got += len(reader.recv(1 << 16))
            taken.append((time.perf_counter() - began) * 1000)
    return {"name": "cluster.frames", "impl": "nats", "ops": n, "bytes": size, "p50_ms": round(statistics.median(taken), 3),
            "p99_ms": round(percentile(taken, 99), 3), "load": load()}


# --- sockets -----------------------------------------------------------------------------------

class Reading:
    """Sockets that read one session to the end of its turn; makes a digest of all messages for each socket."""

    def __init__(self, sockets):
        self.left = {one: [hashlib.blake2b(digest_size=16), 0] for one in sockets}
        self.done, self.n_messages, self.n_bytes = [], 0, 0

    def take(self, one, waiting):
        digest = self.left[one]
        one.read()
        for message in one.messages():
            if b'"sequence":' not in message[:200] and not message.startswith(b'{"event":"chat:end"'):
                continue
            digest[0].update(struct.pack("!Q", len(message)) + message)
            digest[1] += 1
            self.n_bytes += len(message)
            if message.startswith(b'{"event":"chat:end"'):
                self.done.append((digest[0].hexdigest(), digest[1]))
                self.n_messages += digest[1]
                waiting.unregister(one.conn)
                del self.left[one]
                return

    def run(self):
        with selectors.DefaultSelector() as waiting:
            for one in self.left:
                waiting.register(one.conn, selectors.EVENT_READ, one)
            while self.left:
                ready = waiting.select(SAFETY_S)
                if not ready:
                    raise RuntimeError(f"{len(self.left)} sockets did not come to the end")
                for entry, _ in ready:
                    self.take(entry.data, waiting)


def sockets(build, asked):
    """One session, 1,000 readers on each of three nodes: compares every byte of every message. The peer is one node
    with all readers."""
    for name, n in (("cluster.sockets", N_NODES), ("cluster.sockets.one", 1)):
        n_each = asked.sockets * N_NODES // n
        with cluster(build, n, with_bus=n > 1) as made:
            session = sessions_of(made.nodes[0], 1)[0]
            opened = [Socket(node).subscribe(session) for node in made.nodes for _ in range(n_each)]
            script = "\n".join(["repeat 1 ab", "wait 2", "think cd", "wait 2"] * (N_TEXTS // 2))
            before, began = made.seconds(), time.monotonic()
            reading = Reading(opened)
            made.nodes[-1].ask("POST", f"/api/sessions/{session}/chat", {"message": f"#!demo\n{script}"})
            reading.run()
            seconds, cpu = time.monotonic() - began, made.seconds() - before
            for one in opened:
                one.conn.close()
        kinds = set(reading.done)
        yield {"name": name, "impl": "parley", "sockets": len(reading.done), "messages_each": reading.done[0][1],
               "bytes": reading.n_bytes, "different": len(kinds) - 1, "per_second": round(reading.n_messages / seconds),
               "cpu_ns_per_op": round(cpu * 1e9 / reading.n_messages), "load": load()}


FIGURES = {"cluster.turn": turns, "cluster.stream": streams, "cluster.forward": forwarded, "cluster.revoke": revocations,
           "cluster.frames": frames, "cluster.sockets": sockets, "cluster.takeover": takeovers}


def measure(build, only="", asked=None):
    """Yields the lines of the figures with `only` in their name. Without PostgreSQL and NATS in the environment, runs
    itself under with_postgres and with_nats, and with fewer kills, since run.py runs every figure."""
    if not is_beside():
        command = [CONTRACT / "with_postgres", CONTRACT / "with_nats", sys.executable, __file__, "--build", build, "--only", only, "--kills", "10",
                   "--no-comparison"]
        if any(only in name for name in FIGURES):
            with process(command, stdout=subprocess.PIPE) as child:
                yield from map(json.loads, child.stdout)
                if child.wait():
                    raise RuntimeError("cluster_figures.py failed")
        return
    reason = os.environ.get("PARLEY_TEST_POSTGRES_SKIP") or os.environ.get("PARLEY_TEST_NATS_SKIP")
    for name, figure in FIGURES.items():
        if only in name and reason:
            yield {"name": name, "impl": "parley", "skipped": reason}
        elif only in name:
            yield from figure(build, asked)


def is_beside():
    """Whether this process runs under with_postgres and with_nats, even if these found no servers."""
    return all(any(f"PARLEY_TEST_{server}{end}" in os.environ for end in ("", "_SKIP")) for server in ("POSTGRES", "NATS"))


# --- targets -----------------------------------------------------------------------------------

def rows(lines):
    """Yields the comparison with the targets: what, ours, peer, theirs, factor, wanted, verdict."""
    by_key = {(line["name"], line["impl"]): line for line in lines if "skipped" not in line}

    def row(what, name, field, most=None, peer=None, impl="parley"):
        ours = by_key.get((name, impl), {}).get(field)
        if ours is None:
            return
        theirs = most if peer is None else by_key.get(peer, {}).get(field)
        is_met = None if most is None else ours <= most
        yield {"what": what, "ours": ours, "peer": f"at most {most}" if peer is None else peer[0] if peer[1] == impl else peer[1],
               "theirs": theirs, "factor": round(theirs / ours, 2) if ours > 0 and theirs else None,
               "wanted": None if most is None else 1, "verdict": "" if is_met is None else "ok" if is_met else "MISS"}

    for n, node_ms, database_ms in ((1, 0.65, 1.07), (3, 0.78, 1.26)):
        yield from row(f"turn, {n} node(s), node ms", f"cluster.turn.{n}", "node_cpu_ms", node_ms)
        yield from row(f"turn, {n} node(s), database ms", f"cluster.turn.{n}", "database_cpu_ms", database_ms)
        yield from row(f"turn, {n} node(s), node ms", f"cluster.turn.{n}", "node_cpu_ms", peer=("cluster.turn.sqlite", "parley"))
    yield from row("streaming second, node ms", "cluster.stream.1", "node_cpu_ms", 0.51)
    yield from row("streaming second, database ms", "cluster.stream.1", "database_cpu_ms", 0.62)
    yield from row("streaming second, 3 nodes, node ms", "cluster.stream.3", "node_cpu_ms", peer=("cluster.stream.1", "parley"))
    for name, title in (("cluster.forward", "forwarded chat"), ("cluster.forward.pg", "… by PostgreSQL")):
        is_bus = name == "cluster.forward"
        yield from row(f"{title}, added cpu ms", name, "added_cpu_ms", 0.15 if is_bus else None, None if is_bus else (name, "nginx"))
        yield from row(f"{title}, added p50 ms", name, "added_p50_ms", 2 if is_bus else None, None if is_bus else (name, "nginx"))
    yield from row("forwarded chat, added cpu ms", "cluster.forward", "added_cpu_ms", peer=("cluster.forward", "nginx"))
    yield from row("take-over, p50 s", "cluster.takeover", "p50_s", 3)
    yield from row("take-over, max s", "cluster.takeover", "max_s", 6)
    yield from row("take-over without a bus, max s", "cluster.takeover.pg", "max_s", 6)
    yield from row("revoked key refused, max ms", "cluster.revoke", "max_ms", 1000)
    yield from row("… its sockets closed, max ms", "cluster.revoke", "sockets_max_ms", 1000)
    yield from row("… without a bus, max ms", "cluster.revoke.pg", "max_ms", 2000)
    yield from row("… its sockets closed, max ms", "cluster.revoke.pg", "sockets_max_ms", 2000)
    yield from row("frames to another node, p50 ms", "cluster.frames", "p50_ms", peer=("cluster.frames", "nats"))
    yield from row("frames to another node, p99 ms", "cluster.frames", "p99_ms", peer=("cluster.frames", "nats"))
    yield from row("sockets that read something else", "cluster.sockets", "different", 0)
    yield from row("message to a socket, cpu ns", "cluster.sockets", "cpu_ns_per_op", peer=("cluster.sockets.one", "parley"))


def arguments(words):
    options = argparse.ArgumentParser(description="Measure several nodes on one PostgreSQL.")
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), metavar="DIR")
    options.add_argument("--only", default="", metavar="TEXT", help="figures whose name contains it")
    options.add_argument("--kills", type=int, default=50, help="of nodes, for the time of a take-over")
    options.add_argument("--turns", type=int, default=3000, help="messages, for the cost of a turn")
    options.add_argument("--seconds", type=float, default=10, help="of streaming")
    options.add_argument("--sockets", type=int, default=N_SOCKETS, help="on each node")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--no-comparison", action="store_true", help="only the lines")
    return options.parse_args(words)


def main():
    asked = arguments(sys.argv[1:])
    if not is_beside():
        return subprocess.run([CONTRACT / "with_postgres", CONTRACT / "with_nats", sys.executable, *sys.argv]).returncode
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    lines = []
    for line in measure(asked.build.resolve(), asked.only, asked):
        print(json.dumps(line, separators=(",", ":")), flush=True)
        lines.append(line)
    if not asked.no_comparison:
        print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores", file=sys.stderr)
        show(list(rows(lines)), sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
