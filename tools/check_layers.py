#!/usr/bin/env python3
"""Checks that the source tree keeps to the layers of ARCHITECTURE.md (tools/layers.json).

Includes, names and words are read from the sources; calls and variables from the object files of a
build, because a call does not need a header.

    tools/check_layers.py [--build-root build] [--tap]

Exit code 0 if all rules hold, 1 if one is broken, 2 if the check is not possible.
"""
import argparse
import fnmatch
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
SOURCE_SUFFIXES = (".c", ".h")
# Sections that a program can write to; .data.rel.ro is constant after loading.
WRITABLE = re.compile(r"^(\.data(?!\.rel\.ro)|\.bss|\.tdata|\.tbss|\*COM\*)")
# Symbols that sanitizers and coverage add to an object file.
INSTRUMENTATION = re.compile(r"^(_*asan|__odr_asan|__ubsan|__tsan|__san|__unnamed_|__gcov|__llvm|__prof|\.L)")
RULES = {
    "includes": "a room includes only what its line in tools/layers.json allows",
    "calls": "a room calls only what its line in tools/layers.json allows",
    "purity": "core calls nothing that reads, prints, waits, allocates by itself or asks the system",
    "files": "only the listed files open or replace a file by themselves",
    "globals": "core has no variable that outlives a call, but for the listed ones",
    "words": "no vendor word in the rooms that are true of every vendor",
    "names": "every room is in tools/layers.json and says what belongs in it",
    "lines": "only the rooms that put the program together may use every room",
    "private": "what a room keeps to itself (*_int.h) is included in that room only",
    "size": "a source file stays small enough to read",
    "crowds": "a folder stays small enough to survey",
    "types": "a type has one name in the whole tree, and an enum its own prefix",
    "heads": "a source file of some length begins with what it is about",
    "rooms": "a room has its static library and its page in docs/internals",
    "walks": "a file or folder that a walk in docs/ARCHITECTURE.md names exists",
    "pages": "a C file that a page in docs/internals names exists",
}
COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
TYPE = re.compile(r"^(?:struct|enum|union) (pl_\w+) \{", re.MULTILINE)
ENUM = re.compile(r"^enum (pl_\w+) \{([^}]*)\}", re.MULTILINE)
# A walk is a section "## How a … flows through the rooms"; it names files and folders in bold.
WALK = re.compile(r"^## How a .*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
BOLD = re.compile(r"\*\*([^*]+)\*\*")
# In a page: `batch.c`, `store/batch.c`, `tests/unit/wire/told.h`; not cmd_NAME.c, which stands for several.
C_FILE = re.compile(r"`([a-z0-9_/]+\.[ch])`")
NEEDS_BUILD = ("calls", "purity", "files", "globals")


class Layers:
    """The table of rooms: their folders and the rooms that each may use."""

    def __init__(self, table):
        self.table = table
        self.core = set(table["core"])
        self.direct = {**table["core"], **table["host"], **table["top"]}
        self.allowed = {room: self._closure(room) for room in self.direct}

    def _closure(self, room):
        seen, todo = {room}, list(self.direct[room])
        while todo:
            name = todo.pop()
            if name == "*":
                return set(self.direct)
            if name == "*core":
                todo.extend(self.core - seen)
            elif name not in seen:
                if name not in self.direct:
                    sys.exit(f"tools/layers.json: room {room} names {name}, which is not a room")
                seen.add(name)
                todo.extend(self.direct[name])
        return seen

    def room_of(self, path):
        """The room of a path relative to the source root, or None: src/core/json/parse/parse.c is in json."""
        parts = Path(path).parts
        if len(parts) > 3 and parts[0] == "src" and parts[1] in ("core", "host"):
            return self.room_of_folder(parts[2:-1])
        if len(parts) > 2 and parts[0] == "src" and parts[1] in self.table["top"]:
            return self.room_of_folder(parts[1:-1])
        return None

    def room_of_folder(self, parts):
        """The innermost room: service/sessions has its own line, store/sqlite belongs to store."""
        for n in range(len(parts), 1, -1):
            if "/".join(parts[:n]) in self.direct:
                return "/".join(parts[:n])
        return parts[0]


class Checker:
    def __init__(self, source_root, build_root, layers):
        self.source_root = Path(source_root).resolve()
        self.build_root = Path(build_root).resolve() if build_root else None
        self.layers = layers
        self.table = layers.table
        self.problems = {rule: [] for rule in RULES}
        self.sources = {
            str(path.relative_to(self.source_root)): path.read_text("utf-8", "replace").splitlines()
            for path in sorted((self.source_root / "src").rglob("*"))
            if path.suffix in SOURCE_SUFFIXES and path.is_file()
        }

    def report(self, rule, place, message):
        self.problems[rule].append(f"{place}: {message}")

    def run(self):
        self.check_names()
        self.check_includes()
        self.check_lines()
        self.check_words()
        self.check_size()
        self.check_crowds()
        self.check_types()
        self.check_heads()
        self.check_rooms()
        self.check_walks()
        self.check_pages()
        if self.build_root:
            objects = self.read_objects()
            self.check_calls(objects)
            self.check_purity(objects)
            self.check_files(objects)
            self.check_globals(objects)

    # Rules on the sources

    def check_names(self):
        for path in sorted((self.source_root / "src").rglob("*")):
            place = str(path.relative_to(self.source_root))
            if path.name.split(".")[0] in self.table["forbidden_names"]:
                self.report("names", place, "says nothing about what belongs in it; "
                            "ask ARCHITECTURE.md which room the contents belong to")
        for floor in ("core", "host"):
            root = self.source_root / "src" / floor
            for path in sorted(root.iterdir() if root.is_dir() else []):
                if path.is_file() and path.suffix in SOURCE_SUFFIXES:
                    self.report("names", f"src/{floor}/{path.name}", "stands in no room; move it into one")
                if path.is_dir() and path.name not in self.table[floor]:
                    self.report("names", f"src/{floor}/{path.name}", f"is not a room of src/{floor}; "
                                "add its line to ARCHITECTURE.md and tools/layers.json, or move its files")
            for folder in sorted({room.rsplit("/", 1)[0] for room in self.table[floor] if "/" in room}):
                self.check_siblings(root, folder)

    def check_siblings(self, root, folder):
        """If one subfolder of a room is a room of its own, every sibling must be listed, too."""
        for path in sorted((root / folder).iterdir() if (root / folder).is_dir() else []):
            name = str(path.relative_to(root))
            if path.is_dir() and name not in self.layers.direct:
                self.report("names", f"src/{root.name}/{name}", f"is not a room, and other folders of {folder} are; "
                            "add its line to ARCHITECTURE.md and tools/layers.json, or move its files")

    def check_lines(self):
        for room, line in self.layers.direct.items():
            if "*" in line and room not in self.table["every_room_users"]:
                self.report("lines", "tools/layers.json", f"{room} may not use every room; "
                            "name those it needs, or let server hand it what it calls")

    def check_includes(self):
        for place, lines in self.sources.items():
            room = self.layers.room_of(place)
            if room not in self.layers.allowed:
                continue
            for number, line in enumerate(lines, 1):
                match = INCLUDE.match(line)
                if match:
                    self.check_include(f"{place}:{number}", room, match[1])

    def check_include(self, place, room, header):
        if "/" not in header:
            return
        target = self.layers.room_of_folder(header.split("/")[:-1])
        if target == "..":
            self.report("includes", place, f'"{header}" climbs out of its room; '
                        'name the room: #include "room/file.h"')
        elif target == "parley":
            if room not in self.table["public_header_users"]:
                self.report("includes", place, f'{room} includes the public API "{header}"; '
                            "use the internal header it is made of")
        elif target not in self.layers.direct:
            self.report("includes", place, f'"{header}" is in no room of tools/layers.json; '
                        "write #include <…> for a system header")
        elif target not in self.layers.allowed[room]:
            self.report("includes", place, f'{room} may not use {target} ("{header}"); '
                        f"{room} may use: {self.may_use(room)}")
        elif header.endswith("_int.h") and target != room:
            self.report("private", place, f'{room} includes "{header}", which {target} keeps to itself; '
                        "declare what others may use in a header without _int")

    def may_use(self, room):
        return ", ".join(sorted(self.layers.allowed[room] - {room})) or "nothing"

    def check_words(self):
        words = re.compile("|".join(self.table["vendor_words"]), re.IGNORECASE)
        for place, lines in self.sources.items():
            if self.layers.room_of(place) not in self.table["vendor_free_rooms"]:
                continue
            for number, line in enumerate(lines, 1):
                match = words.search(line)
                if match:
                    self.report("words", f"{place}:{number}", f'vendor word "{match[0]}"; what only '
                                "one vendor knows belongs in its file of format/ or stream/")

    def check_size(self):
        most = self.table["max_lines"]
        for place, lines in self.sources.items():
            if len(lines) > most:
                self.report("size", place, f"{len(lines)} lines, more than {most}; "
                            "find the second idea in it and give it a file")

    def check_crowds(self):
        most = self.table["max_files"]
        for folder, count in sorted(Counter(str(Path(place).parent) for place in self.sources).items()):
            if count > most:
                self.report("crowds", folder, f"{count} source files, more than {most}; "
                            "find the folders in it, or the second room")

    def check_types(self):
        types, prefixes = {}, {}
        for place, lines in self.sources.items():
            text = COMMENT.sub(lambda match: "\n" * match[0].count("\n"), "\n".join(lines))
            for match in TYPE.finditer(text):
                where = f"{place}:{text.count(chr(10), 0, match.start()) + 1}"
                if types.setdefault(match[1], where) != where:
                    self.report("types", where, f"{match[1]} is also in {types[match[1]]}; "
                                "put the name of its room, or of its thing, into one of them")
            for match in ENUM.finditer(text):
                where = f"{place}:{text.count(chr(10), 0, match.start()) + 1}"
                prefix, room = prefix_of(match[2]), self.layers.room_of(place)
                other, other_where = prefixes.setdefault(prefix, (room, where)) if prefix else (room, where)
                if other != room:
                    self.report("types", where, f"{match[1]} shares the prefix {prefix} with an enum of {other} "
                                f"({other_where}); give its constants a prefix of their own")

    def check_heads(self):
        most = self.table["max_lines_without_head"]
        for place, lines in self.sources.items():
            if place.endswith(".c") and len(lines) > most and not lines[0].startswith("/*"):
                self.report("heads", f"{place}:1", f"{len(lines)} lines, and no word about what they are for; "
                            "begin with a comment")

    def check_rooms(self):
        builds = [path.read_text("utf-8") for path in sorted((self.source_root / "src").rglob("meson.build"))]
        pages = self.source_root / "docs" / "internals"
        libraries = {name for text in builds for name in re.findall(r"(?:static_library|executable)\('([^']+)'", text)}
        for room in sorted({self.layers.room_of(place) for place in self.sources} & set(self.layers.direct)):
            name = room.replace("/", "-")
            if builds and name not in libraries:
                self.report("rooms", f"src: {room}", f"has no static library '{name}': then anything could be linked to it")
            if pages.is_dir() and not (pages / f"{name}.md").is_file():
                self.report("rooms", f"docs/internals/{name}.md", f"is missing: the page that says what {room} is for")

    def check_walks(self):
        page = self.source_root / "docs" / "ARCHITECTURE.md"
        text = page.read_text("utf-8") if page.is_file() else ""
        for walk in WALK.finditer(text):
            for bold in BOLD.finditer(walk[0]):
                for name in filter(None, map(str.strip, bold[1].split(","))):
                    if not self.exists(name):
                        line = text.count("\n", 0, walk.start() + bold.start()) + 1
                        self.report("walks", f"docs/ARCHITECTURE.md:{line}", f"{name} is in no folder of src/; "
                                    "name the file that has its work now")

    def exists(self, name):
        """Whether a path below src/ ends with the given name of a file (with or without suffix) or folder."""
        tails = tuple(f"/{name.rstrip('/')}{end}" for end in ("", *SOURCE_SUFFIXES))
        return any(place.endswith(tails) or f"{tails[0]}/" in place for place in self.sources)

    def check_pages(self):
        known = list(self.sources)
        for folder in ("tests", "include", "bench"):
            known += [str(path.relative_to(self.source_root)) for path in (self.source_root / folder).rglob("*.[ch]")]
        tails = {"/".join(place.split("/")[n:]) for place in known for n in range(place.count("/") + 1)}
        for page in sorted((self.source_root / "docs" / "internals").glob("*.md")):
            for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
                for name in C_FILE.findall(line):
                    if name not in tails:
                        self.report("pages", f"docs/internals/{page.name}:{number}", f"{name} is in no folder; "
                                    "name the file that has its work now")

    # Rules on the object files

    def read_objects(self):
        """[(room, source path, symbols)] of every object file of a room; symbols as nm prints them."""
        path = self.build_root / "compile_commands.json"
        if not path.is_file():
            sys.exit(f"{path} is missing: build first (make)")
        objects = []
        for command in json.loads(path.read_text("utf-8")):
            source = (Path(command["directory"]) / command["file"]).resolve()
            output = Path(command["directory"]) / command["output"]
            room, place = self.room_of_object(source, command["output"])
            if room in self.layers.direct and output.is_file():
                objects.append((room, place, read_symbols(output)))
        if not objects:
            sys.exit(f"{self.build_root} holds no object file of any room: build first (make)")
        return objects

    def room_of_object(self, source, output):
        """Finds the room by the source's path, or for a generated source by its library."""
        if source.is_relative_to(self.source_root):
            place = str(source.relative_to(self.source_root))
            if not source.is_relative_to(self.build_root):
                return self.layers.room_of(place), place
        library = re.search(r"lib([\w-]+)\.a\.p/", output)
        return library[1].replace("-", "/") if library else None, source.name

    def line_of(self, place, symbol):
        """The first line of a source that uses a symbol, except includes and comment lines."""
        word = re.compile(rf"\b{re.escape(symbol)}\b")
        for number, line in enumerate(self.sources.get(place, []), 1):
            if word.search(line) and not re.match(r"\s*(#\s*include|/?\*)", line):
                return f"{place}:{number}"
        return place

    def check_calls(self, objects):
        home = {}
        for room, _, symbols in objects:
            for symbol in symbols:
                if symbol["class"].isupper() and symbol["class"] not in "UW":
                    home.setdefault(symbol["name"], room)
        for room, place, symbols in objects:
            for symbol in symbols:
                target = home.get(symbol["name"], room)
                if symbol["class"] == "U" and target not in self.layers.allowed[room]:
                    self.report("calls", self.line_of(place, symbol["name"]),
                                f"{room} may not use {target} ({symbol['name']}); "
                                f"{room} may use: {self.may_use(room)}")

    def check_purity(self, objects):
        for room, place, symbols in objects:
            for symbol in symbols:
                if room in self.layers.core and symbol["class"] == "U":
                    name = plain_name(symbol["name"])
                    advice = self.advice_against(room, name)
                    if advice:
                        self.report("purity", self.line_of(place, name), f"{room} uses {name}; {advice}")

    def advice_against(self, room, name):
        for group in self.table["forbidden_in_core"]:
            if room not in group.get("except_rooms", []):
                if any(fnmatch.fnmatchcase(name, pattern) for pattern in group["symbols"]):
                    return group["advice"]
        return None

    def check_files(self, objects):
        for group in self.table["only_in"]:
            for _, place, symbols in objects:
                names = {plain_name(symbol["name"]) for symbol in symbols if symbol["class"] == "U"}
                for name in sorted(names if place not in group["files"] else ()):
                    if any(fnmatch.fnmatchcase(name, pattern) for pattern in group["symbols"]):
                        self.report("files", self.line_of(place, name), f"uses {name}; {group['advice']}")

    def check_globals(self, objects):
        allowed = {(entry["file"], entry["symbol"]) for entry in self.table["allowed_globals"]}
        for room, place, symbols in objects:
            for symbol in symbols:
                # The symbol of a static variable in a function is name.number.
                name = symbol["name"].split(".")[0]
                if (room in self.layers.core and WRITABLE.match(symbol["section"])
                        and symbol["type"] in ("OBJECT", "TLS") and (place, name) not in allowed):
                    self.report("globals", self.line_of(place, name), f"{room} keeps the variable {name}; "
                                "make it const, put it into the caller's struct, or list it with "
                                "its reason in tools/layers.json")


def prefix_of(body):
    """The common prefix: PL_TZ_ of {PL_TZ_DAY, PL_TZ_JULIAN}; None if the constants share only PL_."""
    names = re.findall(r"\b(PL_[A-Z0-9_]+)\b(?=\s*(?:,|=|$))", body.strip())
    shared = os.path.commonprefix(names) if len(names) > 1 else ""
    shared = shared[:shared.rfind("_") + 1]
    return shared if shared.count("_") > 1 else None


def plain_name(symbol):
    """The name of the function in the source: __fprintf_chk is fprintf, open64 is open."""
    symbol = symbol.split("@")[0]
    fortified = re.fullmatch(r"__(\w+)_chk", symbol) or re.fullmatch(r"__isoc\d+_(\w+)", symbol)
    return re.sub(r"(?<=[a-z])64(_2)?$", "", fortified[1] if fortified else symbol)


def read_symbols(path):
    tool = os.environ.get("NM", "nm")
    result = subprocess.run([tool, "--format=sysv", str(path)], capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"{tool} cannot read {path}: {result.stderr.strip()}")
    symbols = []
    for line in result.stdout.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if len(fields) == 7 and fields[0] != "Name" and not INSTRUMENTATION.match(fields[0]):
            symbols.append({"name": fields[0], "class": fields[2], "type": fields[3], "section": fields[6]})
    return symbols


def print_tap(checker):
    print(f"1..{len(RULES)}")
    for number, (rule, text) in enumerate(RULES.items(), 1):
        problems = checker.problems[rule]
        skipped = rule in NEEDS_BUILD and not checker.build_root
        print(f"{'not ok' if problems else 'ok'} {number} - {text}" + (" # SKIP no build given" if skipped else ""))
        for problem in problems:
            print(f"# {problem}")


def print_plain(checker):
    for rule, problems in checker.problems.items():
        for problem in problems:
            print(f"{problem} [{rule}]")
    total = sum(map(len, checker.problems.values()))
    what = f"{len(checker.sources)} source files" + ("" if checker.build_root else ", no object files")
    print(f"layers: {what}, {total} against the rules", file=sys.stderr)


def main():
    root = Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source-root", default=root, help="tree that holds src/")
    parser.add_argument("--build-root", help="build directory; without it only sources are checked")
    parser.add_argument("--layers", default=root / "tools" / "layers.json", help="the table")
    parser.add_argument("--tap", action="store_true", help="one test point per rule")
    args = parser.parse_args()
    layers = Layers(json.loads(Path(args.layers).read_text("utf-8")))
    checker = Checker(args.source_root, args.build_root, layers)
    checker.run()
    (print_tap if args.tap else print_plain)(checker)
    return 1 if any(checker.problems.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
