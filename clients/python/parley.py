"""A client of a Parley server: HTTP for its state, a WebSocket for its events.

One file for Python 3.9 and later, with the standard library only. Copy it beside your program.

    from parley import Parley

    parley = Parley("http://127.0.0.1:8787", key="sk-parley-v1-...")
    session = parley.create_session(intent="a first try")
    for event in parley.stream(session["id"], "hello world"):
        if event["event"] == "turn:patch":
            print(event["data"]["data"].get("text_delta", ""), end="")

Objects of the API are dicts with the members that /openapi.json describes. If the server refuses a request, a ProblemError is
raised. The names are those of the TypeScript client (clients/ts), in Python's spelling.
"""
import base64
import hashlib
import http.client
import json
import os
import socket
import ssl
import struct
import threading
import urllib.parse

__all__ = ["Parley", "ProblemError", "LiveError", "Live", "SessionView", "apply_patch"]
__version__ = "0.1.0"

# --- errors -------------------------------------------------------------------------------------


class ProblemError(Exception):
    """The server refused a request. `problem` is the object of RFC 9457: status, code, detail, retryable, errors."""

    def __init__(self, problem):
        super().__init__(problem.get("detail") or problem.get("title"))
        self.problem = problem
        self.status = problem.get("status")
        self.code = problem.get("code")


class LiveError(ProblemError):
    """The server refused a frame of a socket."""


def _read_problem(response, body):
    """The answer may have another format, if it comes from a proxy or from a server that is starting."""
    text = body.decode("utf-8", "replace")
    try:
        problem = json.loads(text)
    except ValueError:
        problem = None
    if isinstance(problem, dict) and isinstance(problem.get("status"), int):
        return problem
    return {"type": "about:blank", "title": ("%d %s" % (response.status, response.reason)).strip(),
            "status": response.status, "code": "not_a_problem", "detail": text[:200],
            "retryable": response.status >= 500}


# --- HTTP ---------------------------------------------------------------------------------------


class Answer:
    """The answer to a request: status, headers (names in lower case), and bytes."""

    def __init__(self, response, body):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = body

    def json(self):
        return json.loads(self.body) if self.body else None


def _query(path, values):
    given = {name: str(value).lower() if isinstance(value, bool) else str(value)
             for name, value in (values or {}).items() if value is not None}
    return path + ("?" + urllib.parse.urlencode(given) if given else "")


def _at(*parts):
    return "/api/" + "/".join(urllib.parse.quote(str(part), safe="") for part in parts)


def _given(**members):
    return {name: value for name, value in members.items() if value is not None}


