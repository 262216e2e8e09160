#!/usr/bin/env python3
"""Reports the branches of a room that its own tests do not take, and fails if there are any.

    tools/check_branches.py BUILD ROOM [ROOM …]

Writes TAP. BUILD is a build with clang whose tests are built. The room's files are compiled once more with clang's source
coverage and linked into the room's unit, fault and conformance tests in place of its library.

A branch is one outcome of a condition in the room's own source; each operand of && and || is a condition of its own. So a
condition in an inline function of another room counts there and not at every call, and the compiler's choice of instructions
does not matter. An assert is not a branch: its other outcome ends the program.
"""
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLAGS = ["-fprofile-instr-generate", "-fcoverage-mapping"]
TESTS = ("tests/unit/{}/*_test.c", "tests/fault/{}_fault_test.c", "tests/conformance/{}_test.c")


def tool(name, version):
    """The path of the LLVM program that matches this clang's version."""
    for found in (f"{name}-{version}", name):
        if shutil.which(found):
            return found
    sys.exit(f"{name} is missing: apt install llvm")


def clang_version(compiler):
    said = subprocess.run([*compiler, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"clang version (\d+)", said)
    if not found:
        print(f"1..0 # SKIP {' '.join(compiler)} is not clang")
        sys.exit(0)
    return found[1]


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode:
        sys.exit(f"{shlex.join(map(str, command))[:300]}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def compiler_of(build):
    words = shlex.split(json.loads((build / "compile_commands.json").read_text("utf-8"))[0]["command"])
    return words[:2] if "ccache" in words[0] else words[:1]


class Coverage:
    def __init__(self, build, room, scratch):
        self.build, self.room, self.scratch = build, room, scratch
        self.commands = {(build / entry["file"]).resolve(): entry
                         for entry in json.loads((build / "compile_commands.json").read_text("utf-8"))}

    def compiled(self, source):
        """Compiles one source file of the room with counters; returns the object."""
        words = shlex.split(self.commands[source]["command"])
        to = self.scratch / f"{source.stem}.o"
        words[words.index("-o") + 1] = str(to)
        for flag in ("-MQ", "-MF"):
            if flag in words:
                at = words.index(flag)
                del words[at:at + 2]
        run([word for word in words if word != "-MD"] + FLAGS, cwd=self.build)
        return to

    def linked(self, test, objects):
        """Links the test's program with the counting objects of the room."""
        name = Path(self.commands[test]["output"]).parent.as_posix().removesuffix(".p")
        words = shlex.split(run(["ninja", "-C", self.build, "-t", "commands", name]).splitlines()[-1])
        library = f"lib{self.room.replace('/', '-')}.a"
        to = self.scratch / Path(name).name
        words[words.index("-o") + 1] = str(to)
        at = next((i for i, word in enumerate(words) if word.endswith("/" + library)), None)
        if at is None:
            sys.exit(f"{name} is not linked with {library}")
        words[at:at + 1] = map(str, objects)
        run([*words, *FLAGS], cwd=self.build)
        return to

    def measured(self):
        """llvm-cov's export for every file of the room."""
        version = clang_version(compiler_of(self.build))
        sources = sorted(path for path in self.commands if path.parent == ROOT / "src/core" / self.room)
        tests = [path for pattern in TESTS for path in sorted(ROOT.glob(pattern.format(self.room)))]
        objects = [self.compiled(source) for source in sources]
        programs = [self.linked(test, objects) for test in tests]
        for program in programs:
            run([program], cwd=self.build,
                env={**os.environ, "LLVM_PROFILE_FILE": f"{self.scratch}/{program.name}.profraw"})
        run([tool("llvm-profdata", version), "merge", "-o", self.scratch / "all",
             *self.scratch.glob("*.profraw")])
        others = [word for program in programs[1:] for word in ("-object", program)]
        said = run([tool("llvm-cov", version), "export", f"-instr-profile={self.scratch / 'all'}", programs[0], *others,
                    *sources])
        return json.loads(said)["data"][0]["files"]


def branches_of(entry, lines):
    """(line, column) of each branch in a file and its macros, with the outcomes that were seen."""
    counts = {}
    rows = list(entry["branches"])
    for expansion in entry.get("expansions", ()):
        rows += [[*expansion["source_region"][:4], *row[4:6]] for row in expansion["branches"]]
    for line, column, end_line, end_column, n_true, n_false, *_ in rows:
        text = "\n".join(lines[max(0, line - 3):line])
        if re.search(r"\bassert\([^;]*$", text):
            continue
        seen = counts.setdefault((line, column, end_line, end_column), [0, 0])
        seen[0] += n_true
        seen[1] += n_false
    return counts


def check(build, room):
    with tempfile.TemporaryDirectory() as scratch:
        files = Coverage(build, room, Path(scratch)).measured()
    n, missing = 0, []
    for entry in files:
        path = Path(entry["filename"]).resolve()
        if path.parent != ROOT / "src/core" / room:
            continue  # an inline function of another room
        lines = path.read_text("utf-8").splitlines()
        for (line, column, _, end_column), seen in sorted(branches_of(entry, lines).items()):
            n += 2
            for taken, outcome in zip(seen, ("true", "false")):
                if not taken:
                    missing.append(f"{path.relative_to(ROOT)}:{line}:{column}: never {outcome}: "
                                   f"{lines[line - 1][column - 1:end_column - 1].strip()}")
    print(f"# {room}: {n - len(missing)} of {n} branches taken")
    for one in missing:
        print(f"# {one}")
    return n > 0 and not missing


def main():
    build, rooms = Path(sys.argv[1]).resolve(), sys.argv[2:]
    clang_version(compiler_of(build))
    print(f"1..{len(rooms)}", flush=True)
    n_failed = 0
    for i, room in enumerate(rooms, 1):
        is_whole = check(build, room)
        n_failed += not is_whole
        print(f"{'ok' if is_whole else 'not ok'} {i} - the tests of {room} take every branch of it")
    return 1 if n_failed else 0


if __name__ == "__main__":
    sys.exit(main())
