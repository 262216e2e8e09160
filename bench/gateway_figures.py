#!/usr/bin/env python3
"""The figures of the gateway: ours, the npm Portkey gateway and nginx as a plain proxy, in front of
the same model server, in one run.

    python3 bench/gateway_figures.py --build build [--only TEXT] [--seconds 3]

run.py includes them; alone it prints one JSON line per figure to stdout and the comparison with the
targets to stderr. The model server is another nginx with fixed answers, so that it does not limit
the figures; "direct" calls it without a gateway. wrk measures the latencies; the latency that a
gateway adds is its median minus the median of "direct". nginx forwards bytes without translation: it
is the lower bound.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from server_figures import (Missing, Parley, cpu_seconds, free_port, process, resident_bytes,  # noqa: E402
                            show, worker_of)

BENCH = pathlib.Path(__file__).resolve().parent
PORTKEY = BENCH / "node_modules" / "@portkey-ai" / "gateway" / "build" / "start-server.js"
CONNECTIONS = (1, 32, 256)
N_EVENTS, N_LONG, N_IMAGE_BYTES, N_IMAGES = 40, 200_000, 4 << 20, 15
TEXT = "The quick brown fox jumps over the lazy dog. " * 4
UPSTREAM_KEY = "sk-upstream"

# One directory per kind of answer. nginx answers a POST to a file with 405, so error_page returns the file.
UPSTREAM = """daemon off; worker_processes 1; pid {dir}/nginx.pid; error_log {dir}/error.log;
events {{ worker_connections 4096; }}
http {{
  access_log off; keepalive_requests 1000000000; default_type application/json; tcp_nodelay on;
  open_file_cache max=64; client_max_body_size 64m; client_body_buffer_size 64m;
  client_body_temp_path {dir}; proxy_temp_path {dir}; fastcgi_temp_path {dir};
  uwsgi_temp_path {dir}; scgi_temp_path {dir};
  {http}
  server {{ listen 127.0.0.1:{port} backlog=1024; root {dir}/www; {server} }}
}}
"""
FILES = "types { } error_page 405 =200 $uri; location ~ ^/(stream|long)/ { default_type text/event-stream; error_page 405 =200 $uri; }"
PROXY_HTTP = "upstream models {{ server 127.0.0.1:{port}; keepalive 512; keepalive_requests 1000000000; }}"
PROXY = ("location / {{ proxy_pass http://models; proxy_http_version 1.1; proxy_set_header Connection \"\"; "
         "proxy_buffering {buffering}; }}")


# --- the model server --------------------------------------------------------------------------

def event(data, name=None):
    text = data if isinstance(data, str) else json.dumps(data, separators=(",", ":"))
    return (f"event: {name}\n" if name else "") + f"data: {text}\n\n"


def chat_answer():
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": 1790000000, "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": TEXT, "refusal": None},
                         "logprobs": None, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 40, "total_tokens": 60}}


def anthropic_answer():
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": "m",
            "content": [{"type": "text", "text": TEXT}], "stop_reason": "end_turn", "stop_sequence": None,
            "usage": {"input_tokens": 20, "output_tokens": 40}}


def chat_stream(n):
    def chunk(delta, finish=None):
        return event({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1790000000, "model": "m",
                      "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    return "".join([chunk({"role": "assistant", "content": ""}), *(chunk({"content": f" word{i % 10}"}) for i in range(n)),
                    chunk({}, "stop"), event("[DONE]")])


def anthropic_stream(n):
    def say(data):
        return event(data, data["type"])
    return "".join([
        say({"type": "message_start", "message": anthropic_answer() | {"content": [], "stop_reason": None}}),
        say({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        *(say({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": f" word{i % 10}"}})
          for i in range(n)),
        say({"type": "content_block_stop", "index": 0}),
        say({"type": "message_delta", "delta": {"stop_reason": "end_turn", "stop_sequence": None},
             "usage": {"output_tokens": 40}}),
        say({"type": "message_stop"})])


def answers():
    """Yields the path of each file below the root, and its text."""
    yield "plain/v1/chat/completions", json.dumps(chat_answer(), separators=(",", ":"))
    yield "plain/v1/messages", json.dumps(anthropic_answer(), separators=(",", ":"))
    for kind, n in (("stream", N_EVENTS), ("long", N_LONG)):
        yield f"{kind}/v1/chat/completions", chat_stream(n)
        yield f"{kind}/v1/messages", anthropic_stream(n)


@contextlib.contextmanager
def nginx(http, server, files=()):
    if not shutil.which("nginx"):
        raise Missing("nginx is not installed")
    with tempfile.TemporaryDirectory() as where:
        os.chmod(where, 0o755)
        port = free_port()
        for path, text in files:
            place = pathlib.Path(where) / "www" / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        config = pathlib.Path(where) / "nginx.conf"
        config.write_text(UPSTREAM.format(dir=where, port=port, http=http, server=server))
        with process(["nginx", "-c", config]) as child:
            time.sleep(0.3)
            yield port, worker_of(child.pid)


# --- the measured servers ----------------------------------------------------------------------

class Gateway:
    """A measured server: its port and process, the headers and path of requests, and its name of the model."""

    def __init__(self, port, pid, headers=None, path="/v1/chat/completions", model="m"):
        self.port, self.pid, self.headers, self.path, self.model = port, pid, headers or {}, path, model


def parley_config(port):
    lines = ["probe: false", "providers:"]
    for place in ("plain", "stream", "long"):
        for dialect in ("openai-chat", "anthropic"):
            lines += [f"  {place}-{dialect}:", f"    dialect: {dialect}",
                      f"    base_url: http://127.0.0.1:{port}/{place}/v1", "    key_env: UPSTREAM_KEY"]
    return "\n".join(lines) + "\n"


@contextlib.contextmanager
def parley(build, upstream):
    with tempfile.TemporaryDirectory() as home:
        (pathlib.Path(home) / "parley").mkdir()
        (pathlib.Path(home) / "parley" / "config.yaml").write_text(parley_config(upstream))
        env = os.environ | {"XDG_CONFIG_HOME": home, "UPSTREAM_KEY": UPSTREAM_KEY}
        with process([build / "parley", "serve", "--port", "0", "--data", home + "/data", "--shards", "1",
                      "--log-level", "error"], stdout=subprocess.PIPE, env=env) as child:
            yield Parley(child, [child.stdout.readline() for _ in range(4)])


@contextlib.contextmanager
def portkey():
    if not PORTKEY.is_file():
        raise Missing("npm ci was not run in bench/")
    port = free_port()
    with process(["node", PORTKEY, f"--port={port}", "--headless"], stdout=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL, env=os.environ | {"NODE_ENV": "production"}) as child:
        for _ in range(200):
            time.sleep(0.05)
            if subprocess.run(["curl", "-s", "-o", "/dev/null", f"http://127.0.0.1:{port}/"]).returncode == 0:
                break
        yield port, child.pid


def gateways(kind, is_same, ours, peers, upstream):
    """Yields the name and Gateway of each server that supports this kind of call (plain, stream, long)."""
    dialect = "openai-chat" if is_same else "anthropic"
    path = f"/{kind}/v1/chat/completions" if is_same else f"/{kind}/v1/messages"
    yield "direct", Gateway(upstream[0], upstream[1], path=path)
    yield "parley", Gateway(ours.port, ours.pid, {"authorization": f"Bearer {ours.key}"},
                            model=f"{kind}-{dialect}/m")
    if "nginx" in peers and kind != "long":
        yield "nginx", Gateway(*peers["nginx-stream" if kind == "stream" else "nginx"], path=path)
    if "portkey" in peers:
        provider = "openai" if is_same else "anthropic"
        yield "portkey", Gateway(*peers["portkey"], headers={
            "authorization": f"Bearer {UPSTREAM_KEY}", "x-portkey-provider": provider,
            "x-portkey-custom-host": f"http://127.0.0.1:{upstream[0]}/{kind}/v1"})


def body_of(gateway, is_stream, content="Say something about foxes."):
    return json.dumps({"model": gateway.model, "max_tokens": 256, "messages": [{"role": "user", "content": content}]} |
                      ({"stream": True} if is_stream else {}))


# --- measuring ---------------------------------------------------------------------------------

LUA = """wrk.method = "POST"
wrk.body = [==[{body}]==]
{headers}
done = function(summary, latency, requests)
  io.write(string.format("RESULT %d %d %d %d %d\\n", summary.requests, summary.duration,
    latency:percentile(50), latency:percentile(99),
    summary.errors.status + summary.errors.connect + summary.errors.read + summary.errors.timeout))