class Parley:
    """A client. `key` is a key of a user; `headers` are sent with every request; `context` is an ssl.SSLContext."""

    def __init__(self, url, key=None, headers=None, timeout=None, context=None):
        self.url = url.rstrip("/")
        self._parts = urllib.parse.urlsplit(self.url)
        if self._parts.scheme not in ("http", "https") or not self._parts.hostname:
            raise ValueError("the address of a server is http://HOST:PORT or https://HOST, not %r" % url)
        self._headers = dict(headers or {})
        if key:
            self._headers["Authorization"] = "Bearer " + key
        self._timeout = timeout
        self._context = context
        self.prompts = Prompts(self)
        self.memories = Memories(self)
        self.tasks = Tasks(self)
        self.blobs = Blobs(self)

    def _connect(self):
        host, port = self._parts.hostname, self._parts.port
        if self._parts.scheme == "https":
            return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._context)
        return http.client.HTTPConnection(host, port, timeout=self._timeout)

    def _send(self, method, path, body, headers):
        """Returns a connection and its response, both open; the caller closes the connection."""
        conn = self._connect()
        try:
            conn.request(method, path, body, {**self._headers, **headers})
            response = conn.getresponse()
            if response.status >= 400:
                raise ProblemError(_read_problem(response, response.read()))
        except BaseException:
            conn.close()
            raise
        return conn, response

    def raw(self, method, path, body=None, headers=None):
        """Sends a request with bytes as its body, or without a body."""
        conn, response = self._send(method, path, body, headers or {})
        try:
            return Answer(response, response.read())
        finally:
            conn.close()

    def request(self, method, path, body=None, headers=None, idempotency_key=None):
        """Sends JSON. Requests with the same `idempotency_key` get the same answer and are carried out once."""
        sent = dict(headers or {})
        if idempotency_key is not None:
            sent["Idempotency-Key"] = idempotency_key
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            sent.setdefault("Content-Type", "application/json")
        return self.raw(method, path, data, sent)

    def json(self, method, path, body=None, headers=None, idempotency_key=None):
        """Like request(), but returns the parsed answer; None if it has no body."""
        return self.request(method, path, body, headers, idempotency_key).json()

    # --- sessions

    def create_session(self, idempotency_key=None, **fields):
        return self.json("POST", "/api/sessions", fields, idempotency_key=idempotency_key)

    def session(self, session_id):
        return self.json("GET", _at("sessions", session_id))

    def sessions(self, **query):
        """Returns a page: items, total, limit, offset, next_cursor."""
        return self.json("GET", _query("/api/sessions", query))

    def change_session(self, session_id, **fields):
        return self.json("PATCH", _at("sessions", session_id), fields)

    def delete_session(self, session_id):
        self.json("DELETE", _at("sessions", session_id))

    def messages(self, session_id, **query):
        """Returns turns, and the stream position at that read: load both into a view, then subscribe."""
        answer = self.request("GET", _query(_at("sessions", session_id, "messages"), query))
        epoch, _, sequence = answer.headers.get("x-stream-position", "1:0").partition(":")
        return {"turns": answer.json(), "total": int(answer.headers.get("x-total-count", 0)),
                "has_more": answer.headers.get("x-has-more") == "true",
                "position": {"epoch": int(epoch), "sequence": int(sequence)}}

    def turn(self, session_id, turn_id):
        return self.json("GET", _at("sessions", session_id, "turns", turn_id))

    def chat(self, session_id, message=None, idempotency_key=None, **fields):
        """Sends a message. `fields`: model, mode, client_message_id, when_busy, system_prompt, settings, tools, prefill; or
        askuser_answer instead of a message."""
        return self.json("POST", _at("sessions", session_id, "chat"), {**_given(message=message), **fields},
                         idempotency_key=idempotency_key)

    def stream(self, session_id, message=None, **fields):
        """Sends a message and yields the events of that chat, to its end. Leaving the loop does not cancel the chat. A message
        that was sent before (the same client_message_id) yields no events."""
        body = json.dumps({**_given(message=message), **fields}).encode()
        conn, response = self._send("POST", _at("sessions", session_id, "chat"), body,
                                    {"Content-Type": "application/json", "Accept": "text/event-stream"})
        return _events(conn, response)

    def events(self, session_id, since=None):
        """Yields the events of a session from now on, or from a position, without end. Each has its position as `id`."""
        conn, response = self._send("GET", _at("sessions", session_id, "events"), None, {
            "Accept": "text/event-stream",
            **({"Last-Event-ID": "%(epoch)d:%(sequence)d" % since} if since else {})})
        return _events(conn, response)

    def change_replay(self, session_id, **change):
        """Changes a running replay: status (running, paused) and speed."""
        return self.json("PATCH", _at("sessions", session_id, "replay"), change)

    def stop(self, session_id):
        return self.json("POST", _at("sessions", session_id, "stop"))

    def questions(self, session_id):
        return self.json("GET", _at("sessions", session_id, "questions"))["items"]

    def answer(self, session_id, tool_call_id, answer):
        """The answer to a question is any JSON; to a confirmation, {"approve": True} or {"approve": False, "reason": "..."}."""
        return self.json("POST", _at("sessions", session_id, "questions", tool_call_id, "answer"), {"answer": answer})

    def tool_result(self, session_id, tool_call_id, result, is_error=False):
        """Sends the result of a call that has runs "client"; possible once."""
        return self.json("POST", _at("sessions", session_id, "tool-calls", tool_call_id, "result"),
                         {"result": result, "is_error": is_error})

    def ticket(self):
        return self.json("POST", "/api/ws-tickets")["ticket"]

    def live(self, **options):
        """A live connection; it opens with the first subscription."""
        return Live(self, **options)


