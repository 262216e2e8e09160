"""The test runner counts the results, and a silent or crashed program is a failure."""
import sys
import unittest
from pathlib import Path

import tap

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tools"))
import run_tests  # noqa: E402


def counts(output, exit_code=0):
    outcome = run_tests.read_tap("program", output, exit_code)
    return outcome.n_passed, len(outcome.failures), len(outcome.skips)


def run_script(script, timeout=10):
    return run_tests.run_one({"name": "program", "cmd": [sys.executable, "-c", script], "env": {},
                              "workdir": None, "timeout": timeout})


class ReadTap(unittest.TestCase):
    def test_points_are_counted(self):
        self.assertEqual(counts("1..3\nok 1 - a\nnot ok 2 - b\nok 3 - c\n", 1), (2, 1, 0))

    def test_the_plan_may_stand_at_the_end(self):
        self.assertEqual(counts("ok 1 - a\nok 2\n1..2\n"), (2, 0, 0))

    def test_a_program_without_a_plan_fails(self):
        self.assertEqual(counts("ok 1 - a\n"), (1, 1, 0))
        self.assertEqual(counts(""), (0, 1, 0))

    def test_missing_points_are_a_failure(self):
        self.assertEqual(counts("1..3\nok 1 - a\n"), (1, 1, 0))

    def test_a_program_that_dies_fails(self):
        self.assertEqual(counts("1..1\nok 1 - a\n", -11), (1, 1, 0))
        self.assertEqual(counts("1..1\nok 1 - a\n", 1), (1, 1, 0))

    def test_a_bail_out_is_a_failure(self):
        self.assertEqual(counts("1..1\nok 1 - a\nBail out! no corpus\n", 1), (1, 1, 0))

    def test_skipped_points_are_not_passed_and_keep_their_reason(self):
        outcome = run_tests.read_tap("program", "1..2\nok 1 - a # SKIP no network\nok 2 - b\n", 0)
        self.assertEqual((outcome.n_passed, outcome.skips), (1, [("program: a", "no network")]))

    def test_a_skipped_program_counts_once(self):
        self.assertEqual(counts("1..0 # SKIP no corpora\n"), (0, 0, 1))

    def test_points_of_subtests_belong_to_their_parent(self):
        self.assertEqual(counts("1..1\n    1..2\n    ok 1 - x\n    not ok 2 - y\nnot ok 1 - all\n", 1), (0, 1, 0))

    def test_a_number_sign_in_a_name_is_part_of_the_name(self):
        outcome = run_tests.read_tap("program", "1..1\nnot ok 1 - case #4 skips nothing\n", 1)
        self.assertEqual(outcome.failures, ["case #4 skips nothing"])


class RunOne(unittest.TestCase):
    def test_a_passing_program_passes(self):
        outcome = run_script("print('1..1'); print('ok 1 - fine')")
        self.assertEqual((outcome.n_passed, outcome.failures), (1, []))

    def test_a_crash_is_reported_with_what_was_said(self):
        outcome = run_script("import os, sys; print('1..1', flush=True); sys.stderr.write('last words'); "
                             "sys.stderr.flush(); os.abort()")
        self.assertEqual(outcome.n_passed, 0)
        self.assertEqual(outcome.failures, ["killed by signal 6 (Aborted) after the start"])
        self.assertIn("last words", outcome.output)

    def test_a_program_that_does_not_end_is_stopped(self):
        outcome = run_script("import time; print('1..1', flush=True); time.sleep(60)", timeout=1)
        self.assertEqual(len(outcome.failures), 1)
        self.assertTrue(outcome.failures[0].startswith("SAFETY NET: not done after 1 s"), outcome.failures)

    def test_what_a_stopped_program_started_is_stopped_too(self):
        # The grandchild holds the pipe open: if it were alive, the output would not end.
        outcome = run_script("import subprocess, time; print('1..1', flush=True); "
                             "subprocess.Popen(['sleep', '1000']); time.sleep(1000)", timeout=1)
        self.assertIn("SAFETY NET", outcome.failures[0])

    def test_a_program_that_is_not_there_fails(self):
        outcome = run_tests.run_one({"name": "program", "cmd": ["./no-such-program"], "env": {},
                                     "workdir": None, "timeout": 1})
        self.assertEqual(len(outcome.failures), 1)


if __name__ == "__main__":
    tap.main()
