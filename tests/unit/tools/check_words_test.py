"""Messages are found in the sources, and each message of this tree has a Chinese translation."""
import subprocess
import sys
import unittest
from pathlib import Path

import tap

ROOT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools"))
import check_words  # noqa: E402


def found(source, path="src/app/x.c"):
    return [text for text, _ in check_words.messages_of(path, source)]


class CheckWords(unittest.TestCase):
    def test_a_format_is_a_text_with_holes(self):
        self.assertEqual(found('pl_fail(err, PL_USAGE, "no \\"%.*s\\" of %zu, 100%% sure", a, b);'),
                         ['no "{1}" of {2}, 100% sure'])

    def test_literals_side_by_side_are_one_text(self):
        self.assertEqual(found('pl_fail(err, PL_USAGE,\n  "one and "\n  "two");'), ["one and two"])

    def test_conversions_side_by_side_are_one_hole(self):
        self.assertEqual(found('pl_fail(err, PL_USAGE, "not \\"%s\\"%s%s%s", a, b, c, d);'), ['not "{1}"{2}'])

    def test_both_texts_of_a_choice_are_found(self):
        self.assertEqual(found('pl_console_say(c, is_one ? "one file" : "many files");'), ["one file", "many files"])

    def test_a_comment_is_no_message(self):
        self.assertEqual(found('/* pl_fail(err, PL_USAGE, "never said"); */'), [])

    def test_a_text_that_is_put_into_an_error_is_found(self):
        self.assertEqual(found('snprintf(err->message, sizeof err->message, "is missing");'), ["is missing"])

    def test_every_message_of_this_tree_has_its_chinese(self):
        result = subprocess.run([sys.executable, ROOT / "tools/check_words.py"], capture_output=True, text=True)
        self.assertEqual((result.returncode, result.stdout), (0, ""))


if __name__ == "__main__":
    tap.main()