def _events(conn, response):
    try:
        if not response.headers.get("Content-Type", "").startswith("text/event-stream"):
            return
        fields = {}
        for line in response:
            name, _, value = line.decode("utf-8").rstrip("\r\n").partition(": ")
            if line.strip():
                fields[name] = value
                continue
            if "event" in fields:
                event = {"event": fields["event"], "data": json.loads(fields.get("data", "{}"))}
                yield {**event, "id": fields["id"]} if "id" in fields else event
            fields = {}
    finally:
        conn.close()


# --- things of a user ---------------------------------------------------------------------------


class _Things:
    path = ""

    def __init__(self, parley):
        self._parley = parley

    def _ask(self, method, *parts, body=None, query=None, headers=None, idempotency_key=None):
        return self._parley.json(method, _query(_at(self.path, *parts), query), body, headers, idempotency_key)

    def list(self, **query):
        return self._ask("GET", query=query)

    def create(self, idempotency_key=None, **fields):
        return self._ask("POST", body=fields, idempotency_key=idempotency_key)

    def get(self, thing_id):
        return self._ask("GET", thing_id)

    def update(self, thing_id, **fields):
        return self._ask("PATCH", thing_id, body=fields)

    def delete(self, thing_id):
        self._ask("DELETE", thing_id)


class Prompts(_Things):
    """The library of prompts. A version is a number, a label, or "latest"."""
    path = "prompts"

    def update(self, thing_id, revision=None, **fields):
        """`revision` is the one that was read: if somebody else has changed the prompt since, ProblemError 412 is raised."""
        return self._ask("PATCH", thing_id, body=fields,
                         headers={} if revision is None else {"If-Match": '"%s"' % revision})

    def _counts(self, of):
        items, cursor = [], None
        while True:
            page = self._ask("GET", of, query={"cursor": cursor})
            items += page["items"]
            cursor = page["next_cursor"]
            if cursor is None:
                return items

    def folders(self):
        return self._counts("folders")

    def tags(self):
        return self._counts("tags")

    def versions(self, prompt_id, **query):
        return self._ask("GET", prompt_id, "versions", query=query)

    def version(self, prompt_id, version="latest"):
        return self._ask("GET", prompt_id, "versions", version)

    def save(self, prompt_id, content, **fields):
        """`based_on` is the version that the draft started from; a newer one raises a ProblemError with both texts."""
        return self._ask("POST", prompt_id, "versions", body={"content": content, **fields})

    def diff(self, prompt_id, before, after):
        """Compares two versions, or a version and a draft {"content", "type"}."""
        if isinstance(after, dict):
            return self._ask("POST", prompt_id, "versions", before, "diff", body=after)
        return self._ask("GET", prompt_id, "versions", before, "diff", after)

    def label(self, prompt_id, label, version):
        """Sets a label on a version; None removes it."""
        if version is None:
            return self._ask("DELETE", prompt_id, "labels", label)
        return self._ask("PUT", prompt_id, "labels", label, body={"version": version})

    def rollback(self, prompt_id, version, note=None):
        return self._ask("POST", prompt_id, "rollback", body=_given(version=version, note=note))

    def render(self, prompt_id, **fields):
        return self._ask("POST", prompt_id, "render", body=fields)

    def lint(self, prompt_id, **fields):
        return self._ask("POST", prompt_id, "lint", body=fields)

    def run(self, prompt_id, **fields):
        return self._ask("POST", prompt_id, "run", body=fields)

    def export(self, prompt_id, **query):
        path = _query(_at("prompts", prompt_id, "export"), query)
        return self._parley.request("GET", path).body.decode()

    def import_files(self, files, **options):
        return self._ask("POST", "import", body={"files": files, **options})

    def files(self):
        """The whole library as files, page by page."""
        cursor = None
        while True:
            page = self._ask("GET", "files", query={"cursor": cursor})
            yield from page["files"]
            cursor = page["next_cursor"]
            if cursor is None:
                return


