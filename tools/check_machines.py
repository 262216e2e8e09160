#!/usr/bin/env python3
"""Checks the machines: the tables of states (src/core/base/machine.h) and the diagrams above them.

    tools/check_machines.py [--source-root .] [--tap] [--list]

A .c file that has a `struct pl_machine` has a diagram of it in a comment, in this notation:

    machine fetch

        ADMIT -> LOOKUP -> HOP -> END
        ADMIT -> HOP                    the host is an address
        LOOKUP, HOP -> END              what follows two blanks is for the reader

A line is a chain of edges; names with commas between them are edges from or to each. The diagram begins after a line
`machine NAME`, which is indented by four blanks or more, and ends with the next empty line after its first edge. It has
exactly the edges of the table.

Beside that every table must make sense, and a state is changed by pl_move() alone.

A status that only says what may follow, without waiting, has a table of bits. `NAME_edges` has a diagram `edges NAME`
in its file, in the same notation; a table `edges` has the name of its file:

    static const unsigned call_edges[] = {[CALL_PENDING] = BIT(CALL_DONE) | BIT(CALL_ERROR), …};

--list prints one line for each machine and each such table: its name, its states, its edges, its place. Exit code 0
when everything holds, 1 otherwise.
"""
import argparse
import os
import re
import sys
from pathlib import Path

COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
MACHINE = re.compile(r'const struct pl_machine (\w+) = PL_MACHINE\(\s*"([^"]*)",\s*(\w+)\s*\)')
TABLE = re.compile(r"const struct pl_state (\w+)\[\w*\] = \{")
ROW = re.compile(r"\[(\w+)\] =\s*\{")
NEXT = re.compile(r"\bTO\((\w+)\)")
MARK = re.compile(r"^\s{4,}(machine|edges) ([a-z][a-z0-9_-]*)$")
EDGE_TABLE = re.compile(r"const unsigned (?:(\w+)_)?edges\[\w*\] = \{(.*?)\};", re.DOTALL)
EDGE_ROW = re.compile(r"\[(\w+)\] =([^\[]*)")
BIT = re.compile(r"\b(?:TO|BIT)\((\w+)\)")
NAME = r"[A-Z][A-Z0-9_]*"
NAMES = rf"{NAME}(?:,\s?{NAME})*"
EDGES = re.compile(rf"^\s*({NAMES}(?:\s*->\s*{NAMES})+)(?:\s\s.*)?$")
# An assigned member; in an initialiser nothing precedes the dot.
ASSIGNED = re.compile(r"[\w)\]](?:->|\.)\w+\s*=(?!=)([^;{}]*);")
WAITS = ("PL_WAIT_NONE", "PL_WAIT_MS", "PL_WAIT_SET", "PL_WAIT_OPEN")
CANCELS = ("PL_CANCEL_NONE", "PL_CANCEL_ENDS", "PL_CANCEL_LATER")
MAX_STATES = 32


class Problem(Exception):
    def __init__(self, line, message):
        super().__init__(message)
        self.line = line


class State:
    def __init__(self, constant, name, targets, line):
        self.constant, self.name, self.targets, self.line = constant, name, targets, line
        self.wait, self.cancel, self.limit, self.why = WAITS[0], CANCELS[0], None, None


class Machine:
    def __init__(self, name, place, line):
        self.name, self.place, self.line = name, place, line
        self.states = []
        self.prefix = ""

    def edges(self):
        return {(state.name, target) for state in self.states for target in state.targets}


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def without_comments(text):
    """The text with blanks in place of comments; length and lines stay the same."""
    return COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def block(text, at, line):
    """The text between the brace before `at` and its closing brace."""
    depth, is_text = 1, False
    for i in range(at, len(text)):
        char = text[i]
        if char == '"' and text[i - 1] != "\\":
            is_text = not is_text
        elif not is_text and char in "{}":
            depth += 1 if char == "{" else -1
            if depth == 0:
                return text[at:i]
    raise Problem(line, "a brace of this table is never closed")


def fields(row):
    """The values of an initialiser, split at its commas; adjacent literals are joined."""
    values, value, is_text, depth = [], "", False, 0
    for char in row:
        if char == '"' and not value.endswith("\\"):
            is_text = not is_text
        if char in "()" and not is_text:
            depth += 1 if char == "(" else -1
        if char == "," and not is_text and not depth:
            values.append(value)
            value = ""
        else:
            value += char
    return [re.sub(r'"\s*"', "", " ".join(part.split())) for part in values + [value] if part.strip()]


