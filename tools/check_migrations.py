#!/usr/bin/env python3
"""Checks that migrations only add, so that programs of two versions can use one database.

usage: check_migrations.py [FILE.sql...]

Without files: all of src/host/store/migrations. From number 25 on, a migration may make tables, make indexes on tables
that it makes itself, add columns that are nullable or have a default, and put rows into tables that it makes. An index
on an existing table is built without blocking other writers: "-- @index NAME", then its definition. Anything else needs
a line "-- @compatible_from N" with the number of a migration: programs that do not know that migration refuse to start.
"""
import pathlib
import re
import sys

FIRST = 25
HERE = pathlib.Path(__file__).resolve().parent.parent / "src/host/store/migrations"


def statements(text: str) -> list[str]:
    """Statements without comments and marks; without indexes that are built concurrently."""
    lines, is_index = [], False
    for line in text.splitlines():
        if line.startswith("-- @"):
            is_index = line.startswith("-- @index ")
        elif not is_index:
            lines.append(re.sub(r"--.*", "", line))
    return [one.strip() for one in re.split(r";\s*(?:\n|$)", "\n".join(lines)) if one.strip()]


def wrong(statement: str, made: set[str]) -> str | None:
    """The reasons why an older program might fail on this statement."""
    flat = re.sub(r"\s+", " ", statement)
    table = re.match(r"CREATE (?:UNLOGGED )?TABLE (\w+)", flat)
    if table:
        made.add(table[1])
        return None
    index = re.match(r"CREATE (?:UNIQUE )?INDEX \w+ ON (\w+)", flat)
    if index:
        return None if index[1] in made else "an index on a table that is there already needs -- @index"
    column = re.match(r"ALTER TABLE (\w+) ADD COLUMN (.*)", flat)
    if column:
        must = re.search(r"\bNOT NULL\b", column[2]) and not re.search(r"\bDEFAULT\b", column[2])
        return "a new column must be nullable or have a default: older programs do not fill it" if must else None
    rows = re.match(r"(?:INSERT INTO|UPDATE|ALTER TABLE) (\w+)", flat)
    if rows and rows[1] in made:
        return None
    return "older programs do not expect it"


def check(path: pathlib.Path) -> list[str]:
    number = int(path.name[:4])
    text = path.read_text(encoding="utf-8")
    floor = re.search(r"^-- @compatible_from (\S*)", text, re.M)
    if floor and (not floor[1].isdigit() or not 1 <= int(floor[1]) <= number):
        return ["%s: @compatible_from %s is no number from 1 to %d" % (path.name, floor[1], number)]
    if number < FIRST or floor:
        return []
    made: set[str] = set()
    return ["%s: %s: %s" % (path.name, why, re.sub(r"\s+", " ", one)[:80])
            for one in statements(text) if (why := wrong(one, made))]


def main() -> int:
    paths = [pathlib.Path(one) for one in sys.argv[1:]] or sorted(HERE.glob("*.sql"))
    problems = [line for path in paths for line in check(path)]
    for line in problems:
        print(line, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