class Memories(_Things):
    path = "memories"

    def batch(self, create=None, update=None, delete=None):
        """Applies all changes, or none."""
        return self._ask("POST", "batch", body=_given(create=create, update=update, delete=delete))

    def supersede(self, memory_id, by, expected=None):
        """`expected` is the current value of superseded_by; `by` None removes the link."""
        return self._ask("POST", memory_id, "supersede", body={"by": by, "expected": expected})

    def search(self, query, **options):
        """The best matches first."""
        return self._ask("POST", "search", body={"query": query, **options})


class Tasks(_Things):
    path = "scheduled-tasks"

    def start(self, task_id):
        return self._ask("POST", task_id, "start")

    def stop(self, task_id):
        return self._ask("POST", task_id, "stop")

    def run(self, task_id):
        """Runs the task now, regardless of its schedule."""
        return self._ask("POST", task_id, "run")

    def runs(self, task_id, **query):
        return self._ask("GET", task_id, "runs", query=query)

    def occurrences(self, task_id, **query):
        return self._ask("GET", task_id, "occurrences", query=query)["items"]

    def calendar(self, **query):
        return self._ask("GET", "calendar", query=query)

    def explain(self, cron, timezone=None):
        return self._ask("GET", "explain", query={"cron": cron, "timezone": timezone})


class Blobs(_Things):
    path = "blobs"

    def create(self, data, name=None, type=None, idempotency_key=None):
        """Stores bytes, or the contents of an open file."""
        headers = {"Content-Type": type or "application/octet-stream"}
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        body = data if isinstance(data, (bytes, bytearray)) else data.read()
        return self._parley.raw("POST", _query("/api/blobs", {"name": name}), bytes(body), headers).json()

    def info(self, blob_id):
        return self._ask("GET", blob_id, "info")

    def read(self, blob_id, range=None):
        """Returns the bytes of a blob, or those of a range such as "0-99"."""
        return self._parley.raw("GET", _at("blobs", blob_id), None, {"Range": "bytes=" + range} if range else {}).body

    def fetch(self, url, name=None):
        return self._ask("POST", "fetch", body=_given(url=url, name=name))

    def get(self, thing_id):
        return self.info(thing_id)


# --- applying patches to a turn -----------------------------------------------------------------


def _block(type_, content, call=None):
    call = call or {}
    return {"type": type_, "content": content, "tool_call_id": call.get("id"), "tool_name": call.get("tool_name"),
            "display_name": call.get("display_name")}


def _add_content(turn, data):
    blocks = turn["blocks"]
    if "text_delta" not in data:
        blocks.append({name: data.get(name) for name in ("type", "content", "tool_call_id", "tool_name", "display_name")})
        return
    index = data.get("block_index", len(blocks) - 1)
    is_open = 0 <= index < len(blocks) and blocks[index]["type"] == data["type"]
    if not is_open:
        blocks.append(_block(data["type"], ""))
    block = blocks[index] if is_open else blocks[-1]
    block["content"] = data["content"] if "content" in data else block["content"] + data["text_delta"]


def _find_call(turn, call_id):
    return next((call for call in turn["tool_calls"] if call["id"] == call_id), None)


def _add_tool_call(turn, data):
    known = _find_call(turn, data["id"])
    if known:
        known.update(data)
        return
    call = {"id": data["id"], "tool_name": data["tool_name"], "display_name": data.get("display_name", data["tool_name"]),
            "arguments": data.get("arguments", ""), "status": data.get("status", "pending"), "result": data.get("result"),
            "duration_ms": data.get("duration_ms"), "pending_question_ref": data.get("pending_question_ref")}
    turn["tool_calls"].append(call)
    try:
        given = json.loads(call["arguments"])
    except ValueError:
        given = call["arguments"]
    turn["blocks"].append(_block("tool_use", {"id": call["id"], "name": call["tool_name"], "input": given}, call))


