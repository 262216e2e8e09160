"""bench/run.py combines the figures of several scripts; each script compares only its own lines."""
import contextlib
import io
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

import tap

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "bench"))
import run  # noqa: E402

LINES = {"server_figures": [{"name": "live.fanout", "impl": "parley", "per_second": 2.8e6}],
         "hostile_figures": [{"name": "hostile.loud", "impl": "parley", "p50_ratio": 2, "p99_ratio": 3, "most_resident_mb": 90}],
         "cell_figures": [{"name": "cell.start", "impl": "parley", "p50_ms": 5}],
         "ext_figures": [{"name": "ext.stream", "impl": "parley", "mb_per_s": 200}],
         "cluster_figures": [{"name": "cluster.takeover", "impl": "parley", "p50_s": 1.5, "max_s": 3}]}


def measured(lines_of):
    """Runs measure_server with the real comparisons, on existing lines."""
    every = [SimpleNamespace(measure=lambda build, only, lines=lines_of(figures): lines, rows=figures.rows)
             for figures in run.SERVER_FIGURES]
    with contextlib.redirect_stdout(io.StringIO()):
        return run.measure_server(None, "", every)


class BenchRun(unittest.TestCase):
    def test_each_script_compares_its_own_lines(self):
        lines, rows = measured(lambda figures: LINES.get(figures.__name__, []))
        self.assertEqual(lines, [line for own in LINES.values() for line in own])
        verdicts = {row["what"]: row["verdict"] for row in rows}
        self.assertEqual(verdicts["fan-out to 1,000, messages/s"], "ok")
        self.assertEqual(verdicts["start of a cell, p50 ms"], "ok")
        self.assertEqual(verdicts["stream with credits, MB/s"], "ok")
        self.assertEqual(verdicts["take-over, max s"], "ok")

    def test_a_line_with_other_members_stops_no_other_comparison(self):
        strange = {"ext_figures": [{"name": "ext.stream", "problem": "no such program"}]}
        _, rows = measured(lambda figures: (LINES | strange).get(figures.__name__, []))
        verdicts = {row["what"]: row["verdict"] for row in rows}
        self.assertEqual(verdicts["stream with credits, MB/s"], "not measured")
        self.assertEqual(verdicts["start of a cell, p50 ms"], "ok")

    def test_every_script_with_figures_is_run(self):
        scripts = {path.stem for path in (ROOT / "bench").glob("*.py")
                   if "\ndef rows(lines):" in path.read_text("utf-8")}
        self.assertEqual({figures.__name__ for figures in run.SERVER_FIGURES}, scripts)


if __name__ == "__main__":
    tap.main()
