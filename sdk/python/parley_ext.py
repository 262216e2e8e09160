"""Extensions for Parley in Python: one file, no dependencies. Copy it to the directory of your program.

    import parley_ext
    ext = parley_ext.Extension()              # reads name, version and capabilities from extension.json

    @ext.tool("greet", "Greets somebody.", {"type": "object", "properties": {"name": {"type": "string"}}})
    def greet(call, input):
        return f"Hello, {input['name']}!"

    ext.run()

Each handler runs in its own thread. Its return value is the result: a text, a list of content blocks, or the
whole output object. An exception is an error result. `call` calls the host: call.host(method, params), or the
shortcuts call.fs, exec, http, ask, …; each raises HostError if the host refuses.

stdout is reserved for the protocol: print() writes to stderr, which is the extension's log.
"""
import json
import os
import queue
import sys
import threading
import traceback
from datetime import datetime, timezone
from fnmatch import fnmatchcase

TOOLS = {"read": "read", "grep": "read", "find": "read", "ls": "read", "write": "write", "edit": "write", "bash": "exec"}
FS_WRITES = {"write", "mkdir", "delete", "remove", "rm"}


def capability_of(method, params):
    """The capability that the host derives for a call; a frame must name the same one."""
    if method == "tool":
        return TOOLS.get(str(params.get("name", "")).strip().lower(), "tool")
    if method == "fs":
        return "write" if str(params.get("op", "")).strip().lower() in FS_WRITES else "read"
    return method


class HostError(Exception):
    """The host answered with an error: code (denied, timeout, io, invalid_request, internal), reason, retryable."""

    def __init__(self, error):
        super().__init__(error.get("message", ""))
        self.code = error.get("code", "internal")
        self.details = error.get("details", {})
        self.reason = self.details.get("reason")
        self.retryable = error.get("retryable", False)


class Cancelled(Exception):
    """The call was cancelled: its result is no longer needed."""


class Call:
    """One tool call, command or hook, with the functions to call the host from it."""

    def __init__(self, ext, parent, context):
        self.ext, self.parent, self.context = ext, parent, context
        self.cancelled = threading.Event()
        self.waiting = set()  # queues of host calls, woken by a cancel

    def _open(self, method, params, timeout_ms, stream):
        if self.cancelled.is_set():
            raise Cancelled()
        params = {**params, "stream": stream} if stream else params
        call_id, answers = self.ext._expect()
        self.waiting.add(answers)
        payload = {"call_id": call_id, "capability": capability_of(method, params), "method": method,
                   "params": params, "context": {"parent": self.parent} if self.parent else {}}
        if timeout_ms:
            payload["timeout_ms"] = timeout_ms
        self.ext.send("host_call", payload, call_id)
        return call_id, answers

    def _close(self, call_id, answers):
        self.waiting.discard(answers)
        self.ext.expected.pop(call_id, None)

    def _next(self, answers):
        answer = answers.get()
        if answer is None:
            raise Cancelled()
        if answer["is_error"]:
            raise HostError(answer["error"])
        return answer

    def host(self, method, params, timeout_ms=0):
        """Calls the host and waits for the output."""
        call_id, answers = self._open(method, params, timeout_ms, None)
        try:
            return self._next(answers)["output"]
        finally:
            self._close(call_id, answers)

    def stream(self, method, params, timeout_ms=0, credits=16):
        """Yields the chunks of a call; each one that is used requests one more."""
        call_id, answers = self._open(method, params, timeout_ms, {"credits": credits})
        try:
            while True:
                answer = self._next(answers)
                yield answer["output"]
                if answer.get("chunk", {}).get("is_last", True):
                    return
                self.ext.hook_frame("stream.credit", {"call_id": call_id, "credits": 1})
        finally:
            self._close(call_id, answers)

    def progress(self, text):
        """Shows the progress of a tool; each call replaces the text before."""
        self.ext.hook_frame("tool_execution_update",
                            {"call_id": self.parent, "content": [{"type": "text", "text": text}]})

    def tool(self, name, **input):
        return self.host("tool", {"name": name, "input": input})

    def fs(self, op, path, **more):
        return self.host("fs", {"op": op, "path": path, **more})

    def exec(self, cmd, *args, **options):
        return self.host("exec", {"cmd": cmd, "args": list(args), "options": options})

    def http(self, url, method="GET", headers=None, body=None, **more):
        params = {"url": url, "method": method, "headers": headers or {}, **more}
        return self.host("http", {**params, "body": body} if body is not None else params)

    def env(self, *names):
        return self.host("env", {"names": list(names)})["values"]

    def ask(self, title, options=None, message=None, **more):
        """Asks the person: one of options, yes or no (with a message), or a text. None: dismissed."""
        op, more = (("select", {**more, "options": options}) if options is not None else
                    ("confirm", {**more, "message": message}) if message is not None else ("input", more))
        answer = self.host("ui", {"op": op, "title": title, **more})
        return None if answer.get("dismissed") else answer.get("value")


def missing(call, *_):
    raise LookupError("the extension has nothing of this name")


