#!/usr/bin/env python3
"""Writes the input files of the benchmarks: make_corpora.py DIR

The bytes are the same on every machine: all randomness has a fixed seed. The files have the form that
programs really send: minified, UTF-8 unescaped, arguments of tool calls as JSON in a string.

  chat-1k.json          a chat request with tools (1 KB)
  agent-60k.json        an agent at work: tool calls, code, test output, a quarter Chinese (60 KB)
  images-4m.json        a chat request with two images as base64 (4 MB)
  envelope-eleven.json  a message of each role, each of the eleven segment kinds once
  envelope-small.json   one message, one text
  pi-TYPE.json          one extension frame of each type
"""
import base64
import json
import pathlib
import random
import struct
import sys
import zlib

IMAGE_WIDTH = 1024
AGENT_BYTES = 60_000

ASK_TOOLS = [
    ("get_weather", "Current weather and forecast for a city",
     {"city": {"type": "string", "description": "City name, e.g. 杭州"},
      "days": {"type": "integer", "minimum": 1, "maximum": 7}}, ["city"]),
    ("search_docs", "Full-text search in the product documentation",
     {"query": {"type": "string"}, "limit": {"type": "integer", "default": 5}}, ["query"]),
]

AGENT_TOOLS = [
    ("read_file", "Read a file of the workspace",
     {"path": {"type": "string"}, "offset": {"type": "integer"}, "limit": {"type": "integer"}},
     ["path"]),
    ("edit_file", "Replace one exact text in a file",
     {"path": {"type": "string"}, "old_text": {"type": "string"}, "new_text": {"type": "string"}},
     ["path", "old_text", "new_text"]),
    ("run", "Run a shell command and return what it printed",
     {"command": {"type": "string"}, "timeout_ms": {"type": "integer", "minimum": 0}}, ["command"]),
]

MODULES = ["queue", "session", "scheduler", "ledger", "mailbox", "cursor", "lease", "quota"]
VERBS = ["claim", "release", "renew", "append", "replay", "drain", "compact", "restore"]

THOUGHTS = [
    "先看一下 {module} 模块的实现,确认 {verb} 在并发情况下是否会重复执行。日志里“{verb}_count”连续增加了两次,很可能是锁的范围太小。",
    "测试失败的原因找到了:{module}.{verb}() 在超时之后没有恢复旧的状态,下一次调用读到了过期的租约。需要把状态更新放到同一个事务里。",
    "现在修改代码。为了不影响其他调用者,保持函数签名不变,只在内部增加一次检查;同时补充一个回归测试,覆盖“第 {n} 次重试”的情形。",
    "重新运行全部测试。若仍有失败,就把 {module} 的调试日志打开,对比两次运行的差别,而不是继续猜测。",
    "文档也要同步更新:{verb} 现在是幂等的,重复调用会返回第一次的结果,错误码从 409 改为 200。请参考《接口约定》第 {n} 节。",
]

REQUESTS = [
    "请继续,把 {module} 的问题也一起处理掉,完成后告诉我改了哪些文件、为什么这样改。",
    "结果看起来不错。另外客户反馈说 {verb} 偶尔会花 {n} 秒以上,麻烦查一下是不是索引没有用上。",
]

CODE = '''"""{Module} operations. See docs/{module}.md, "Guarantees"."""
import logging
import time

log = logging.getLogger("svc.{module}")


class {Module}Error(Exception):
    """Raised when {verb} cannot be completed; str(e) is shown to the operator."""


def {verb}(store, key, *, owner, ttl_s={n}):
\t# 同一个 key 在同一时刻只能有一个持有者
\tdeadline = time.monotonic() + ttl_s
\twith store.transaction() as tx:
\t\trow = tx.one("SELECT \\"owner\\", expires FROM {module} WHERE key = ?", key)
\t\tif row and row["owner"] != owner and row["expires"] > time.time():
\t\t\traise {Module}Error(f"'{{key}}' is held by \\"{{row['owner']}}\\" until {{row['expires']:.0f}}")
\t\ttx.run("REPLACE INTO {module} (key, \\"owner\\", expires) VALUES (?, ?, ?)", key, owner, deadline)
\tlog.info("{verb} %s by %s\\n", key, owner)
\treturn {{"key": key, "owner": owner, "pattern": r"^[a-z0-9_\\-]{{1,64}}$"}}
'''

