"""The checker of machines compares diagrams with tables, and refuses invalid tables."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tap

ROOT = Path(__file__).resolve().parents[3]

DIAGRAM = """\
/* One after the other.
 *
 *     machine door
 *
 *     SHUT -> OPEN -> SHUT
 *     SHUT, OPEN -> GONE      it is taken out of its frame
 *
 * A word more. */
"""
BITS = """\
/* A lamp.
 *
 *     edges NAME
 *
 *     OFF -> ON -> OFF
 *     OFF -> BROKEN */
#define TO(name) (1U << LAMP_##name)
static const unsigned TABLE[LAMP_COUNT] = {
    [LAMP_OFF] = TO(ON) | TO(BROKEN),
    [LAMP_ON] = TO(OFF),
};
"""
ENUM = "enum state { DOOR_SHUT, DOOR_OPEN, DOOR_GONE };\n"
ROWS = [
    '[DOOR_SHUT] = {"shut", TO(OPEN) | TO(GONE), PL_WAIT_OPEN, PL_CANCEL_ENDS,\n     .why = "whoever has the " "key"},',
    '[DOOR_OPEN] = {"open", TO(SHUT) | TO(GONE), PL_WAIT_MS, PL_CANCEL_LATER, .limit_ms = 5000},',
    '[DOOR_GONE] = {"gone", 0},',
]


def source(diagram=DIAGRAM, enum=ENUM, rows=ROWS, rest=""):
    table = "".join(f"    {row}\n" for row in rows)
    return (f"{diagram}#include \"base/machine.h\"\n{enum}#define TO(name) PL_TO(DOOR_##name)\n"
            f"static const struct pl_state states[] = {{\n{table}}};\n"
            f"static const struct pl_machine machine = PL_MACHINE(\"door\", states);\n{rest}")


def with_row(i, row):
    return ROWS[:i] + [row] + ROWS[i + 1:]


def check(text, *options, name="src/host/io/door.c"):
    with tempfile.TemporaryDirectory() as root:
        path = Path(root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return subprocess.run([sys.executable, ROOT / "tools/check_machines.py", "--source-root", root, *options],
                              capture_output=True, text=True)


class CheckMachines(unittest.TestCase):
    def refused(self, text, message):
        result = check(text)
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        self.assertIn(message, result.stdout)

    def test_a_table_and_its_diagram_pass_and_are_counted(self):
        result = check(source(), "--list")
        self.assertEqual((result.returncode, result.stdout),
                         (0, "door: 3 states, 4 edges, src/host/io/door.c\n"))

    def test_a_reason_may_be_a_macro_of_the_file(self):
        rows = with_row(1, '[DOOR_OPEN] = {"open", TO(SHUT) | TO(GONE), PL_WAIT_OPEN, PL_CANCEL_ENDS, .why = WHY},')
        self.assertEqual(check(source(rows=rows, enum='#define WHY "the wind"\n' + ENUM)).returncode, 0)
        self.refused(source(rows=rows), "WHY should be a text")

    def test_the_machines_of_this_tree_pass(self):
        result = subprocess.run([sys.executable, ROOT / "tools/check_machines.py", "--list"],
                                capture_output=True, text=True)
        self.assertEqual(result.returncode, 0, result.stdout)
        self.assertIn(" states, ", result.stdout)

    def test_an_edge_of_the_diagram_alone_is_refused(self):
        self.refused(source(diagram=DIAGRAM.replace("OPEN -> SHUT\n", "OPEN -> SHUT\n *     GONE -> SHUT\n")),
                     "src/host/io/door.c:3: door: the diagram has GONE -> SHUT, and the table does not")

    def test_an_edge_of_the_table_alone_is_refused(self):
        self.refused(source(diagram=DIAGRAM.replace("SHUT, OPEN -> GONE", "SHUT -> GONE      ")),
                     "door: the table has OPEN -> GONE, and the diagram does not")

    def test_an_edge_that_is_drawn_twice_is_refused(self):
        self.refused(source(diagram=DIAGRAM.replace("SHUT, OPEN -> GONE", "SHUT, OPEN -> GONE\n *     SHUT -> GONE")),
                     "SHUT -> GONE is there twice")

    def test_a_line_that_is_no_edge_is_refused(self):
        self.refused(source(diagram=DIAGRAM.replace("SHUT, OPEN -> GONE", "SHUT ──> GONE")), "door.c:6: no edges")

    def test_a_machine_without_a_diagram_and_a_diagram_without_a_machine_are_refused(self):
        self.refused(source(diagram="/* Nothing. */\n"), "the machine door has no diagram")
        self.refused(DIAGRAM, "the diagram of door has no table in this file")

    def test_a_way_out_that_is_missing_is_refused(self):
        rows = with_row(1, '[DOOR_OPEN] = {"open", 0, PL_WAIT_MS, PL_CANCEL_LATER, .limit_ms = 5000},')
        diagram = DIAGRAM.replace("SHUT -> OPEN -> SHUT", "SHUT -> OPEN").replace("SHUT, OPEN -> GONE", "SHUT -> GONE")
        self.refused(source(diagram=diagram, rows=rows), "OPEN waits, and nothing may follow")

    def test_states_that_go_round_and_never_end_are_refused(self):
        diagram = DIAGRAM.replace("SHUT, OPEN -> GONE", "GONE -> SHUT")
        rows = ['[DOOR_SHUT] = {"shut", TO(OPEN)},', '[DOOR_OPEN] = {"open", TO(SHUT)},', '[DOOR_GONE] = {"gone", TO(SHUT)},']
        self.refused(source(diagram=diagram, rows=rows), "from SHUT there is no way to an end")
        self.refused(source(diagram=diagram, rows=rows), "nothing leads to GONE")

    def test_a_state_that_follows_itself_or_is_none_is_refused(self):
        self.refused(source(rows=with_row(0, '[DOOR_SHUT] = {"shut", TO(SHUT) | TO(OPEN) | TO(GONE)},')),
                     "SHUT may be followed by itself")
        self.refused(source(rows=with_row(0, '[DOOR_SHUT] = {"shut", TO(AJAR) | TO(OPEN) | TO(GONE)},')),
                     "SHUT may be followed by AJAR, which is no state")

    def test_a_wait_without_a_deadline_needs_a_reason(self):
        for row, message in (
                ('{"open", TO(SHUT) | TO(GONE), PL_WAIT_OPEN, PL_CANCEL_ENDS}', "does not say who is certain to end it"),
                ('{"open", TO(SHUT) | TO(GONE), PL_WAIT_SET, PL_CANCEL_ENDS}', "does not say whose time it is"),
                ('{"open", TO(SHUT) | TO(GONE), PL_WAIT_MS, PL_CANCEL_ENDS}', "without .limit_ms"),
                ('{"open", TO(SHUT) | TO(GONE), .limit_ms = 5}', "has .limit_ms without PL_WAIT_MS"),
                ('{"open", TO(SHUT) | TO(GONE), .why = "it likes to"}', "though it does not wait")):
            with self.subTest(message):
                self.refused(source(rows=with_row(1, f"[DOOR_OPEN] = {row},")), message)
        self.refused(source(rows=with_row(2, '[DOOR_GONE] = {"gone", 0, PL_WAIT_NONE, PL_CANCEL_ENDS},')),
                     "is the last state, and there is nothing to cancel")

    def test_names_are_the_constants_in_small_letters(self):
        self.refused(source(rows=with_row(1, '[DOOR_OPEN] = {"wide", TO(SHUT) | TO(GONE)},')), 'DOOR_OPEN is called "wide"')

    def test_every_constant_has_a_line(self):
        self.refused(source(enum="enum state { DOOR_SHUT, DOOR_OPEN, DOOR_AJAR, DOOR_GONE };\n"),
                     "DOOR_AJAR has no line in the table")

    def test_what_cannot_be_read_is_refused(self):
        self.refused(source(rows=with_row(1, '[DOOR_OPEN] = {"open", NEXT_OF_OPEN},')), "is written TO(A) | TO(B), or 0")
        self.refused(source(rows=with_row(1, '[DOOR_OPEN] = {"open", TO(SHUT) | TO(GONE), PL_WAIT_LONG},')),
                     "PL_WAIT_LONG is none of")
        self.refused(source().replace('PL_MACHINE("door", states)', 'PL_MACHINE("door", tables)'),
                     "the table tables of door is not in this file")

    def test_a_table_of_bits_and_its_diagram_pass_and_are_counted(self):
        for name, table in (("lamp", "edges"), ("bulb", "bulb_edges")):
            result = check(BITS.replace("NAME", name).replace("TABLE", table), "--list", name="src/core/light/lamp.c")
            self.assertEqual((result.returncode, result.stdout),
                             (0, f"{name}: 3 states, 3 edges, src/core/light/lamp.c\n"))

    def test_a_table_of_bits_that_differs_from_its_diagram_is_refused(self):
        text = BITS.replace("NAME", "door").replace("TABLE", "edges")
        self.refused(text.replace("OFF -> BROKEN", "BROKEN -> OFF"), "the diagram has BROKEN -> OFF, and the table")
        self.refused(text.replace("OFF -> BROKEN", "BROKEN -> OFF"), "the table of edges has OFF -> BROKEN, and the")
        self.refused(text.replace("edges door", "the edges"), "the table of edges door has no diagram")
        self.refused(text[:text.index("static")], "the diagram of edges door has no table")

    def test_a_state_is_changed_by_pl_move_alone(self):
        for line in ("door->state = DOOR_OPEN;", "door.state = is_shut ? DOOR_OPEN : DOOR_GONE;"):
            with self.subTest(line):
                self.refused(source(rest=f"void f(struct door *door) {{ {line} }}\n"), "a state is changed by pl_move() alone")
        for line in ("door->state = (enum state)pl_move(&machine, door, door->state, DOOR_OPEN);",
                     "*door = (struct door){.state = DOOR_OPEN, .next = NULL};",
                     "door->is_open = door->state == DOOR_OPEN;", "enum state to = DOOR_OPEN;"):
            with self.subTest(line):
                self.assertEqual(check(source(rest=f"void f(struct door *door) {{ {line} }}\n")).returncode, 0)


if __name__ == "__main__":
    tap.main()
