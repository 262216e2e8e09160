#!/usr/bin/env python3
"""Golden cases of conversion: the result of each rule for a small document.

    python3 tests/golden/run.py --parley build/parley [--update] [CASE…]

A case is a folder golden/FORMAT/NAME with

    in.json          the document in its source format (gpt-oss: in.txt)
    to-TARGET.json   the result, indented for reading (gpt-oss: to-gpt-oss.txt)
    loss-TARGET.json the losses in the report
    args             more arguments of parley convert, one per line (optional)

A new case needs no code: write in.json, make an empty to-TARGET.json for each target of the case, run
with --update, and read the output before you keep it. Every conversion in mode convert is also
converted back with its carry, and must give the bytes of in.json again.
"""
import argparse
import difflib
import json
import pathlib
import subprocess
import sys
import tempfile

GOLDEN = pathlib.Path(__file__).resolve().parent


class Failure(Exception):
    pass


def parley(program, args, text):
    done = subprocess.run([program, *args], input=text, capture_output=True, timeout=30)
    if done.returncode:
        raise Failure(f"parley {' '.join(args)}: exit {done.returncode}: {done.stderr.decode()}")
    return done.stdout


def suffix(target):
    return "txt" if target == "gpt-oss" else "json"


class Case:
    def __init__(self, folder):
        self.folder, self.format = folder, folder.parent.name
        self.name = f"{self.format}/{folder.name}"
        self.input = (folder / f"in.{suffix(self.format)}").read_bytes()
        args = folder / "args"
        self.args = args.read_text().split() if args.exists() else []
        # A profile belongs to the target, so it does not apply on the way home.
        self.home_args = self.args.copy()
        if "--profile" in self.args:
            at = self.args.index("--profile")
            del self.home_args[at:at + 2]
        self.targets = sorted(path.stem[3:] for path in folder.glob("to-*"))

    def convert(self, program, target):
        """The output, indented, and the losses."""
        with tempfile.TemporaryDirectory() as temporary:
            report, carry = (str(pathlib.Path(temporary) / name) for name in ("report", "carry"))
            out = parley(program, ["convert", "--from", self.format, "--to", target, "--report", report,
                                   "--carry", carry, *self.args, "-"], self.input)
            if "--mode" not in self.args:
                home = parley(program, ["convert", "--from", target, "--to", self.format, "--with-carry",
                                        carry, *self.home_args, "-"], out)
                if home != self.input:
                    raise Failure("the way home gives other bytes")
            losses = json.loads(pathlib.Path(report).read_text())["losses"]
        if target != "gpt-oss":
            out = parley(program, ["json", "-"], out)
        lines = [json.dumps(loss, ensure_ascii=False) for loss in losses]
        return out.decode(), "[" + ",".join("\n  " + line for line in lines) + ("\n]\n" if lines else "]\n")

    def files(self, target):
        return self.folder / f"to-{target}.{suffix(target)}", self.folder / f"loss-{target}.json"


def check(case, program, target, is_update):
    """None, or the difference."""
    for path, made in zip(case.files(target), case.convert(program, target)):
        if is_update:
            path.write_text(made)
            continue
        wanted = path.read_text() if path.exists() else ""
        if made != wanted:
            return "".join(difflib.unified_diff(wanted.splitlines(True), made.splitlines(True),
                                                str(path.relative_to(GOLDEN)), "made now"))
    return None


def main():
    options = argparse.ArgumentParser(description="Check or update the golden cases.")
    options.add_argument("--parley", default=str(GOLDEN.parent.parent / "build" / "parley"))
    options.add_argument("--update", action="store_true", help="write what is made now")
    options.add_argument("cases", nargs="*", metavar="CASE", help="FORMAT/NAME, or a beginning of it")
    asked = options.parse_args()
    folders = sorted(path.parent for path in GOLDEN.glob("*/*/in.*"))
    cases = [Case(folder) for folder in folders]
    cases = [case for case in cases if not asked.cases or case.name.startswith(tuple(asked.cases))]
    runs = [(case, target) for case in cases for target in case.targets]
    print(f"1..{len(runs)}")
    n_failed = 0
    for number, (case, target) in enumerate(runs, 1):
        try:
            problem = check(case, asked.parley, target, asked.update)
        except Failure as failure:
            problem = str(failure)
        n_failed += problem is not None
        print(f"{'not ok' if problem else 'ok'} {number} - {case.name} -> {target}")
        for line in (problem or "").splitlines():
            print(f"# {line}")
    return 1 if n_failed or not runs else 0


if __name__ == "__main__":
    sys.exit(main())
