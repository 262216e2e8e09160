#!/usr/bin/env python3
"""No edit of a recorded request is silent: edit-property-test over the recorded requests of a format.

    edit_recorded.py PROGRAM FORMAT

The requests are read from ../shared/corpora, or from PARLEY_CORPORA. PARLEY_EDIT_ALL makes
every kind of edit in every target, which takes long.
"""
import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    program, name = sys.argv[1:]
    corpora = pathlib.Path(os.environ.get("PARLEY_CORPORA", ROOT.parent / "shared" / "corpora"))
    source = corpora / "recorded" / "compact.ndjson.gz"
    if not source.exists():
        print(f"1..0 # SKIP there is no {source.name} in the corpora")
        return 0
    with tempfile.NamedTemporaryFile(suffix=".ndjson") as lines:
        with gzip.open(source) as packed:
            shutil.copyfileobj(packed, lines)
        lines.flush()
        return subprocess.run([program, name, lines.name], check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