def _open_call(turn, data):
    call = _find_call(turn, data["tool_call_id"])
    return call if call and call["status"] not in ("done", "error", "cancelled") else None


def _tool_result(turn, data):
    """The first terminal result counts; cards and page actions become separate blocks."""
    call = _open_call(turn, data)
    if not call:
        return
    call.update(status=data.get("status", "done"), result=data.get("result"), duration_ms=data.get("duration_ms"),
                pending_question_ref=None)
    turn["blocks"].append(_block("tool_result", call["result"], call))
    meta = call["result"].get("_meta") if isinstance(call["result"], dict) else None
    for member, type_ in (("ui", "tool_ui"), ("bridge", "tool_bridge")):
        if isinstance(meta, dict) and member in meta:
            turn["blocks"].append(_block(type_, meta[member], call))


def _set_tool_status(turn, data):
    call = _open_call(turn, data)
    if not call:
        return
    call["status"] = data["status"]
    if "pending_question_ref" in data:
        call["pending_question_ref"] = data["pending_question_ref"]
    if data.get("runs") == "client":
        call["runs"] = "client"


def _set_status(turn, data):
    turn["status"] = data["status"]


_PATCHES = {"add_content": _add_content, "add_tool_call": _add_tool_call, "tool_result": _tool_result,
            "set_tool_status": _set_tool_status, "set_status": _set_status}


def apply_patch(turn, patch):
    """Applies the data of a turn:patch to a turn. A patch of an unknown kind changes nothing."""
    change = _PATCHES.get(patch["patch_type"])
    if change:
        change(turn, patch["data"])


class SessionView:
    """A session, built from its events.

    The rule: apply an event if its sequence is the last one plus one; drop it if it is less or equal; if it is more, events
    are missing: subscribe again from this position.
    """

    def __init__(self):
        self.session = None
        self.turns = {}      # by turn_id
        self.questions = {}  # by tool_call_id
        self.position = None

    @property
    def ordered(self):
        """Turns in the order of the session."""
        return sorted(self.turns.values(), key=lambda turn: turn["sequence"])

    def load(self, turns, position):
        """Loads a page of history, with the stream position at that read."""
        self.turns = {turn["turn_id"]: turn for turn in turns}
        self.position = dict(position)

    def apply(self, event):
        """Returns 'applied', 'dropped' or 'gap'."""
        name, data = event["event"], event["data"]
        if name == "session:snapshot":
            return self._snapshot(data)
        sequence = data.get("sequence")
        if sequence is None or self.position is None or sequence <= self.position["sequence"]:
            return "dropped"
        if sequence != self.position["sequence"] + 1:
            return "gap"
        self._take(name, data)
        self.position = {"epoch": self.position["epoch"], "sequence": sequence}
        return "applied"

    def _snapshot(self, data):
        turns = {turn["turn_id"]: turn for turn in data["turns"]}
        self.turns = turns if data["mode"] == "snapshot" else {**self.turns, **turns}
        self.questions = {question["tool_call_id"]: question for question in data["questions"]}
        self.session = data["session"]
        self.position = {"epoch": data["epoch"], "sequence": data["sequence"]}
        return "applied"

    def _take(self, name, data):
        if name in ("turn:start", "turn:end"):
            self.turns[data["turn"]["turn_id"]] = data["turn"]
        elif name == "session:updated":
            self.session = data["session"]
        elif name == "question:asked":
            self.questions[data["question"]["tool_call_id"]] = data["question"]
        elif name == "question:resolved":
            self.questions.pop(data["question"]["tool_call_id"], None)
        elif data.get("turn_id") in self.turns and name == "turn:patch":
            apply_patch(self.turns[data["turn_id"]], data)
        elif data.get("turn_id") in self.turns and name == "memory:inject:done":
            self.turns[data["turn_id"]]["memory_refs"] = data["memory_refs"]


# --- the socket ---------------------------------------------------------------------------------


