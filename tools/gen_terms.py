#!/usr/bin/env python3
"""Writes src/core/base/text/terms_table.h: the Unicode data of base/text/terms.c.

usage: gen_terms.py > src/core/base/text/terms_table.h

Two tables of runs. GAPS: characters that separate words (punctuation, symbols, space, control). FOLDS: maps capital
letters to small ones, letters of the Latin, Greek and Cyrillic scripts to letters without accents, and presentation
forms (fullwidth, ligatures) to the characters they present. The table is committed, so that terms do not depend on the
version of Python at build time.
"""
import sys
import unicodedata

LAST = 0x1FFFF
BARE = ("LATIN", "GREEK", "CYRILLIC")


def is_gap(code):
    return unicodedata.category(chr(code))[0] in "PSZC" and unicodedata.category(chr(code)) not in ("Cn", "Co")


def folded(code):
    """The one or two characters that replace a letter, or None if it is unchanged."""
    char = chr(code)
    name = unicodedata.name(char, "")
    small = unicodedata.normalize("NFKC", char).lower() if "WIDTH" in name or "LIGATURE" in name else char.lower()
    small = unicodedata.normalize("NFC", small)
    if name.startswith(BARE) or name.startswith("FULLWIDTH LATIN"):
        small = "".join(c for c in unicodedata.normalize("NFKD", small) if unicodedata.category(c) != "Mn")
        small = {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "đ": "d", "ł": "l", "ħ": "h", "ŧ": "t", "ı": "i",
                 "ς": "σ"}.get(small, small)
    if small == char or not 1 <= len(small) <= 2 or any(is_gap(ord(c)) for c in small):
        return None
    return small


def runs_of_gaps():
    runs = []
    for code in range(0x80, LAST + 1):
        if is_gap(code):
            if runs and runs[-1][1] == code - 1:
                runs[-1][1] = code
            else:
                runs.append([code, code])
    return runs


def runs_of_folds():
    """[first, last, step, to, second]: every step-th code point from first on; `to` advances by the same step."""
    runs = []
    for code in range(0x80, LAST + 1):
        if 0xAC00 <= code <= 0xD7A3 or 0xF900 <= code <= 0xFAFF:
            continue
        small = folded(code)
        if small is None:
            continue
        first, second = ord(small[0]), ord(small[1]) if len(small) == 2 else 0
        if runs and not second and not runs[-1][4]:
            run = runs[-1]
            step = code - run[1]
            if step in (1, 2) and (run[0] == run[1] or run[2] == step) and first == run[3] + code - run[0]:
                run[1], run[2] = code, step
                continue
        runs.append([code, code, 1, first, second])
    return runs


def main():
    version = unicodedata.unidata_version
    print("/* Written by tools/gen_terms.py from Unicode %s: not changed by hand. */" % version)
    print("#ifndef PL_BASE_TERMS_TABLE_H\n#define PL_BASE_TERMS_TABLE_H\n\n#include <stdint.h>\n")
    print("/* Characters beyond ASCII that are in no word: {first, last}. */")
    print("static const struct {\n    uint32_t first, last;\n} gaps[] = {")
    for run in runs_of_gaps():
        print("    {0x%X, 0x%X}," % tuple(run))
    print("};\n\n/* Replaces every step-th letter from first to last: first by `to`, the next by `to` + step, and so")
    print(" * on. `second` follows `to` if two characters replace the letter; otherwise it is 0. */")
    print("static const struct {\n    uint32_t first, last, to;\n    uint16_t step, second;\n} folds[] = {")
    for first, last, step, to, second in runs_of_folds():
        print("    {0x%X, 0x%X, 0x%X, %d, 0x%X}," % (first, last, to, step, second))
    print("};\n\n#endif")


if __name__ == "__main__":
    sys.exit(main())
