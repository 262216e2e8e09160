"""Migrations only add: a change that breaks older programs is found, unless the migration declares it."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tap

ROOT = Path(__file__).resolve().parents[3]
TOOL = ROOT / "tools/check_migrations.py"


def problems(text, name="0099_x.sql"):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_text(text, encoding="utf-8")
        result = subprocess.run([sys.executable, TOOL, path], capture_output=True, text=True)
    return result.stderr.splitlines()


class CheckMigrations(unittest.TestCase):
    def test_what_adds_is_good(self):
        self.assertEqual(problems("CREATE TABLE a (b TEXT NOT NULL);\nCREATE INDEX a_b ON a (b);\n"
                                  "INSERT INTO a (b) VALUES ('x');\nALTER TABLE sessions ADD COLUMN c TEXT;\n"
                                  "ALTER TABLE sessions ADD COLUMN d BIGINT NOT NULL DEFAULT 0;\n"
                                  "-- @index sessions_c\nON sessions (c);\n-- @both\n"), [])

    def test_what_older_programs_cannot_live_with_is_found(self):
        for text in ["ALTER TABLE sessions DROP COLUMN mode;", "DROP TABLE sessions;", "DROP INDEX sessions_of_user;",
                     "ALTER TABLE sessions RENAME COLUMN mode TO kind;", "UPDATE sessions SET mode = 'x';",
                     "ALTER TABLE sessions ALTER COLUMN mode SET NOT NULL;", "DELETE FROM settings;",
                     "ALTER TABLE sessions ADD COLUMN a BIGINT NOT NULL;", "CREATE INDEX a ON sessions (mode);",
                     "CREATE UNIQUE INDEX a ON sessions (mode);", "INSERT INTO settings (name) VALUES ('x');"]:
            self.assertEqual(len(problems(text)), 1, text)

    def test_a_migration_that_says_so_may_do_it(self):
        self.assertEqual(problems("-- @compatible_from 98\nDROP TABLE old;"), [])

    def test_the_number_it_says_is_one_that_there_is(self):
        for number in ["100", "0", "x", "-1"]:
            self.assertEqual(len(problems("-- @compatible_from %s\nDROP TABLE old;" % number)), 1, number)

    def test_a_comment_is_no_statement(self):
        self.assertEqual(problems("-- DROP TABLE sessions;\nCREATE TABLE a (b TEXT); -- DROP TABLE b;\n"), [])

    def test_the_migrations_of_this_tree_only_add(self):
        result = subprocess.run([sys.executable, TOOL], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stderr), (0, ""))


if __name__ == "__main__":
    tap.main()