class _Closed(ConnectionError):
    def __init__(self, code):
        super().__init__("the socket ended (%d)" % code)
        self.code = code


class _WebSocket:
    """RFC 6455 for a client: text, whole messages, pings. One thread reads; any thread sends."""

    def __init__(self, url, ticket, timeout, context):
        parts = urllib.parse.urlsplit(url)
        is_tls = parts.scheme == "https"
        nonce = base64.b64encode(os.urandom(16)).decode()
        conn = socket.create_connection((parts.hostname, parts.port or (443 if is_tls else 80)), timeout)
        try:
            if is_tls:
                conn = (context or ssl.create_default_context()).wrap_socket(conn, server_hostname=parts.hostname)
            self._conn = conn
            self._lock = threading.Lock()
            self._reader = conn.makefile("rb")
            conn.sendall(("GET /api/ws?ticket=%s HTTP/1.1\r\nHost: %s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                          "Sec-WebSocket-Key: %s\r\nSec-WebSocket-Version: 13\r\n"
                          "Sec-WebSocket-Protocol: parley.v1\r\n\r\n"
                          % (urllib.parse.quote(ticket, safe=""), parts.netloc, nonce)).encode())
            self._shake_hands(nonce)
            conn.settimeout(None)
        except BaseException:
            conn.close()
            raise

    def _shake_hands(self, nonce):
        response = http.client.HTTPResponse(_Reading(self._reader))
        response.begin()
        if response.status != 101:
            raise ProblemError(_read_problem(response, response.read()))
        magic = (nonce + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()
        if response.headers.get("Sec-WebSocket-Accept") != base64.b64encode(hashlib.sha1(magic).digest()).decode():
            raise ConnectionError("this is no WebSocket server")

    def _write(self, opcode, payload):
        n, mask = len(payload), os.urandom(4)
        if n < 126:
            size = struct.pack("!B", 0x80 | n)
        else:
            size = struct.pack("!BH", 0xFE, n) if n < 65536 else struct.pack("!BQ", 0xFF, n)
        pad = (mask * (n // 4 + 1))[:n]
        hidden = (int.from_bytes(payload, "big") ^ int.from_bytes(pad, "big")).to_bytes(n, "big")
        with self._lock:
            self._conn.sendall(bytes([0x80 | opcode]) + size + mask + hidden)

    def send(self, text):
        self._write(1, text.encode())

    def _exactly(self, n):
        data = self._reader.read(n)
        if len(data) < n:
            raise _Closed(1006)
        return data

    def next(self):
        """Returns the next text; raises _Closed at the end."""
        text = b""
        while True:
            first, second = self._exactly(2)
            n = second & 127
            if n == 126:
                n, = struct.unpack("!H", self._exactly(2))
            elif n == 127:
                n, = struct.unpack("!Q", self._exactly(8))
            payload, opcode = self._exactly(n), first & 15
            if opcode == 8:
                raise _Closed(struct.unpack("!H", payload[:2])[0] if n >= 2 else 1005)
            if opcode == 9:
                self._write(10, payload)
            elif opcode in (0, 1):
                text += payload
                if first & 0x80:
                    return text.decode()

    def end(self, code=None):
        """Ends the socket, from any thread: the reading thread gets _Closed."""
        try:
            if code:
                self._write(8, struct.pack("!H", code))
            self._conn.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self):
        self._reader.close()
        self._conn.close()


class _Reading:
    """The object from which http.client reads a head."""

    def __init__(self, reader):
        self._reader = reader

    def makefile(self, *_):
        return _Unclosed(self._reader)


class _Unclosed:
    """http.client closes its file after a head without a body; this keeps the socket open."""

    def __init__(self, reader):
        self._reader = reader

    def __getattr__(self, name):
        return getattr(self._reader, name)

    def close(self):
        pass


class _Subscription:
    def __init__(self, view, content, known):
        self.view = view
        self.content = content
        self.listeners = known.listeners if known else []
        self.is_followed = bool(known)  # true once the server has agreed: then a new connection resumes it
        self.is_resuming = False


class _Waiting:
    def __init__(self):
        self.done = threading.Event()
        self.result = None
        self.error = None

    def settle(self, result=None, error=None):
        self.result, self.error = result, error
        self.done.set()


class Live:
    """One socket for many sessions. It reconnects automatically, with longer delays after each failure, and resumes every
    session at the position of its view, so a view has no gap and sees no event twice.

    A thread reads. It calls `on_event`, `on_open`, `on_close`, `on_lost` and the listeners, which must not wait for an answer
    on the same socket. `changed` is a threading.Condition that is notified after each event was applied.
    """

    def __init__(self, parley, retry_ms=250, timeout=None):
        self._parley = parley
        self._retry_ms = retry_ms
        self._timeout = timeout
        self._lock = threading.RLock()
        self.changed = threading.Condition(self._lock)
        self._subscriptions = {}
        self._waiting = {}
        self._next_id = 1
        self._socket = None
        self._thread = None
        self._wake = threading.Event()
        self._failures = 0
        self._is_closed = False
        self._last_error = None
        self._listens_to_user = False
        self.on_event = None
        self.on_open = None
        self.on_close = None
        self.on_lost = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    # --- functions for the program

    def subscribe(self, session_id, content=None, view=None):
        """Returns the view of a session, kept up to date from now on."""
        with self._lock:
            known = self._subscriptions.get(session_id)
            view = view or (known.view if known else SessionView())
            self._subscriptions[session_id] = _Subscription(view, content, known)
        try:
            self._resume(session_id)
        except BaseException:
            if not known:
                with self._lock:
                    self._subscriptions.pop(session_id, None)
            raise
        return view

    def subscribe_user(self):
        """Subscribes to changes in the lists of this user. They arrive at `on_event`, and again after each reconnection."""
        self._listens_to_user = True
        self.request("user:subscribe", {})

    def unsubscribe(self, session_id):
        with self._lock:
            self._subscriptions.pop(session_id, None)
            is_open = self._socket is not None
        if is_open:
            self.request("session:unsubscribe", {"session_id": session_id})

    def listen(self, session_id, listener):
        """Calls the listener with each event of the session, after it was applied. Returns a function that removes it."""
        listeners = self._subscriptions[session_id].listeners
        listeners.append(listener)
        return lambda: listener in listeners and listeners.remove(listener)

    def wait_for(self, holds, timeout=None):
        """Waits until holds() is true; checks after each event. False: the time is over."""
        with self.changed:
            return self.changed.wait_for(holds, timeout)

    def request(self, event, data):
        """Sends a frame and waits for its answer."""
        waiting = _Waiting()
        self._open()
        with self._lock:
            ws = self._socket
            if ws is None:
                raise self._last_error or _Closed(1006)
            frame_id, self._next_id = self._next_id, self._next_id + 1
            self._waiting[frame_id] = waiting
        try:
            ws.send(json.dumps({"id": frame_id, "event": event, "data": data}))
        except OSError:
            ws.end()
        if not waiting.done.wait(self._timeout):
            with self._lock:
                self._waiting.pop(frame_id, None)
            raise TimeoutError("no answer to %s" % event)
        if waiting.error:
            raise waiting.error
        return waiting.result

    def cut(self):
        """Cuts the connection as a broken network would; it is opened again."""
        ws = self._socket
        if ws:
            ws.end()

    def close(self):
        """Closes the connection for good."""
        with self._lock:
            self._is_closed = True
            ws, thread = self._socket, self._thread
        self._wake.set()
        if ws:
            ws.end(1000)
        if thread and thread is not threading.current_thread():
            thread.join(5)

    # --- the reading thread

    def _open(self):
        """Starts the thread if there is none, and waits for its first attempt."""
        with self.changed:
            if self._is_closed:
                raise _Closed(1000)
            if self._thread is None:
                self._last_error = None
                self._thread = threading.Thread(target=self._run, name="parley-live", daemon=True)
                self._thread.start()
            self.changed.wait_for(lambda: self._socket or self._thread is None or self._last_error)

    def _run(self):
        """Connects, reads, and reconnects as long as there are subscriptions."""
        while not self._is_closed:
            code = self._serve()
            with self.changed:
                self._socket = None
                for waiting in self._waiting.values():
                    waiting.settle(error=_Closed(code))
                self._waiting.clear()
                is_over = (self._is_closed or code == 4401
                           or not (self._subscriptions or self._listens_to_user))
                if is_over:
                    self._thread = None
                self.changed.notify_all()
            if self.on_close:
                self.on_close(code)
            if is_over:
                return
            self._wake.wait(min(self._retry_ms * 2 ** min(self._failures, 20), 30000) / 1000)
            self._failures += 1
        with self.changed:
            self._thread = None
            self.changed.notify_all()

    def _serve(self):
        """Serves one connection to its end; returns its close code."""
        parley = self._parley
        try:
            ws = _WebSocket(parley.url, parley.ticket(), parley._timeout, parley._context)
        except (OSError, http.client.HTTPException, ProblemError) as error:
            with self.changed:
                self._last_error = error
                self.changed.notify_all()
            return 4401 if getattr(error, "status", None) == 401 else 1006
        with self.changed:
            self._socket, self._failures, self._last_error = ws, 0, None
            again = [session_id for session_id, one in self._subscriptions.items() if one.is_followed]
            self.changed.notify_all()
        try:
            if self.on_open:
                self.on_open()
            if self._listens_to_user:
                self._send("user:subscribe", {})
            for session_id in again:
                self._resume_later(session_id)
            while True:
                self._receive(json.loads(ws.next()))
        except _Closed as error:
            return error.code
        except OSError:
            return 1006
        finally:
            ws.close()

    def _send(self, event, data, done=None):
        """Sends a frame from the reading thread, which cannot wait for the answer: `done` is called with it."""
        with self._lock:
            frame_id, self._next_id = self._next_id, self._next_id + 1
            waiting = self._waiting[frame_id] = _Waiting()
            ws = self._socket
        if done:
            waiting.settle = done
        if ws:
            ws.send(json.dumps({"id": frame_id, "event": event, "data": data}))

    def _subscribe_frame(self, session_id):
        one = self._subscriptions[session_id]
        one.is_resuming = True
        return _given(session_id=session_id, since=one.view.position, content=one.content)

    def _resume(self, session_id):
        with self._lock:
            one = self._subscriptions[session_id]
            frame = self._subscribe_frame(session_id)
        try:
            self.request("session:subscribe", frame)
            one.is_followed = True
        finally:
            one.is_resuming = False

    def _resume_later(self, session_id):
        one = self._subscriptions.get(session_id)
        if not one:
            return

        def done(result=None, error=None):
            one.is_resuming = False
            if isinstance(error, LiveError):
                self._lose(session_id, error.problem)
        self._send("session:subscribe", self._subscribe_frame(session_id), done)

    def _lose(self, session_id, problem):
        with self.changed:
            was_there = self._subscriptions.pop(session_id, None)
            self.changed.notify_all()
        if was_there and self.on_lost:
            self.on_lost(session_id, problem)

    def _receive(self, frame):
        if "ack" in frame:
            with self._lock:
                waiting = self._waiting.pop(frame["ack"], None)
            if waiting and frame["ok"]:
                waiting.settle(frame.get("data"))
            elif waiting:
                waiting.settle(error=LiveError(frame["error"]))
            return
        if self.on_event:
            self.on_event(frame)
        session_id = frame.get("data", {}).get("session_id")
        one = self._subscriptions.get(session_id)
        if not one:
            return
        if frame["event"] == "system:error":
            self._lose(session_id, frame["data"])
            return
        with self.changed:
            applied = one.view.apply(frame)
            self.changed.notify_all()
        if applied == "gap":
            if not one.is_resuming:
                self._resume_later(session_id)
            return
        for listener in list(one.listeners):
            listener(frame)