def text_of(value, line):
    if not re.fullmatch(r'"[^"]*"', value):
        raise Problem(line, f"{value} should be a text")
    return value[1:-1]


def read_state(constant, row, line):
    values = fields(row)
    if len(values) < 2:
        raise Problem(line, f"{constant} needs a name and what may follow")
    name, following = text_of(values[0], line), values[1]
    if following != "0" and not re.fullmatch(r"TO\(\w+\)(?: \| TO\(\w+\))*", following):
        raise Problem(line, f"what follows {constant} is written TO(A) | TO(B), or 0")
    targets = NEXT.findall(following)
    for target in {target for target in targets if targets.count(target) > 1}:
        raise Problem(line, f"{constant} names {target} twice")
    state = State(constant, name, targets, line)
    plain = [value for value in values[2:] if not value.startswith(".")]
    for value, names, field in zip(plain, (WAITS, CANCELS), ("wait", "cancel")):
        if value not in names:
            raise Problem(line, f"{value} is none of {', '.join(names)}")
        setattr(state, field, value)
    for value in (value for value in values[2:] if value.startswith(".")):
        field, _, what = value.partition(" = ")
        if field == ".limit_ms":
            state.limit = what
        elif field == ".why":
            state.why = text_of(what, line)
        else:
            raise Problem(line, f"{field} is no field of a state")
    return state


def read_tables(text):
    tables = {}
    # A text that several lines share may be a macro of the file.
    for name, value in re.findall(r'^#define (\w+)[ \t]+("[^"\n]*")$', text, re.MULTILINE):
        text = re.sub(rf"(?<!#define )\b{name}\b", lambda _, value=value: value, text)
    for match in TABLE.finditer(text):
        line = line_of(text, match.start())
        body, at, rows = block(text, match.end(), line), 0, []
        while (row := ROW.search(body, at)):
            row_line = line_of(text, match.end() + row.start())
            inside = block(body, row.end(), row_line)
            rows.append(read_state(row[1], inside, row_line))
            at = row.end() + len(inside)
        tables[match[1]] = (line, rows)
    return tables


def name_states(machine):
    """Removes the common prefix of all constants, and compares the rest with the texts."""
    prefixes = set()
    for state in machine.states:
        ending = state.name.upper().replace("-", "_").replace(" ", "_")
        if not state.constant.endswith("_" + ending):
            raise Problem(state.line, f'{state.constant} is called "{state.name}"; the text is the constant without '
                          "its prefix, in small letters")
        prefixes.add(state.constant[:-len(ending)])
        state.name = ending
    if len(prefixes) > 1:
        raise Problem(machine.line, f"the states of {machine.name} have different prefixes: "
                      f"{', '.join(sorted(prefixes))}")
    machine.prefix = prefixes.pop()


def read_machines(place, text):
    tables = read_tables(text)
    used, machines = set(), []
    for match in MACHINE.finditer(text):
        machine = Machine(match[2], place, line_of(text, match.start()))
        if match[3] not in tables:
            raise Problem(machine.line, f"the table {match[3]} of {machine.name} is not in this file, before it")
        machine.states = tables[match[3]][1]
        used.add(match[3])
        if not machine.states:
            raise Problem(machine.line, f"the table {match[3]} has no state that could be read")
        name_states(machine)
        machines.append(machine)
    for name, (line, _) in tables.items():
        if name not in used:
            raise Problem(line, f"the table {name} belongs to no machine of this file")
    return machines


def read_edges(line, number):
    match = EDGES.match(line)
    if not match:
        raise Problem(number, "no edges: a line of a diagram is A -> B, C -> D, then two blanks and a remark")
    links = [re.split(r",\s?", part.strip()) for part in match[1].split("->")]
    return {(a, b) for before, after in zip(links, links[1:]) for a in before for b in after}


def read_diagrams(text, kind="machine"):
    """{name: (line, edges)} of the comments of a file, of one kind."""
    diagrams = {}
    for comment in COMMENT.finditer(text):
        name = None
        for offset, raw in enumerate(comment[0].removesuffix("*/").split("\n")):
            number = line_of(text, comment.start()) + offset
            line = re.sub(r"^\s*/?\*", "", raw).rstrip()
            mark = MARK.match(line)
            if mark and name is None:
                if mark[1] != kind:
                    continue
                name = mark[2]
                if name in diagrams:
                    raise Problem(number, f"the {kind} {name} has two diagrams")
                diagrams[name] = (number, set())
            elif name is not None and line.strip():
                edges = read_edges(line, number)
                for a, b in sorted(edges & diagrams[name][1]):
                    raise Problem(number, f"{a} -> {b} is there twice")
                diagrams[name][1].update(edges)
            elif name is not None and diagrams[name][1]:
                name = None
    return diagrams