FAILURE = '''============================= test session starts ==============================
collected {n} items

tests/test_{module}.py ....F...                                            [100%]

=================================== FAILURES ===================================
__________________________ test_{verb}_is_idempotent ___________________________

    def test_{verb}_is_idempotent(store):
        first = {verb}(store, "job:\\u4efb\\u52a1-{n}", owner="w1")
>       assert {verb}(store, "job:{n}", owner="w1") == first
E       AssertionError: assert {{"key": "job:{n}"}} == {{"key": "job:任务-{n}"}}

tests/test_{module}.py:{n}: AssertionError
1 failed, 7 passed in 0.{n}s
'''

PASS = '''tests/test_{module}.py ........                                            [100%]

8 passed in 0.{n}s
{{"suite": "{module}", "passed": 8, "failed": 0, "耗时": "0.{n} 秒"}}
'''


def minified(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def tools(table):
    return [{"type": "function", "function": {
        "name": name, "description": text, "parameters": {
            "type": "object", "properties": properties, "required": required}}}
            for name, text, properties, required in table]


def chat():
    return {"model": "gpt-4o-mini", "temperature": 0.2, "max_tokens": 512, "stream": True,
            "messages": [
                {"role": "system", "content": "You are a helpful assistant. Answer in the user's "
                                              "language, in at most three sentences. Call a tool "
                                              "when facts may have changed; never invent numbers."},
                {"role": "user", "content": "周末想去杭州,\"西湖\"边天气怎么样?\nDo I need an umbrella?"}],
            "tools": tools(ASK_TOOLS), "tool_choice": "auto", "user": "u_7f3c2a19"}


class Agent:
    """A conversation that grows step by step: thought, tool call, result."""

    def __init__(self):
        self.random = random.Random(60)
        self.n_calls = 0
        self.messages = [
            {"role": "system", "content": "You are a careful software engineer.\n\nRules:\n"
                                          "- Read before you edit.\n- Run the tests after every "
                                          "change.\n- 用中文思考和回答,代码与注释保持原样。\n"},
            {"role": "user", "content": "线上的任务偶尔会被执行两次,请找出原因并修复。仓库在当前目录,"
                                        "测试用 `pytest -q` 运行。"}]

    def call(self, thought, name, arguments, result):
        self.n_calls += 1
        call_id = f"call_{self.random.getrandbits(96):024x}"
        self.messages.append({
            "role": "assistant", "content": thought,
            "tool_calls": [{"id": call_id, "type": "function", "function": {
                "name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}}]})
        self.messages.append({"role": "tool", "tool_call_id": call_id, "content": result})

    def step(self):
        module, verb = self.random.choice(MODULES), self.random.choice(VERBS)
        words = {"module": module, "Module": module.title(), "verb": verb,
                 "n": self.random.randrange(10, 99)}
        thought = [text.format(**words) for text in THOUGHTS]
        code = CODE.format(**words)
        lines = code.splitlines(keepends=True)
        path = f"src/svc/{module}.py"
        self.call(thought[0], "read_file", {"path": path, "offset": 0, "limit": 200}, code)
        self.call(thought[1], "edit_file",
                  {"path": path, "old_text": "".join(lines[14:16]),
                   "new_text": "".join(lines[14:16]) + '\t\tif row is None:\n\t\t\treturn None\n'},
                  json.dumps({"ok": True, "说明": "已替换 1 处,其余内容没有变化。", "path": path},
                             ensure_ascii=False, indent=2))
        self.call(thought[2] + thought[3], "run",
                  {"command": f'pytest -q tests/test_{module}.py -k "{verb}"', "timeout_ms": 60000},
                  self.random.choice([FAILURE, PASS]).format(**words))
        self.messages.append({"role": "assistant", "content": thought[4]})
        self.messages.append({"role": "user",
                              "content": self.random.choice(REQUESTS).format(**words)})

    def request(self):
        return {"model": "gpt-4o", "messages": self.messages, "tools": tools(AGENT_TOOLS),
                "parallel_tool_calls": False, "temperature": 0, "seed": 7}


def agent():
    made = Agent()
    while len(minified(made.request())) < AGENT_BYTES:
        made.step()
    return made.request()


def png(seed, height):
    """A noisy RGB picture. Its deflate blocks are stored, so no compressor decides its bytes."""
    noise = random.Random(seed)
    rows = b"".join(b"\0" + noise.randbytes(3 * IMAGE_WIDTH) for _ in range(height))
    blocks = [rows[i:i + 65535] for i in range(0, len(rows), 65535)]
    stored = b"".join(struct.pack("<BHH", i + 1 == len(blocks), len(block), len(block) ^ 0xFFFF) + block
                      for i, block in enumerate(blocks))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", IMAGE_WIDTH, height, 8, 2, 0, 0, 0)),
              (b"IDAT", b"\x78\x01" + stored + struct.pack(">I", zlib.adler32(rows))),
              (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks)


def images():
    def part(seed, height):
        data = base64.b64encode(png(seed, height)).decode()
        return {"type": "image_url", "image_url": {"url": "data:image/png;base64," + data,
                                                   "detail": "high"}}
    return {"model": "gpt-4o", "max_tokens": 1024, "messages": [
        {"role": "system", "content": "Compare pictures carefully and say what differs."},
        {"role": "user", "content": [
            {"type": "text", "text": "这两张截图有什么不同?\nPlease list \"before\" and \"after\"."},
            part(1, 570), part(2, 406)]}]}


def envelope(messages):
    return {"version": "1.0", "model": "gpt-4o", "messages": [
        {"id": f"msg_{i:02}", "role": role, "segments": segments, "timestamp": 1767225600000 + i * 1500}
        for i, (role, segments) in enumerate(messages)]}


TRACKING = "2025-12-30 已揽收\n2025-12-31 运输中\n2026-01-01 到达杭州转运中心\n" * 3


def envelope_eleven():
    return envelope([
        ("system", [
            {"kind": "system_prompt", "content": "你是一名严谨的客服助理。\nAnswer only from the documents.",
             "collapsed": True},
            {"kind": "static_var", "name": "current_date", "value": "2026-01-01", "description": "今天的日期"},
            {"kind": "memory", "description": "What is known about the user", "collapsed": True,
             "items": [{"title": "称呼", "content": "王女士"},
                       {"title": "Language", "content": "Prefers Chinese, reads English"}]},
            {"kind": "skills", "items": [{"name": "refund", "description": "Handle a refund end to end"}],
             "collapsed": True},
            {"kind": "tool_overview", "collapsed": False, "items": [
                {"name": "order_lookup", "description": "Find an order by its number",
                 "parameters": "order_id: string",
                 "schema": {"type": "object", "properties": {"order_id": {"type": "string"}},
                            "required": ["order_id"]}}]}]),
        ("user", [
            {"kind": "text", "content": "我的订单 A-20931 什么时候到?"},
            {"kind": "document", "fileName": "发票.pdf", "mimeType": "application/pdf",
             "snippet": "Invoice A-20931 …", "sizeBytes": 48213, "parsedContent": "Invoice A-20931, 2 items"},
            {"kind": "media", "mediaType": "image", "url": "https://example.com/parcel.jpg",
             "altText": "A damaged parcel"}]),
        ("assistant", [
            {"kind": "tool_call_request", "toolName": "order_lookup", "arguments": {"order_id": "A-20931"},
             "collapsed": False}]),
        ("tool", [
            {"kind": "tool_call_result", "toolName": "order_lookup", "success": True, "collapsed": True,
             "result": "{\"status\":\"shipped\",\"eta\":\"2026-01-03\"}"},
            {"kind": "long_text", "content": TRACKING, "charCount": len(TRACKING), "collapsed": True}]),
    ])


def envelope_small():
    return envelope([("user", [{"kind": "text", "content": "你好,what can you do?"}])])


PI_PAYLOADS = {
    "register": {
        "name": "git-helper", "version": "0.3.1", "api_version": "1.0",
        "capabilities": ["read", "exec", "log"],
        "capability_manifest": {"schema": "pi.ext.cap.v1", "capabilities": [
            {"capability": "read", "methods": ["tool"], "scope": {"paths": ["./", "/usr/share/doc"]}},
            {"capability": "exec", "methods": ["exec"], "scope": {"env": ["HOME", "LANG"]}},
            {"capability": "http", "methods": ["http"], "scope": {"hosts": ["api.example.com"]}}]},
        "tools": [{"name": "git_status", "description": "Show the working tree status",
                   "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}],
        "slash_commands": [{"name": "commit", "description": "Write a commit message"}],
        "event_hooks": ["tool_call", "turn_end"]},
    "tool_call": {"call_id": "call_01", "name": "git_status", "input": {"path": ".", "short": True}},
    "tool_result": {
        "call_id": "call_01", "is_error": False,
        "output": {"content": [{"type": "text", "text": " M src/main.c\n?? notes.md\n"}]}},
    "slash_command": {"name": "commit", "args": ["--amend", "修正错别字"], "input": {"cwd": "/srv/app"}},
    "slash_result": {"output": {"text": "fix: correct two typos"}, "is_error": False},
    "event_hook": {"event": "tool_call", "data": {"name": "exec", "input": {"command": "make test"}}},
    "host_call": {"call_id": "host_07", "capability": "exec", "method": "exec",
                  "params": {"command": "git", "args": ["diff", "--stat"]}, "timeout_ms": 30000,
                  "cancel_token": "ct_5", "context": {"session_id": "s_42"}},
    "host_result": {"call_id": "host_07", "output": {"stdout": " main.c | 4 ++--\n", "exit_code": 0},
                    "is_error": False,
                    "chunk": {"index": 0, "is_last": True, "backpressure": {"credits": 8, "delay_ms": 0}}},
    "log": {"schema": "pi.ext.log.v1", "ts": "2026-01-01T08:30:00.125Z", "level": "info",
            "event": "tool.finished", "message": "git_status 用时 12 ms",
            "correlation": {"extension_id": "git-helper", "scenario_id": "sc_1", "session_id": "s_42",
                            "tool_call_id": "call_01"},
            "source": {"component": "extension", "host": "worker-3", "pid": 4711},
            "data": {"duration_ms": 12}},
    "error": {"code": "invalid_request", "message": "The path is outside the workspace.",
              "details": {"path": "../../etc/passwd"}},
}


def pi(kind, number):
    return {"id": f"m-{number:04}", "version": "1.0", "type": kind, "payload": PI_PAYLOADS[kind]}


def corpora():
    yield "chat-1k.json", chat()
    yield "agent-60k.json", agent()
    yield "images-4m.json", images()
    yield "envelope-eleven.json", envelope_eleven()
    yield "envelope-small.json", envelope_small()
    for number, kind in enumerate(PI_PAYLOADS, 1):
        yield f"pi-{kind}.json", pi(kind, number)


def write_all(to):
    to.mkdir(parents=True, exist_ok=True)
    for name, value in corpora():
        (to / name).write_bytes(minified(value))


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("Usage: make_corpora.py DIR")
    write_all(pathlib.Path(sys.argv[1]))
