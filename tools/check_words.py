#!/usr/bin/env python3
"""Collects the messages of the program from its sources, and lists those without a Chinese text in words/zh-CN.

usage: check_words.py [--list] [--source-root DIR]

A message is a string literal in a call of one of the functions below. A literal that begins with a space or a
semicolon is a piece that is inserted into a hole of another message. --list prints every message with its key in
words/zh-CN and its place, instead of checking them.
"""
import argparse
import json
import pathlib
import re
import sys

from gen_words import HOLE

# Functions and macros that take a message, and the index of that argument; None: any literal that is a sentence.
# A name applies to every function with that name: static functions with these names report errors in all rooms.
MESSAGES = {
    "pl_fail": 2, "pl_usage_fail": 2, "pl_console_say": 1, "pl_console_hint": 1, "pl_console_progress": 1,
    "pl_console_ask": 1, "pl_console_put_said": 1, "pl_console_put_line": 1, "pl_console_word": 1,
    "pl_deed_usage": 1, "pl_deed_confirm": 1, "pl_deed_done": 1, "pl_deed_print_table": 2,
    "pl_exchange_problem": 3, "pl_option_refuse": 1, "pl_oidc_flow_refuse": 2, "pl_gateway_call_fail": 3,
    "pl_speech_fail": 4, "pl_step_refuse": 3, "pl_regex_refuse": 3, "pl_compile_fail": 4, "pl_url_refuse": 1,
    "pl_socket_fail": 4, "pl_upstream_tell_failure": 2,
    "refuse": None, "fail": None, "fail_at": None, "FAIL": None, "FAIL_AT": None, "complain": None, "say_ok": None,
    "pl_scripted_complain": None,
    "wrong": None, "forbid": None, "refuse_text": None, "read_word": None, "sentence": None,
    "add_problem": None, "end_stopped": None, "pl_task_run_stop": None,
}
# Messages composed in a buffer, or stored in a table row: the function's name and the start of its first argument.
INTO = {"snprintf": ("f->why", "err.message", "err->message", "ret_err->message", "detail", "message", "error->message")}
# Files with a table of messages: the name of the macro or function of its rows.
TABLES = {
    "src/core/base/status.h": "X",
    "src/host/http/reply/problem.h": "X",
    "src/app/server/cmd_doctor.c": "pl_doctor_find",
    "src/app/server/doctor_nodes.c": "pl_doctor_find",
}
# Sources whose messages users do not see, and why.
NOT_FOR_PEOPLE = {
    "src/host/ext/cell/inside/": "what a sandbox reports to the server, which logs it",
    "src/host/ext/cell/plan.c": "a plan that the server itself has written",
    "src/host/ext/cell/hosts.c": "answers of the sandbox's proxy to the program in it",
    "src/host/http/request_log.c": "a line of the log",
    "src/host/io/move.c": "an assertion about states",
    "src/host/store/sql/params.c": "mistakes in statements of the program",
    "src/host/agent/tools/calc.c": "said to a model",
    "src/host/agent/tools/tool_memory.c": "said to a model",
    "src/core/wire/websocket.c": "a close reason of the protocol",
}

TOKEN = re.compile(r'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'|[A-Za-z_]\w*|\d[\w.]*|->|\s+|.', re.S)
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)+\'', re.S)
ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.S)
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "e": "\x1b"}
CONVERSION = re.compile(r"%(?:%|[-+ #0]*(?:\d+|\*)?(?:\.(?:\d+|\*)?)?(?:hh|h|ll|l|z|j|t)?[a-zA-Z])")
WIDTHS = {"PRIu64": "llu", "PRId64": "lld", "PRIx64": "llx", "PRIu32": "u", "PRId32": "d"}
SENTENCE = re.compile(r"[A-Za-z]{2,}\W* .*[A-Za-z]{2,}", re.S)


def without_comments(text):
    """The text without comments, and without the backslashes between the lines of a macro."""
    text = COMMENT.sub(lambda m: m.group() if m.group()[0] in "\"'" else re.sub(r"[^\n]", " ", m.group()), text)
    return text.replace("\\\n", " \n")


