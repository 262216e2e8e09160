#!/usr/bin/env python3
"""Runs every figure, ours and the peers', and compares them with the targets.

    python3 bench/run.py --build build

The build directory contains parley-bench and, if configured with -Dbench_peers=true, the native
peers. Prints one JSON line per figure to stdout and the comparison to stderr, and writes both to
BUILD/bench.json.

Figures run one at a time, ours next to its peers, in several rounds, so that other activity of the
machine affects all of them equally. Each implementation keeps its best round: noise only adds time.
An unavailable peer gets a line with "skipped" and the reason. The exit code is 0 unless our own
program fails: a figure is not a test.
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys

sys.dont_write_bytecode = True
import gateway_cost  # noqa: E402
import cell_figures  # noqa: E402
import cluster_figures  # noqa: E402
import ext_figures  # noqa: E402
import gateway_figures  # noqa: E402
import hostile_figures  # noqa: E402
import make_corpora  # noqa: E402 (no cache files in the source tree)
import server_figures  # noqa: E402
import token_texts  # noqa: E402
import trim_histories  # noqa: E402

BENCH = pathlib.Path(__file__).resolve().parent
SCHEMAS = BENCH.parent / "schemas"
TEXTS = ["chat-1k.json", "agent-60k.json", "images-4m.json"]
INSTANCES = ([("envelope", f"envelope-{size}.json") for size in ("eleven", "small")] +
             [("pi", f"pi-{kind}.json") for kind in make_corpora.PI_PAYLOADS])
SMALL_FRAME = "pi-tool_call.json"

NATIVE = {"parley": ("parley-bench", "parley-bench is not in the build directory"),
          "simdjson": ("bench/simdjson-peer", "not built: needs libsimdjson-dev, a C++ compiler and "
                                              "-Dbench_peers=true"),
          "json-c": ("bench/jsonc-peer", "not built: needs libjson-c-dev and -Dbench_peers=true")}
SCRIPTS = {"node": "node_peer.mjs", "ajv": "ajv_peer.mjs", "blaze": "blaze_peer.mjs",
           "llm-bridge": "convert_llm_bridge.mjs", "ai-sdk": "convert_ai_sdk.mjs",
           "tiktoken": "tokens_tiktoken.mjs", "gpt-tokenizer": "tokens_gpt_tokenizer.mjs",
           "ai-tokenizer": "tokens_ai_tokenizer.mjs"}
CONVERTERS = ["llm-bridge", "ai-sdk"]
CONVERSIONS = [("openai-chat", "anthropic"), ("anthropic", "gemini"), ("openai-chat", "openai-responses")]
STREAM_SCRIPTS = {"llm-bridge": "stream_llm_bridge.mjs"}
DIALECTS = ["openai-chat", "openai-responses", "anthropic", "gemini", "patches"]
STREAMS = [(source, target) for source in DIALECTS for target in DIALECTS]
N_DELTAS = 50_000
DELTAS_PER_S = 3e6
SERVER_FIGURES = (server_figures, gateway_figures, gateway_cost, hostile_figures, cell_figures, ext_figures, cluster_figures)
TOKENIZERS = ["tiktoken", "gpt-tokenizer", "ai-tokenizer"]


def source_of(text, source):
    """The file with the content of `text`, an openai-chat request, in another format."""
    return text if source == "openai-chat" else f"{source}-{text}"


def stream_peers(source, target):
    """The peers that convert one to the other. No peer supports patches; the same dialect is not a conversion."""
    return [] if source == target or "patches" in (source, target) else list(STREAM_SCRIPTS)


def chat_stream():
    """An answer of N_DELTAS pieces of text, as an openai-chat stream."""
    def chunk(choices, **more):
        event = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1790000000,
                 "model": "gpt-5", "choices": choices} | more
        return f"data: {json.dumps(event, ensure_ascii=False, separators=(',', ':'))}\n\n"

    def delta(value, finish=None):
        return chunk([{"index": 0, "delta": value, "finish_reason": finish}])

    words = [" the", " stream", " of", " words", ",", " 中文", " café", "\n"]
    return "".join([delta({"role": "assistant", "content": ""}),
                    *(delta({"content": words[i % len(words)]}) for i in range(N_DELTAS)),
                    delta({}, "stop"),
                    chunk([], usage={"prompt_tokens": 9, "completion_tokens": N_DELTAS,
                                     "total_tokens": 9 + N_DELTAS}),
                    "data: [DONE]\n\n"])


def plan():
    """Yields (figure, file, schema, implementations, whether rounds are repeated), in the order of the runs."""
    for text in TEXTS:
        yield "json.parse", text, None, ["parley", "simdjson", "json-c", "node"], True
        yield "json.roundtrip", text, None, ["parley", "simdjson", "json-c", "node"], True
        yield "json.roundtrip.reused", text, None, ["simdjson"], True
        yield "utf8.validate", text, None, ["parley", "simdjson"], False
        yield "memcpy", text, None, ["parley"], True
        for name in ("parse.scalar", "parse.avx2", "parse.avx512", "pretty", "canonical", "lenient"):
            yield "json." + name, text, None, ["parley"], False
    for schema, instance in INSTANCES:
        yield "schema.check", instance, schema, ["parley", "ajv", "blaze"], True
        yield "schema.parse_check", instance, schema, ["parley", "ajv"], instance == SMALL_FRAME
    for source, target in CONVERSIONS:
        for text in TEXTS:
            yield (f"convert.{source}.{target}", source_of(text, source), None,
                   ["parley"] + CONVERTERS, True)
            for name in ("bare", "home", "home_edited"):
                yield f"{name}.{source}.{target}", source_of(text, source), None, ["parley"], True
    for source, target in STREAMS:
        yield (f"stream.{source}.{target}", f"stream-{source}.sse", None,
               ["parley"] + stream_peers(source, target), True)
    for text in token_texts.NAMES:
        for name in ("tokens.count", "tokens.encode"):
            yield name, text, None, ["parley"] + TOKENIZERS, True
    yield "tokens.count", token_texts.LETTER, None, ["parley", "gpt-tokenizer", "ai-tokenizer"], False
    yield "tokens.create", token_texts.LETTER, None, ["parley"], True
    for history in trim_histories.NAMES:
        yield "conv.trim", history, None, ["parley"], True
    for schema in ("envelope", "pi"):
        yield "schema.compile", f"{schema}.json", None, ["parley"], False


class Runner:
    def __init__(self, build, seconds):
        self.build, self.seconds = build, seconds
        self.corpora = build / "corpora"
        make_corpora.write_all(self.corpora)
        token_texts.write_all(self.corpora)
        trim_histories.write_all(self.corpora)
        self.node_problem = install_node_peers()
        self.make_sources()
        self.make_streams()

    def make_sources(self):
        """Writes the requests in the other source formats, with our own converter."""
        for source in {source for source, _ in CONVERSIONS} - {"openai-chat"}:
            for text in TEXTS:
                with open(self.corpora / source_of(text, source), "wb") as out:
                    subprocess.run([str(self.build / "parley"), "convert", "--from", "openai-chat", "--to",
                                    source, str(self.corpora / text)], stdout=out, check=True)

    def make_streams(self):
        """Writes the same stream in every dialect, with our own converter."""
        first = self.corpora / "stream-openai-chat.sse"
        first.write_text(chat_stream(), encoding="utf-8")
        for target in DIALECTS[1:]:
            with open(self.corpora / f"stream-{target}.sse", "wb") as out:
                subprocess.run([str(self.build / "parley"), "stream", "--from", "openai-chat", "--to",
                                target, str(first)], stdout=out, check=True)

    def command(self, impl, name=""):
        """The command of an implementation for a figure, and why it is unavailable (or None)."""
        if impl in NATIVE:
            program, problem = NATIVE[impl]
            path = self.build / program
            return [str(path)], None if path.exists() else problem
        problem = None if impl == "node" and shutil.which("node") else self.node_problem
        scripts = STREAM_SCRIPTS if name.startswith("stream.") else SCRIPTS
        return ["node", str(BENCH / "peers" / scripts[impl])], problem

    def run(self, name, file, schema, impl):
        command, problem = self.command(impl, name)
        line = {"name": name, "impl": impl, "file": file}
        if problem:
            return line | {"skipped": problem}
        where = SCHEMAS if name == "schema.compile" else self.corpora
        command += [name, "--file", str(where / file), "--seconds", str(self.seconds)]
        if schema:
            command += ["--schema", str(SCHEMAS / f"{schema}.json")]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        except subprocess.TimeoutExpired:
            return line | {"skipped": "gave up after 120 s"}
        if done.returncode:
            reason = done.stderr.strip() or f"ended with {done.returncode}"
            return line | {"skipped": reason, "failed": True}
        return json.loads(done.stdout)


def install_node_peers():
    """Runs npm ci if the packages are missing or outdated. Returns the reason of a failure, or None."""
    if not shutil.which("node") or not shutil.which("npm"):
        return "Node.js or npm is not installed"
    installed, wanted = BENCH / "node_modules" / ".package-lock.json", BENCH / "package-lock.json"
    if installed.exists() and installed.stat().st_mtime >= wanted.stat().st_mtime:
        return None
    done = subprocess.run(["npm", "ci"], cwd=BENCH, capture_output=True, text=True)
    return None if done.returncode == 0 else f"npm ci failed: {done.stderr.strip()[-300:]}"


def better(old, new):
    if old is None or "ns_per_op" not in old:
        return new
    return new if new.get("ns_per_op", old["ns_per_op"]) < old["ns_per_op"] else old


def measure(runner, tasks, rounds):
    """Returns {(name, file, impl): best line}, in the order of the plan."""
    best = {}
    is_terminal = sys.stderr.isatty()
    for number in range(rounds):
        for name, file, schema, impls, is_repeated in tasks:
            if number and not is_repeated:
                continue
            for impl in impls:
                if is_terminal:
                    print(f"\r\033[Kround {number + 1}/{rounds}  {name} {file} {impl}", end="",
                          file=sys.stderr, flush=True)
                key = name, file, impl
                best[key] = better(best.get(key), runner.run(name, file, schema, impl))
    if is_terminal:
        print("\r\033[K", end="", file=sys.stderr)
    return best


class Targets:
    """The targets as rows: what, ours_ns, peer, peer_ns, factor, wanted, verdict."""

    def __init__(self, best):
        self.best, self.rows = best, []

    def ns(self, name, file, impl):
        return self.best.get((name, file, impl), {}).get("ns_per_op")

    def add(self, what, name, file, peer, peer_name, wanted):
        """`wanted` None: not a target, only for information. A figure that did not run has no row."""
        if (name, file, "parley") not in self.best:
            return
        ours = self.ns(name, file, "parley")
        factor = peer / ours if ours and peer else None
        verdict = ("not measured" if factor is None else "" if wanted is None else
                   "ok" if factor >= wanted else "MISS")
        self.rows.append({"what": what, "ours_ns": ours, "peer": peer_name, "peer_ns": peer,
                          "factor": factor and round(factor, 2), "wanted": wanted, "verdict": verdict})

    def against_simdjson(self):
        for text in TEXTS:
            self.add(f"parse {text}", "json.parse", text,
                     self.ns("json.parse", text, "simdjson"), "simdjson", 1)
        for text, wanted in zip(TEXTS, (2, 2, 6)):
            self.add(f"round trip {text}", "json.roundtrip", text,
                     self.ns("json.roundtrip", text, "simdjson"), "simdjson", wanted)
        for text in TEXTS:
            self.add(f"round trip {text}", "json.roundtrip", text,
                     self.ns("json.roundtrip.reused", text, "simdjson"), "simdjson, reused", None)

    def against_validators(self):
        for _, instance in INSTANCES:
            peers = {impl: self.ns("schema.check", instance, impl) for impl in ("ajv", "blaze")}
            peers = {impl: ns for impl, ns in peers.items() if ns}
            fastest = min(peers, key=peers.get, default="ajv, blaze")
            self.add(f"validate {instance}", "schema.check", instance,
                     peers.get(fastest), fastest, 2 if instance == "envelope-eleven.json" else 1)

    def against_converters(self):
        """With report and carry; without a carry; and the way home, compared with the conversion there."""
        for source, target in CONVERSIONS:
            for text, wanted, wanted_bare in zip(TEXTS, (8, 12, 60), (12, 20, 100)):
                pair, file = f"{source}.{target}", source_of(text, source)
                peers = {impl: self.ns(f"convert.{pair}", file, impl) for impl in CONVERTERS}
                peers = {impl: ns for impl, ns in peers.items() if ns}
                fastest = min(peers, key=peers.get, default=", ".join(CONVERTERS))
                there = self.ns(f"convert.{pair}", file, "parley")
                what = f"{source} > {target} {text[:-5]}"
                self.add(what, f"convert.{pair}", file, peers.get(fastest), fastest, wanted)
                self.add(f"{what}, no carry", f"bare.{pair}", file, peers.get(fastest), fastest, wanted_bare)
                self.add(f"{what}, home", f"home.{pair}", file, there, "the way there", 0.5)
                self.add(f"{what}, home, edited", f"home_edited.{pair}", file, there, "the way there", None)

    def against_tokenizers(self):
        for text in token_texts.NAMES:
            for name in ("tokens.count", "tokens.encode"):
                peers = {impl: self.ns(name, text, impl) for impl in TOKENIZERS}
                others = {impl: ns for impl, ns in peers.items() if ns and impl != "tiktoken"}
                fastest = min(others, key=others.get, default="ai-tokenizer")
                what = f"{name} {text}"
                self.add(what, name, text, others.get(fastest), fastest, 2)
                self.add(what, name, text, peers["tiktoken"], "tiktoken", 10)

    def against_the_clock(self):
        for source, target in STREAMS:
            self.add(f"{source} > {target} stream", f"stream.{source}.{target}", f"stream-{source}.sse",
                     N_DELTAS / DELTAS_PER_S * 1e9, "3 million/s", 1)
            for impl in stream_peers(source, target):
                name, file = f"stream.{source}.{target}", f"stream-{source}.sse"
                self.add(f"{source} > {target} stream", name, file, self.ns(name, file, impl), impl, None)
        self.add("tokens of 16 KB of one letter", "tokens.count", token_texts.LETTER, 5e6, "5 ms", 1)
        self.add("token vocabulary ready", "tokens.create", token_texts.LETTER, 20e6, "20 ms", 1)
        self.add(f"parse + validate {SMALL_FRAME}", "schema.parse_check", SMALL_FRAME, 1000.0, "1 us", 1)

    def against_itself(self):
        """Ten times the messages may take ten times the time, and twice that if they outgrow a cache."""
        for before, history in zip(trim_histories.NAMES, trim_histories.NAMES[1:]):
            shorter = self.ns("conv.trim", before, "parley")
            self.add(f"trim {history}", "conv.trim", history, shorter and shorter * 10,
                     f"10 x {before}", 0.5)

    def print(self):
        out = [f"{'':56}{'ours':>12}{'peer':>12}  {'':18}{'factor':>7}{'wanted':>8}"]
        for row in self.rows:
            wanted = "" if row["wanted"] is None else f">= {row['wanted']}"
            out.append(f"{row['what']:56}{duration(row['ours_ns']):>12}{duration(row['peer_ns']):>12}"
                       f"  {row['peer']:18}{row['factor'] or '-':>7}{wanted:>8}  {row['verdict']}")
        missed = [row["what"] for row in self.rows if row["verdict"] == "MISS"]
        unknown = [row["what"] for row in self.rows
                   if row["verdict"] == "not measured" and row["wanted"] is not None]
        for title, names in (("missed", missed), ("not measured", unknown)):
            if names:
                out.append(f"{len(names)} {title}: {', '.join(names)}")
        if self.rows and not missed and not unknown:
            out.append("Every target is met.")
        print("\n".join(out), file=sys.stderr)


def duration(ns):
    if ns is None:
        return "-"
    for unit, size in (("ms", 1e6), ("us", 1e3)):
        if ns >= size:
            return f"{ns / size:.2f} {unit}"
    return f"{ns:.1f} ns"


def machine():
    model = platform.processor() or platform.machine()
    try:
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return {"processor": model, "cores": os.cpu_count(), "system": platform.system(),
            "load": round(os.getloadavg()[0], 2)}


def measure_server(build, only, every=SERVER_FIGURES):
    """Measures the figures of the server, after all others: they need the disk and the cores. Each script compares
    only its own lines, because another script's lines have other members. Returns the lines and the rows of the
    comparison."""
    lines, rows = [], []
    for figures in every:
        own = []
        for line in figures.measure(build, only):
            print(json.dumps(line, ensure_ascii=False, separators=(",", ":")), flush=True)
            own.append(line)
        lines += own
        rows += figures.rows(own)
    return lines, rows


def main():
    options = argparse.ArgumentParser(description="Run the benchmarks and compare with the targets.")
    options.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build"), metavar="DIR")
    options.add_argument("--rounds", type=int, default=3)
    options.add_argument("--seconds", type=float, default=0.25, help="of timed work per figure and round")
    options.add_argument("--only", default="", metavar="TEXT", help="figures whose name or file contains it")
    options.add_argument("--out", type=pathlib.Path, metavar="FILE", help="instead of BUILD/bench.json")
    asked = options.parse_args()

    runner = Runner(asked.build.resolve(), asked.seconds)
    if runner.command("parley")[1]:
        sys.exit(f"bench: there is no {asked.build}/parley-bench; build it first (make bench does).")
    if machine()["load"] > 0.5:
        print(f"The machine is not idle (load {machine()['load']}): expect noise.", file=sys.stderr)
    tasks = [task for task in plan() if asked.only in task[0] or asked.only in task[1]]
    best = measure(runner, tasks, asked.rounds)
    for line in best.values():
        print(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    targets = Targets(best)
    targets.against_simdjson()
    targets.against_validators()
    targets.against_converters()
    targets.against_tokenizers()
    targets.against_the_clock()
    targets.against_itself()
    if targets.rows:
        targets.print()
    server_lines, server_rows = measure_server(asked.build.resolve(), asked.only)
    server_figures.show(server_rows, sys.stderr)
    result = {"machine": machine(), "figures": list(best.values()) + server_lines,
              "targets": targets.rows + server_rows}
    (asked.out or asked.build / "bench.json").write_text(
        json.dumps(result, ensure_ascii=False, indent=1) + "\n")
    wrong = [line for line in best.values()
             if line["impl"] == "parley" and ("failed" in line or line.get("valid") is False)]
    for line in wrong:
        print(f"bench: {line['name']} {line['file']}: {line.get('skipped', 'found invalid')}", file=sys.stderr)
    return 4 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
