#!/usr/bin/env python3
"""Processor time of one request through the gateway, and through nginx as a proxy, in one run.

    python3 bench/gateway_cost.py --build build [--only TEXT] [--seconds 2] [--rounds 5]

run.py includes the figures; alone it prints one JSON line per figure to stdout and the comparison
with the targets to stderr. The requests are those of agents: 60 KB in 200 messages over 32
connections, and a picture of 4 MB. The time is that of all threads of the server's process (user and
system), divided by the number of answered requests: it can be compared on a busy machine, a
throughput cannot. The servers take turns in each round, and each figure is the median of its
rounds. The model server reads every body completely before it answers, as models do.
"""
import argparse
import contextlib
import json
import pathlib
import shutil
import statistics
import sys

sys.dont_write_bytecode = True
import gateway_figures as figures  # noqa: E402
import make_corpora  # noqa: E402
from server_figures import show  # noqa: E402

N_MESSAGES, RESULT_CHARS, WORDS_CHARS = 200, 100, 60
# name (also of the body), connections, limits as multiples of nginx's time: same dialect, translated
LOADS = (("agent", 32, 1.2, 2.0), ("picture", 4, 1.5, 1.5))

# Reads the whole body, then requests the answer from the file server without it.
READER = ("location / { proxy_pass http://models; proxy_http_version 1.1; proxy_set_header Connection \"\"; "
          "proxy_method GET; proxy_pass_request_body off; proxy_set_header Content-Length \"\"; }")


def agent():
    """An agent's request: 200 messages, most of them tool calls and their results, 60 KB."""
    made = make_corpora.Agent()
    while len(made.messages) < N_MESSAGES:
        made.step()
    made.messages = made.messages[:N_MESSAGES]
    for message in made.messages:
        length = RESULT_CHARS if message["role"] == "tool" else WORDS_CHARS
        message["content"] = message["content"][:length]
    return made.request()


def picture():
    """A picture of 4 MB in base64."""
    url = "data:image/png;base64," + "iVBORw0K" * (figures.N_IMAGE_BYTES // 8)
    return {"model": "m", "max_tokens": 256, "messages": [
        {"role": "user", "content": [{"type": "text", "text": "What is this?"},
                                     {"type": "image_url", "image_url": {"url": url}}]}]}


BODIES = {"agent": agent, "picture": picture}


def measure_load(name, connections, wanted, servers, rounds, seconds):
    """Measures the servers in turns; yields a line with the median of each."""
    taken = {key: [] for key in servers}
    for _ in range(rounds):
        for key, (server, body) in servers.items():
            taken[key].append(figures.wrk(server, body, connections, seconds))
    for (kind, impl), lines in taken.items():
        cpus = sorted(line["cpu_ns_per_op"] / 1000 for line in lines)
        line = {"name": f"gateway.cost.{name}.{kind}", "impl": impl, "connections": connections,
                "cpu_us": round(statistics.median(cpus), 1), "cpu_us_rounds": [round(cpu, 1) for cpu in cpus],
                "per_second": round(statistics.median(line["per_second"] for line in lines)),
                "ops": sum(line["ops"] for line in lines)}
        if impl == "parley":
            peer = statistics.median(line["cpu_ns_per_op"] / 1000 for line in taken[kind, "nginx"])
            line |= {"times_nginx": round(line["cpu_us"] / peer, 2), "wanted_at_most": wanted[kind]}
        yield line


def servers_of(name, ours, proxy, upstream):
    """Returns {(kind, impl): (gateway, request body)}."""
    request = BODIES[name]()
    made = {}
    for kind, is_same in (("same", True), ("translated", False)):
        asked = dict(figures.gateways("plain", is_same, ours, {"nginx": proxy}, upstream))
        for impl in ("nginx", "parley"):
            body = make_corpora.minified(request | {"model": asked[impl].model}).decode()
            made[kind, impl] = asked[impl], body
    return made


def measure(build, only="", seconds=2, rounds=5):
    """Yields the lines of the figures with `only` in their name."""
    wanted = [load for load in LOADS if only in f"gateway.cost.{load[0]}"]
    if not wanted:
        return
    missing = [program for program in ("wrk", "nginx") if not shutil.which(program)]
    if missing:
        yield {"name": "gateway.cost", "impl": "parley", "skipped": f"{missing[0]} is not installed"}
        return
    with contextlib.ExitStack() as stack:
        files = stack.enter_context(figures.nginx("", figures.FILES, figures.answers()))
        upstream = stack.enter_context(figures.nginx(figures.PROXY_HTTP.format(port=files[0]), READER))
        proxy = stack.enter_context(figures.nginx(figures.PROXY_HTTP.format(port=upstream[0]),
                                                  figures.PROXY.format(buffering="on")))
        ours = stack.enter_context(figures.parley(build, upstream[0]))
        for name, connections, same, translated in wanted:
            yield from measure_load(name, connections, {"same": same, "translated": translated},
                                    servers_of(name, ours, proxy, upstream), rounds, seconds)


def rows(lines):
    """Yields the comparison with the targets: what, ours, peer, theirs, factor, wanted, verdict."""
    by_key = {(line["name"], line["impl"]): line for line in lines}
    for (name, impl), line in by_key.items():
        if impl != "parley" or "wanted_at_most" not in line:
            continue
        theirs, most = by_key[name, "nginx"]["cpu_us"], line["wanted_at_most"]
        yield {"what": f"{name}, cpu us", "ours": line["cpu_us"], "peer": "nginx", "theirs": theirs,
               "factor": round(theirs / line["cpu_us"], 2), "wanted": round(1 / most, 2),
               "verdict": "ok" if line["cpu_us"] <= most * theirs else "MISS"}


def main():
    options = argparse.ArgumentParser(description="Measure the processor time of the gateway's requests.")
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), metavar="DIR")
    options.add_argument("--only", default="", metavar="TEXT", help="figures whose name contains it")
    options.add_argument("--seconds", type=int, default=2, help="of each server in each round")
    options.add_argument("--rounds", type=int, default=5)
    asked = options.parse_args()
    lines = []
    for line in measure(asked.build.resolve(), asked.only, asked.seconds, asked.rounds):
        print(json.dumps(line, separators=(",", ":")), flush=True)
        lines.append(line)
    show(list(rows(lines)), sys.stderr)


if __name__ == "__main__":
    main()