def compare(machine, diagrams):
    if machine.name not in diagrams:
        yield machine.line, (f"the machine {machine.name} has no diagram; a comment of this file has to have a line "
                             f"\"machine {machine.name}\" and its edges")
        return
    line, drawn = diagrams[machine.name]
    for a, b in sorted(drawn - machine.edges()):
        yield line, f"{machine.name}: the diagram has {a} -> {b}, and the table does not"
    for a, b in sorted(machine.edges() - drawn):
        yield line, f"{machine.name}: the table has {a} -> {b}, and the diagram does not"


def reached(start, following):
    seen, todo = set(start), list(start)
    while todo:
        for name in following.get(todo.pop(), ()):
            if name not in seen:
                seen.add(name)
                todo.append(name)
    return seen


def check_ways(machine):
    """Checks that every state can be reached, and that each state leads to an end."""
    names = [state.name for state in machine.states]
    forward = {state.name: state.targets for state in machine.states}
    backward = {name: [state.name for state in machine.states if name in state.targets] for name in names}
    ends = [state.name for state in machine.states if not state.targets]
    from_start, to_end = reached(names[:1], forward), reached(ends, backward)
    for state in machine.states:
        for target in state.targets:
            if target not in names:
                yield state.line, f"{machine.name}: {state.name} may be followed by {target}, which is no state"
            if target == state.name:
                yield state.line, f"{machine.name}: {state.name} may be followed by itself, which is no move"
        if state.name not in from_start:
            yield state.line, f"{machine.name}: nothing leads to {state.name}"
        if state.name not in to_end:
            yield state.line, f"{machine.name}: from {state.name} there is no way to an end"
    for name in {name for name in names if names.count(name) > 1}:
        yield machine.line, f"{machine.name}: {name} has two lines"
    if len(names) > MAX_STATES:
        yield machine.line, f"{machine.name}: {len(names)} states are more than {MAX_STATES}"


def check_waits(machine):
    """A waiting state needs a deadline, or the reason for having none; any other state has neither."""
    for state in machine.states:
        where = f"{machine.name}: {state.name}"
        waits = state.wait != "PL_WAIT_NONE"
        if waits and not state.targets:
            yield state.line, f"{where} waits, and nothing may follow: it would wait for ever"
        if state.wait == "PL_WAIT_MS" and not state.limit:
            yield state.line, f"{where} waits for PL_WAIT_MS without .limit_ms"
        if state.wait != "PL_WAIT_MS" and state.limit:
            yield state.line, f"{where} has .limit_ms without PL_WAIT_MS"
        if state.wait == "PL_WAIT_SET" and not state.why:
            yield state.line, f"{where} does not say whose time it is: .why names the setting or the clock"
        if state.wait == "PL_WAIT_OPEN" and not state.why:
            yield state.line, f"{where} waits without a deadline and does not say who is certain to end it: .why"
        if not waits and state.why:
            yield state.line, f"{where} has a reason though it does not wait"
        if not state.targets and state.cancel != "PL_CANCEL_NONE":
            yield state.line, f"{where} is the last state, and there is nothing to cancel"


def read_enum(text, machine):
    """The constants of the enum that contains the machine's first state."""
    for match in re.finditer(r"\benum\s*(?:\w+\s*)?\{([^}]*)\}", text):
        names = re.findall(r"\b([A-Z][A-Z0-9_]*)\b\s*(?:=[^,]*)?(?:,|$)", match[1].strip())
        if machine.states[0].constant in names:
            return names
    return None


def check_enum(machine, texts):
    names = next((found for text in texts.values() if (found := read_enum(text, machine))), None)
    if not names:
        yield machine.line, f"{machine.name}: the enum with {machine.states[0].constant} is not to be found"
        return
    if names[0] != machine.states[0].constant:
        yield machine.line, f"{machine.name}: it begins with {machine.states[0].constant}, and the enum with {names[0]}"
    known = {state.constant for state in machine.states}
    for name in names:
        if name not in known and not name.endswith("_COUNT"):
            yield machine.line, f"{machine.name}: {name} has no line in the table"


