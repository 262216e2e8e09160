"""The table of words is refused if a translation does not fit its text."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tap

ROOT = Path(__file__).resolve().parents[3]


def generate(*files):
    """Runs the tool with these objects, or texts, as its files; returns (exit code, messages)."""
    with tempfile.TemporaryDirectory() as name:
        paths = []
        for number, words in enumerate(files):
            paths.append(Path(name) / f"{number}.json")
            paths[-1].write_text(words if isinstance(words, str) else json.dumps(words), "utf-8")
        result = subprocess.run([sys.executable, ROOT / "tools/gen_words.py", Path(name) / "out.c", *paths],
                                capture_output=True, text=True)
        return result.returncode, result.stderr


class GenWords(unittest.TestCase):
    def assert_refused(self, mention, *files):
        code, said = generate(*files)
        self.assertEqual(code, 1, said)
        self.assertIn(mention, said)

    def test_texts_with_the_same_holes_pass(self):
        self.assertEqual(generate({"there is no {1} in {2}": "{2} 中没有{1*}", "fine": "好"}), (0, ""))

    def test_a_hole_that_is_missing_or_new_is_refused(self):
        self.assert_refused("other holes", {"there is no {1}": "没有"})
        self.assert_refused("other holes", {"there is no {1}": "{2} 中没有{1}"})

    def test_holes_out_of_order_are_refused(self):
        self.assert_refused("in this order", {"there is no {2} in {1}": "{1}{2}"})

    def test_holes_side_by_side_are_refused(self):
        self.assert_refused("side by side", {"there is no {1}{2}": "没有{1}{2}"})

    def test_an_empty_translation_is_refused(self):
        self.assert_refused("has no Chinese", {"fine": " "})

    def test_a_value_that_is_no_text_is_refused(self):
        self.assert_refused("has no Chinese", {"fine": 1})

    def test_a_text_that_is_there_twice_is_refused(self):
        self.assert_refused("there twice", '{"fine": "好", "fine": "很好"}')
        self.assert_refused("is in 0.json too", {"fine": "好"}, {"fine": "很好"})

    def test_a_text_that_fits_everything_is_refused(self):
        self.assert_refused("hardly more than its holes", {"{1}: {2}": "{1}：{2}"})

    def test_a_text_of_numbers_may_be_short(self):
        self.assertEqual(generate({"{1#} of {2#}": "{1} / {2}"}), (0, ""))

    def test_a_file_that_is_no_json_is_refused(self):
        self.assert_refused("0.json", "{")


if __name__ == "__main__":
    tap.main()