end
"""


def wrk(gateway, body, connections, seconds):
    headers = {"content-type": "application/json"} | gateway.headers
    with tempfile.NamedTemporaryFile("w", suffix=".lua") as script:
        script.write(LUA.format(body=body, headers="\n".join(
            f'wrk.headers["{name}"] = "{value}"' for name, value in headers.items())))
        script.flush()
        cpu = cpu_seconds(gateway.pid)
        done = subprocess.run(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "-s", script.name,
                               f"http://127.0.0.1:{gateway.port}{gateway.path}"],
                              capture_output=True, text=True, check=True).stdout
        cpu = cpu_seconds(gateway.pid) - cpu
    n, micros, p50, p99, errors = map(int, next(line for line in done.splitlines()
                                                if line.startswith("RESULT")).split()[1:])
    if not n or errors:
        raise RuntimeError(f"{errors} of {n} requests failed")
    return {"per_second": round(n / micros * 1e6), "p50_us": p50, "p99_us": p99, "ops": n,
            "cpu_ns_per_op": round(cpu * 1e9 / n)}


def load(ours, peers, upstream, seconds):
    for kind in ("plain", "stream"):
        for is_same in (True, False):
            name = f"gateway.{'chunks' if kind == 'stream' else 'whole'}.{'same' if is_same else 'translated'}"
            asked = dict(gateways(kind, is_same, ours, peers, upstream))
            for connections in CONNECTIONS:
                direct = None
                for impl, gateway in asked.items():
                    line = {"name": f"{name}.{connections}", "impl": impl, "connections": connections}
                    try:
                        line |= wrk(gateway, body_of(gateway, kind == "stream"), connections, seconds)
                    except RuntimeError as failure:
                        yield line | {"skipped": str(failure)}
                        continue
                    direct = line if impl == "direct" else direct
                    if direct and impl != "direct":
                        line |= {"added_p50_us": line["p50_us"] - direct["p50_us"],
                                 "added_p99_us": line["p99_us"] - direct["p99_us"]}
                    yield line


def curl(gateway, path_of_body):
    """Sends a request and discards the answer; returns the seconds."""
    command = ["curl", "-s", "-o", "/dev/null", "-w", "%{time_total} %{http_code}", "-H", "content-type: application/json",
               "-H", "expect:", "--data-binary", f"@{path_of_body}"]
    for name, value in gateway.headers.items():
        command += ["-H", f"{name}: {value}"]
    done = subprocess.run(command + [f"http://127.0.0.1:{gateway.port}{gateway.path}"], capture_output=True, text=True)
    seconds, status = done.stdout.split()
    if status != "200":
        raise RuntimeError(f"it answered {status}")
    return float(seconds)


def timed(gateway, body, rounds):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(body)
        file.flush()
        cpu = cpu_seconds(gateway.pid)
        seconds = sorted(curl(gateway, file.name) for _ in range(rounds))
        return seconds, cpu_seconds(gateway.pid) - cpu


def deltas(ours, peers, upstream, _):
    for is_same in (True, False):
        for impl, gateway in gateways("long", is_same, ours, peers, upstream):
            line = {"name": f"gateway.deltas.{'same' if is_same else 'translated'}", "impl": impl}
            try:
                seconds, cpu = timed(gateway, body_of(gateway, True), 1 if impl == "portkey" else 3)
                yield line | {"per_second": round(N_LONG / seconds[0]), "ops": N_LONG,
                              "cpu_ns_per_op": round(cpu * 1e9 / N_LONG / (1 if impl == "portkey" else 3), 1)}
            except RuntimeError as failure:
                yield line | {"skipped": str(failure)}


def image(ours, peers, upstream, _):
    content = [{"type": "text", "text": "What is this?"},
               {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "iVBORw0K" * (N_IMAGE_BYTES // 8)}}]
    for is_same in (True, False):
        for impl, gateway in gateways("plain", is_same, ours, peers, upstream):
            line = {"name": f"gateway.image.{'same' if is_same else 'translated'}", "impl": impl}
            try:
                seconds, cpu = timed(gateway, body_of(gateway, False, content), N_IMAGES)
                yield line | {"ms": round(seconds[0] * 1000, 2), "median_ms": round(seconds[N_IMAGES // 2] * 1000, 2),
                              "cpu_ms": round(cpu * 1000 / N_IMAGES, 2)}
            except RuntimeError as failure:
                yield line | {"skipped": str(failure)}


def memory(ours, peers, *_):
    yield {"name": "gateway.memory", "impl": "parley", "resident_mb": round(resident_bytes(ours.pid) / 2**20, 1)}
    if "portkey" in peers:
        yield {"name": "gateway.memory", "impl": "portkey",
               "resident_mb": round(resident_bytes(peers["portkey"][1]) / 2**20, 1)}


FIGURES = {"gateway.load": load, "gateway.deltas": deltas, "gateway.image": image, "gateway.memory": memory}


def measure(build, only="", seconds=3):
    """Yields the lines of the figures with `only` in their name."""
    wanted = [figure for name, figure in FIGURES.items() if only in name]
    if not wanted:
        return
    missing = [program for program in ("wrk", "curl", "nginx") if not shutil.which(program)]
    if missing:
        yield {"name": "gateway", "impl": "parley", "skipped": f"{missing[0]} is not installed"}
        return
    with contextlib.ExitStack() as stack:
        upstream = stack.enter_context(nginx("", FILES, answers()))
        ours = stack.enter_context(parley(build, upstream[0]))
        peers = {}
        for name, buffering in (("nginx", "on"), ("nginx-stream", "off")):
            peers[name] = stack.enter_context(nginx(PROXY_HTTP.format(port=upstream[0]),
                                                    PROXY.format(buffering=buffering)))
        try:
            peers["portkey"] = stack.enter_context(portkey())
        except Missing as reason:
            yield {"name": "gateway", "impl": "portkey", "skipped": str(reason)}
        for figure in wanted:
            yield from figure(ours, peers, upstream, seconds)


# --- targets -----------------------------------------------------------------------------------

def rows(lines):
    """Yields the comparison with the targets: what, ours, peer, theirs, factor, wanted, verdict."""
    by_key = {(line["name"], line["impl"]): line for line in lines}

    def row(what, name, field, peer, wanted, fixed=None, is_less_better=False):
        ours = by_key.get((name, "parley"), {}).get(field)
        theirs = fixed if fixed is not None else by_key.get((name, peer), {}).get(field)
        if ours is None:
            return
        factor = None
        if ours and theirs:
            factor = theirs / ours if is_less_better else ours / theirs
        verdict = "not measured" if factor is None else "ok" if factor >= wanted else "MISS"
        yield {"what": what, "ours": ours, "peer": peer, "theirs": theirs, "factor": factor and round(factor, 2),
               "wanted": wanted, "verdict": verdict}

    for connections in CONNECTIONS[1:]:
        yield from row(f"gateway, translated, {connections} connections, /s", f"gateway.whole.translated.{connections}",
                       "per_second", "nginx", 0.5)
        yield from row(f"gateway, translated, {connections} connections, /s", f"gateway.whole.translated.{connections}",
                       "per_second", "portkey", 15)
    yield from row("gateway, added median at one connection, us", "gateway.whole.translated.1", "added_p50_us", "nginx",
                   1 / 1.5, is_less_better=True)
    yield from row("gateway, translated stream, deltas/s", "gateway.deltas.translated", "per_second", "1 million", 1,
                   fixed=1e6)
    yield from row("gateway, 4 MB image, ms", "gateway.image.translated", "ms", "direct", 1 / 3, is_less_better=True)
    yield from row("gateway, memory, MB", "gateway.memory", "resident_mb", "50 MB", 1, fixed=50, is_less_better=True)


def main():
    options = argparse.ArgumentParser(description="Run the benchmarks of the gateway.")
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), metavar="DIR")
    options.add_argument("--only", default="", metavar="TEXT", help="figures whose name contains it")
    options.add_argument("--seconds", type=int, default=3, help="of each load")
    asked = options.parse_args()
    lines = []
    for line in measure(asked.build.resolve(), asked.only, asked.seconds):
        print(json.dumps(line, separators=(",", ":")), flush=True)
        lines.append(line)
    show(list(rows(lines)), sys.stderr)


if __name__ == "__main__":
    main()