def check_assigned(machines, place, text):
    """Checks that only pl_move changes a state."""
    constants = {state.constant for machine in machines for state in machine.states}
    pattern = re.compile(r"\b(" + "|".join(sorted(constants, key=len, reverse=True)) + r")\b") if constants else None
    for match in ASSIGNED.finditer(text) if pattern else ():
        found = pattern.search(re.sub(r"[=!<>]=\s*[A-Z]\w+", "", match[1]))
        if found and "pl_move" not in match[1]:
            yield line_of(text, match.start()), f"{found[1]} is assigned; a state is changed by pl_move() alone"


def read_edge_tables(place, text):
    """[(name, line, states, edges)]: the tables of bits of a file."""
    tables = []
    for match in EDGE_TABLE.finditer(text):
        rows = {row[1]: BIT.findall(row[2]) for row in EDGE_ROW.finditer(match[2])}
        shared = os.path.commonprefix(list(rows))
        prefix = shared[:shared.rfind("_") + 1]
        name = match[1] or Path(place).stem
        edges = {(state.removeprefix(prefix), target.removeprefix(prefix))
                 for state, targets in rows.items() for target in targets}
        states = {state.removeprefix(prefix) for state in rows} | {target for _, target in edges}
        tables.append((name, line_of(text, match.start()), states, edges))
    return tables


def check_edge_tables(tables, diagrams):
    for name, line, states, edges in tables:
        if name not in diagrams:
            yield line, f"the table of edges {name} has no diagram in this file: a line \"edges {name}\", then its edges"
            continue
        drawn_line, drawn = diagrams[name]
        for a, b in sorted(drawn - edges):
            yield drawn_line, f"{name}: the diagram has {a} -> {b}, and the table of edges does not"
        for a, b in sorted(edges - drawn):
            yield drawn_line, f"{name}: the table of edges has {a} -> {b}, and the diagram does not"
    names = {table[0] for table in tables}
    for name, (line, _) in diagrams.items():
        if name not in names:
            yield line, f"the diagram of edges {name} has no table in this file"


def check(root):
    """Problems as (place, line, message), the machines, and the tables of edges."""
    problems, machines, tables = [], [], []
    sources = {path.relative_to(root).as_posix(): path.read_text("utf-8", "replace")
               for path in sorted((root / "src").rglob("*.[ch]"))}
    plain = {place: without_comments(text) for place, text in sources.items()}
    for place, text in sources.items():
        try:
            diagrams = read_diagrams(text)
            bits = read_edge_tables(place, plain[place]) if place.endswith(".c") else []
            problems += [(place, line, message)
                         for line, message in check_edge_tables(bits, read_diagrams(text, "edges"))]
            tables += [(place, *table) for table in bits]
            found = read_machines(place, plain[place]) if place.endswith(".c") else []
        except Problem as problem:
            problems.append((place, problem.line, str(problem)))
            continue
        names = [machine.name for machine in found]
        problems += [(place, line, f"the diagram of {name} has no table in this file")
                     for name, (line, _) in diagrams.items() if name not in names]
        for machine in found:
            problems += [(place, line, message)
                         for checked in (compare(machine, diagrams), check_ways(machine), check_waits(machine),
                                         check_enum(machine, {place: plain[place], **plain}))
                         for line, message in checked]
        machines += found
    for place, text in plain.items():
        problems += [(place, line, message) for line, message in check_assigned(machines, place, text)]
    names = [machine.name for machine in machines]
    problems += [(machine.place, machine.line, f"the machine {machine.name} is there twice")
                 for i, machine in enumerate(machines) if machine.name in names[:i]]
    return problems, machines, tables


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source-root", type=Path, default=Path(__file__).resolve().parent.parent)
    parser.add_argument("--tap", action="store_true")
    parser.add_argument("--list", action="store_true")
    args = parser.parse_args()
    problems, machines, tables = check(args.source_root)
    for place, line, message in problems:
        print(("# " if args.tap else "") + f"{place}:{line}: {message}")
    if args.list:
        for machine in machines:
            print(f"{machine.name}: {len(machine.states)} states, {len(machine.edges())} edges, {machine.place}")
        for place, name, _, states, edges in tables:
            print(f"{name}: {len(states)} states, {len(edges)} edges, {place}")
    if args.tap:
        print(f"{'not ok' if problems else 'ok'} 1 - the machines are as their diagrams say\n1..1")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
