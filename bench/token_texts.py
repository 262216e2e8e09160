"""Writes the input texts of the token figures: token_texts.write_all(DIR)

  tokens-prose.txt    English: the documents of this repository
  tokens-code.txt     C: sources of src/core/json and src/core/schema
  tokens-chinese.txt  Chinese: README.zh-CN.md, and the thoughts and requests of make_corpora.py per module and verb
  tokens-emoji.txt    short messages full of emoji
  tokens-json.txt     agent-60k.json
  tokens-letter.txt   16 KB of one letter
"""
import pathlib
import random

import make_corpora

ROOT = pathlib.Path(__file__).resolve().parent.parent
KINDS = ["prose", "code", "chinese", "emoji", "json"]
NAMES = [f"tokens-{kind}.txt" for kind in KINDS]
LETTER = "tokens-letter.txt"
MAX_BYTES = 200_000

EMOJI = ["😀", "🎉", "👍🏽", "👨‍👩‍👧‍👦", "🇨🇳", "🇩🇪", "❤️", "☃️", "1️⃣", "🧑🏿‍🚀", "✨", "🤷‍♀️", "🪿", "🫨", "🚀", "😂", "🙏", "🔥", "✅", "⚠️"]
WORDS = ["yes", "done", "thanks", "great", "see you", "ok", "no way", "deploy", "tests pass", "明天见", "好的", "太棒了"]


def read(pattern):
    texts = [path.read_text(encoding="utf-8") for path in sorted(ROOT.glob(pattern))]
    return "\n".join(texts)


def chinese():
    thoughts = make_corpora.THOUGHTS + make_corpora.REQUESTS
    lines = [thought.format(module=module, verb=verb, n=number)
             for number, (module, verb) in enumerate(
                 (module, verb) for module in make_corpora.MODULES for verb in make_corpora.VERBS)
             for thought in thoughts]
    return read("README.zh-CN.md") + "\n".join(lines)


def emoji():
    choice = random.Random(20261115)
    lines = []
    for _ in range(2000):
        parts = [choice.choice(EMOJI if choice.random() < 0.6 else WORDS) for _ in range(choice.randint(2, 9))]
        lines.append(choice.choice(["", " "]).join(parts))
    return "\n".join(lines)


def write_all(directory):
    texts = {
        "prose": read("README.md") + read("docs/**/*.md"),
        "code": read("src/core/json/*.c") + read("src/core/schema/*.c"),
        "chinese": chinese(),
        "emoji": emoji(),
        "json": (directory / "agent-60k.json").read_text(encoding="utf-8"),
        "letter": "a" * 16384,
    }
    for kind, text in texts.items():
        data = text.encode()[:MAX_BYTES]
        (directory / f"tokens-{kind}.txt").write_bytes(data.decode(errors="ignore").encode())
