#!/usr/bin/env python3
"""Writes src/core/terminal/width_table.h: the characters that take zero or two cells on a terminal.

python3 tools/gen_widths.py > src/core/terminal/width_table.h

The data come from Python's unicodedata in Debian's python3: the build already needs it, tools/gen_terms.py uses it too,
and every machine writes the same table, independent of its C library and locale. wcwidth(3) would depend on the user's
locale, and knows no widths in "C".
"""
import unicodedata

LAST = 0x10FFFF
# Conjoining vowels and final consonants of Hangul share the cell of the initial consonant.
JAMO = (range(0x1160, 0x1200), range(0xD7B0, 0xD800))
SOFT_HYPHEN = 0xAD


def width(point):
    char = chr(point)
    if point == SOFT_HYPHEN:
        return 1  # terminals draw it
    if unicodedata.category(char) in ("Mn", "Me", "Cf") or any(point in part for part in JAMO):
        return 0
    if unicodedata.east_asian_width(char) in ("W", "F"):
        return 2
    # Unassigned characters of the ideographic planes will be wide when assigned.
    if 0x20000 <= point <= 0x2FFFD or 0x30000 <= point <= 0x3FFFD:
        return 2
    return 1


def ranges(wanted):
    first = None
    for point in range(0x80, LAST + 2):
        inside = point <= LAST and not 0xD800 <= point <= 0xDFFF and width(point) == wanted
        if inside and first is None:
            first = point
        elif not inside and first is not None:
            yield first, point - 1
            first = None


def table(name, wanted):
    print(f"static const struct width_range {name}[] = {{")
    cells = [f"{{0x{a:X}, 0x{b:X}}}," for a, b in ranges(wanted)]
    for i in range(0, len(cells), 4):
        print("    " + " ".join(f"{cell:<19}" for cell in cells[i:i + 4]).rstrip())
    print("};")


print(f"/* Written by tools/gen_widths.py from Unicode {unicodedata.unidata_version}: not changed by hand. */")
print("""#ifndef PL_TERMINAL_WIDTH_TABLE_H
#define PL_TERMINAL_WIDTH_TABLE_H

#include <stdint.h>

struct width_range {
    uint32_t first, last;
};

/* Characters beyond ASCII that are drawn into the cell before them, or not at all. */""")
table("narrowest", 0)
print("\n/* Characters that take two cells. */")
table("widest", 2)
print("\n#endif")
