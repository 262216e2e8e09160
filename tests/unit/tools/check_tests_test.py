"""The checker of tests refuses tests that measure time, except for a few."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tap

ROOT = Path(__file__).resolve().parents[3]


def check(files):
    with tempfile.TemporaryDirectory() as root:
        for name, text in files.items():
            path = Path(root) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        return subprocess.run([sys.executable, ROOT / "tools/check_tests.py", "--source-root", root],
                              capture_output=True, text=True)


class CheckTests(unittest.TestCase):
    def test_each_way_to_measure_is_refused(self):
        for name, line in (
                ("e2e/a.test.mjs", "assert.ok(Date.now() - began < 400);"),
                ("e2e/a.test.mjs", "while (Date.now() < end) await sleep(5);"),
                ("e2e/a.test.mjs", "assert.ok(end > performance.now());"),
                ("e2e/a.test.mjs", "const start = process.hrtime.bigint();"),
                ("e2e/a.test.mjs", "test('x', { timeout: 30_000 }, async () => {});"),
                ("unit/io/a_test.c", "assert_in_range(pl_clock_ms() - start_ms, 0, 5000);"),
                ("unit/io/a_test.c", "assert_true(gettimeofday(&now, NULL) == 0);"),
                ("unit/tools/a_test.py", "self.assertLess(time.monotonic() - began, 5)")):
            with self.subTest(line):
                result = check({f"tests/{name}": f"\n{line}\n"})
                self.assertEqual(result.returncode, 1)
                self.assertIn(f"tests/{name}:2: measures time", result.stdout)

    def test_a_time_of_day_and_a_clock_that_is_only_read_pass(self):
        result = check({"tests/e2e/a.test.mjs": "const end = Date.now() + ms;\nMath.abs(Date.parse(at) - Date.now());\n",
                        "tests/unit/io/a_test.c": "int64_t now_ms = pl_clock_ms();\n"})
        self.assertEqual((result.returncode, result.stdout), (0, ""))

    def test_a_suite_that_nobody_runs_is_told(self):
        suites = {"tests/e2e/a.test.mjs": "\n", "tests/page/b_c.test.mjs": "\n", "tests/e2e/d.test.mjs": "\n"}
        result = check({**suites, "tests/meson.build": "foreach name : ['a', 'd_nats']\n"})
        self.assertEqual((result.returncode, result.stdout),
                         (1, "tests/page/b_c.test.mjs: nobody runs it; name it in tests/meson.build\n"))
        self.assertEqual(check({**suites, "tests/meson.build": "'a', 'b_c', 'd_nats'\n"}).returncode, 0)

    def test_a_listed_exception_passes_and_one_that_is_not_needed_is_told(self):
        line = "    if (Date.now() > end) throw new Error();\n"
        self.assertEqual(check({"tests/e2e/waiting.mjs": line}).returncode, 0)
        result = check({"tests/e2e/waiting.mjs": "\n"})
        self.assertEqual(result.returncode, 1)
        self.assertIn("is not needed any more", result.stdout)


if __name__ == "__main__":
    tap.main()