def unescaped(literal):
    def char(match):
        code = match.group(1)
        if code[0] == "x":
            return chr(int(code[1:], 16))
        return chr(int(code, 8)) if code[0] in "01234567" else ESCAPES.get(code, code)
    return ESCAPE.sub(char, literal)


def calls(text, names):
    """Every call of one of the names: (name, line, arguments as lists of tokens)."""
    tokens = [(m.group(), m.start()) for m in TOKEN.finditer(text) if not m.group().isspace()]
    for at, (token, start) in enumerate(tokens[:-1]):
        if token not in names or tokens[at + 1][0] != "(":
            continue
        depth, arguments = 0, [[]]
        for word, _ in tokens[at + 1:]:
            depth += (word in "([{") - (word in ")]}")
            if depth == 0:
                break
            if word == "," and depth == 1:
                arguments.append([])
            elif depth > 1 or word != "(":
                arguments[-1].append(word)
        yield token, text.count("\n", 0, start) + 1, arguments


def literals(argument):
    """The strings of an argument; a choice `a ? "b" : "c"` has two. Literals in a nested call are left out."""
    found, current, depth = [], None, 0
    for token, after in zip(argument + [";"], argument[1:] + [";", ";"]):
        depth += (token in "([") - (token in ")]")
        if token[0] == '"' and depth == 0:
            current = (current or "") + unescaped(token[1:-1])
        elif token in WIDTHS and current is not None:
            current += WIDTHS[token]
        elif token.isupper() and token.isidentifier() and depth == 0 and (current is not None or after[0] == '"'):
            current = (current or "") + "%s"  # a macro next to a literal becomes a hole
        elif current is not None:
            found.append(current)
            current = None
    return found


def key(text):
    """The key of a format in words/zh-CN: adjacent conversions are one hole."""
    out, last, end, n = "", 0, -1, 0
    for match in CONVERSION.finditer(text):
        out += text[last:match.start()]
        if match.group() == "%%":
            out += "%"
        elif match.start() != end:
            n += 1
            out += "{%d}" % n
        end = match.end() if match.group() != "%%" else -1
        last = match.end()
    return out + text[last:]


def messages_of(path, text):
    names = set(MESSAGES) | set(INTO)
    table = TABLES.get(path)
    for name, line, arguments in calls(without_comments(text), names | ({table} if table else set())):
        if name == table:
            wanted = [one for argument in arguments for one in literals(argument) if SENTENCE.search(one)]
        elif name in INTO:
            to = "".join(arguments[0])
            wanted = literals(arguments[2]) if to.startswith(INTO[name]) and len(arguments) > 2 else []
        elif MESSAGES[name] is None:
            wanted = [one for argument in arguments for one in literals(argument) if SENTENCE.search(one)]
        else:
            wanted = literals(arguments[MESSAGES[name]]) if len(arguments) > MESSAGES[name] else []
        for one in wanted:
            if re.search(r"[a-z]{2,}", HOLE.sub("", key(one))) and not one.startswith((" ", ";", '{"')):
                yield key(one).strip("\n"), line


def collect(root):
    """{key: [places]} of all messages that users see."""
    found = {}
    for file in sorted((root / "src").rglob("*.[ch]")):
        path = file.relative_to(root).as_posix()
        if path.startswith(tuple(NOT_FOR_PEOPLE)):
            continue
        for text, line in messages_of(path, file.read_text("utf-8")):
            found.setdefault(text, []).append("%s:%d" % (path, line))
    return found


def known(root):
    words = {}
    for file in sorted((root / "words/zh-CN").glob("*.json")):
        words |= {english.replace("#}", "}"): chinese for english, chinese in json.loads(file.read_text("utf-8")).items()}
    return words


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--source-root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    found = collect(options.source_root)
    if options.list:
        for text, places in found.items():
            print(json.dumps([text, places[0]], ensure_ascii=False))
        return 0
    missing = {text: places for text, places in found.items() if text not in known(options.source_root)}
    for text, places in missing.items():
        print('%s: no Chinese for "%s"; add it to words/zh-CN' % (places[0], text))
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