class Extension:
    def __init__(self, manifest=None):
        """manifest: the object of extension.json; without it the file in the program's directory is read."""
        if manifest is None:
            with open(os.path.join(os.path.dirname(os.path.abspath(sys.argv[0])), "extension.json"),
                      encoding="utf-8") as file:
                manifest = json.load(file)
        self.manifest = manifest
        self.tools, self.commands, self.hooks, self.calls, self.expected = {}, {}, {}, {}, {}
        self.lock, self.n_sent = threading.Lock(), 0
        self.ready = None  # data of extension.ready

    # --- declarations -----------------------------------------------------------------------

    def tool(self, name, description, parameters=None, **more):
        definition = {"name": name, "description": description,
                      "parameters": parameters or {"type": "object"}, **more}
        return lambda handler: self.tools.__setitem__(name, (definition, handler)) or handler

    def command(self, name, description=""):
        return lambda handler: self.commands.__setitem__(
            name, ({"name": name, "description": description}, handler)) or handler

    def hook(self, *events):
        """handler(call, data, event) returns the answer, or None. "tool_call:bash", "tool_call!" …"""
        return lambda handler: self.hooks.update(dict.fromkeys(events, handler)) or handler

    def log(self, level, message, event="log", **data):
        self.send("log", {"schema": "pi.ext.log.v1", "level": level, "event": event, "message": message,
                          "ts": datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
                          "correlation": {"extension_id": self.manifest["extension_id"], "scenario_id": "runtime"},
                          "source": {"component": "extension"}, **({"data": data} if data else {})})

    # --- frames ------------------------------------------------------------------------------

    def send(self, type, payload, id=None):
        with self.lock:
            if id is None:
                self.n_sent += 1
                id = f"x{self.n_sent}"
            line = json.dumps({"id": id, "version": "1.0", "type": type, "payload": payload}, ensure_ascii=False)
            self.out.write(line.encode("utf-8", "replace") + b"\n")
            self.out.flush()

    def hook_frame(self, event, data, id=None):
        self.send("event_hook", {"event": event, "data": data}, id)

    def register(self):
        """Sends the registration. run() calls it; call it again after tools or hooks have changed."""
        keep = ("name", "version", "api_version", "capabilities", "capability_manifest")
        self.send("register", {**{key: self.manifest[key] for key in keep if key in self.manifest},
                               "tools": [definition for definition, _ in self.tools.values()],
                               "slash_commands": [definition for definition, _ in self.commands.values()],
                               "event_hooks": list(self.hooks)}, "register")

    def run(self, socket=None):
        """Serves until the host ends it. With a socket (parley_ext_socket.py): returns its close code and reason."""
        self.out, sys.stdout = (socket, sys.stdout) if socket else (sys.stdout.buffer, sys.stderr)
        self.register()
        for line in socket or sys.stdin.buffer:
            frame = json.loads(line)
            take = getattr(self, "_on_" + frame["type"], None)
            if take:
                take(frame["id"], frame["payload"])
            if socket and frame["payload"].get("event") == "shutdown":
                socket.close()
        if socket:
            return socket.code, socket.reason
        os._exit(0)  # the host has closed the pipe; waiting threads will get no answer

    def _expect(self):
        with self.lock:
            self.n_sent += 1
            call_id, answers = f"h{self.n_sent}", queue.SimpleQueue()
            self.expected[call_id] = answers
        return call_id, answers

    def _start(self, key, call, work):
        def run():
            try:
                work(call)
            except Cancelled:
                pass
            finally:
                self.calls.pop(key, None)
        self.calls[key] = call
        threading.Thread(target=run, daemon=True).start()

    def _answer(self, call, handler, *args):
        """Returns the output of a handler, and whether it is an error."""
        try:
            result = handler(call, *args)
        except Cancelled:
            raise
        except Exception as error:
            if handler is not missing:
                traceback.print_exc()
            return {"text": str(error) or type(error).__name__}, True
        if isinstance(result, list):
            return {"content": result}, False
        return (result if isinstance(result, dict) else {"text": "" if result is None else str(result)}), False

    def _on_tool_call(self, id, payload):
        def work(call):
            output, is_error = self._answer(call, handler, payload["input"])
            self.send("tool_result", {"call_id": payload["call_id"], "output": output, "is_error": is_error}, id)
        handler = self.tools.get(payload["name"], (None, missing))[1]
        self._start(payload["call_id"], Call(self, payload["call_id"], payload.get("context", {})), work)

    def _on_slash_command(self, id, payload):
        def work(call):
            output, is_error = self._answer(call, handler, payload.get("args", []), payload.get("input", {}))
            self.send("slash_result", {"output": output, "is_error": is_error}, id)
        handler = self.commands.get(payload["name"], (None, missing))[1]
        self._start(id, Call(self, id, payload.get("input", {})), work)

    def _on_event_hook(self, id, payload):
        event, data = payload["event"], payload.get("data", {})
        if event == "cancel":
            call = self.calls.get(data.get("call_id"))
            for answers in list(call.waiting) if call and not call.cancelled.set() else ():
                answers.put(None)
            return
        name = data.get("tool_name", data.get("topic", ""))
        handlers = [handler for key, handler in self.hooks.items() if matches(key, event, name)]
        if not handlers:
            return

        def work(call):
            answer = {}
            try:
                for handler in handlers:
                    answer.update(handler(call, data, event) or {})
            except Exception as error:
                traceback.print_exc()
                return self.send("error", {"code": "internal", "message": str(error)}, id)
            self.hook_frame(event, answer, id)
        self._start(id, Call(self, id, data), work)

    def _on_host_result(self, id, payload):
        answers = self.expected.get(payload["call_id"])
        if answers:
            answers.put(payload)

    def _on_log(self, id, payload):
        if payload["event"] == "extension.ready":
            self.ready = payload.get("data", {})

    def _on_error(self, id, payload):
        print(f"the host refused a frame: {payload['code']}: {payload['message']}", file=sys.stderr, flush=True)


def matches(subscription, event, name):
    """Whether a subscription (NAME, NAME!, NAME:GLOB or NAME!:GLOB) matches an event."""
    head, _, glob = subscription.partition(":")
    if head == "bus":
        return event == subscription
    return head.rstrip("!") == event and (not glob or fnmatchcase(name, glob))
