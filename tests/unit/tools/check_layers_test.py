"""The layer checker refuses what it is there to refuse: small trees with one fault each."""
import json
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tap

ROOT = Path(__file__).resolve().parents[3]
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")

GOOD = {
    "src/core/base/arena.h": "int pl_arena_size(void);\n",
    "src/core/base/arena.c": '#include "base/arena.h"\nint pl_arena_size(void) { return 1; }\n',
    "src/core/json/parse.h": "int pl_json_parse(void);\n",
    "src/core/json/parse.c": '#include "json/parse.h"\n#include "base/arena.h"\n'
                             "int pl_json_parse(void) { return pl_arena_size(); }\n",
    "src/core/schema/check.c": '#include "json/parse.h"\n#include "base/arena.h"\nint pl_check(void);\n'
                               "int pl_check(void) { return pl_json_parse() + pl_arena_size(); }\n",
    "src/core/conv/pair.c": "int pl_pair(void);\nint pl_pair(void) { return 2; }\n",
    "src/host/io/file.c": "#include <stdio.h>\nint pl_file_say(void);\n"
                          'int pl_file_say(void) { return puts("said"); }\n',
    "src/app/main.c": '#include "json/parse.h"\nint main(void) { return pl_json_parse(); }\n',
}


class Tree:
    """A source tree in a temporary directory, compiled file by file as the build would."""

    def __init__(self, changes):
        self.holder = tempfile.TemporaryDirectory()
        self.root = Path(self.holder.name)
        for name, text in {**GOOD, **changes}.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")

    def compile(self):
        build = self.root / "build"
        commands = []
        for number, source in enumerate(sorted((self.root / "src").rglob("*.c"))):
            output = f"src/object{number}.o"
            (build / "src").mkdir(parents=True, exist_ok=True)
            subprocess.run([COMPILER, "-c", "-O2", "-D_FORTIFY_SOURCE=2", "-fPIE", "-w",
                            "-I", self.root / "src/core", "-I", self.root / "src/host",
                            source, "-o", build / output], check=True)
            commands.append({"directory": str(build), "file": str(source), "output": output})
        (build / "compile_commands.json").write_text(json.dumps(commands), "utf-8")

    def check(self):
        self.compile()
        return subprocess.run(
            [sys.executable, ROOT / "tools/check_layers.py", "--source-root", self.root,
             "--build-root", self.root / "build", "--layers", ROOT / "tools/layers.json"],
            capture_output=True, text=True)


class CheckLayers(unittest.TestCase):
    def assert_refused(self, changes, rule, *mentions):
        result = Tree(changes).check()
        self.assertEqual(result.returncode, 1, result.stdout + result.stderr)
        found = [line for line in result.stdout.splitlines() if line.endswith(f"[{rule}]")]
        self.assertTrue(found, f"nothing refused by rule {rule}: {result.stdout}")
        for mention in mentions:
            self.assertIn(mention, found[0])

    def assert_accepted(self, changes):
        result = Tree(changes).check()
        self.assertEqual((result.returncode, result.stdout), (0, ""), result.stderr)

    def test_a_good_tree_passes(self):
        self.assert_accepted({})

    def test_an_include_against_the_table_is_refused(self):
        self.assert_refused({"src/core/base/bad.c": '\n#include "json/parse.h"\n'},
                            "includes", "src/core/base/bad.c:2", "base may not use json")

    def test_an_include_of_a_host_room_from_core_is_refused(self):
        self.assert_refused({"src/host/io/file.h": "", "src/core/json/bad.c": '#include "io/file.h"\n'},
                            "includes", "src/core/json/bad.c:1", "json may not use io")

    def test_an_include_of_an_app_header_from_lib_is_refused(self):
        self.assert_refused({"src/core/app/cmd.h": "", "src/lib/api.c": '#include "app/cmd.h"\n'},
                            "includes", "src/lib/api.c:1", "lib may not use app")

    def test_an_include_that_climbs_is_refused(self):
        self.assert_refused({"src/core/base/bad.c": '#include "../json/parse.h"\n'},
                            "includes", "src/core/base/bad.c:1", "climbs")

    def test_an_include_of_what_an_allowed_room_may_use_passes(self):
        self.assert_accepted({"src/core/schema/more.c": '#include "base/arena.h"\n'})

    def test_a_call_without_an_include_is_refused(self):
        self.assert_refused(
            {"src/core/base/bad.c": "int pl_json_parse(void);\nint pl_bad(void);\n"
                                    "int pl_bad(void) { return pl_json_parse() + 1; }\n"},
            "calls", "src/core/base/bad.c:1", "base may not use json (pl_json_parse)")

    def test_a_call_between_sibling_rooms_is_refused(self):
        self.assert_refused(
            {"src/core/json/bad.c": "int pl_check(void);\nint pl_bad(void) { return pl_check() + 1; }\n"},
            "calls", "src/core/json/bad.c:1", "json may not use schema (pl_check)")

    def test_each_kind_of_forbidden_call_is_refused(self):
        for header, call, name in (
                ("stdio.h", 'printf("%p", p)', "printf"), ("stdio.h", 'puts("x")', "puts"),
                ("fcntl.h", 'open("x", 0)', "open"), ("unistd.h", "read(0, p, 9)", "read"),
                ("time.h", "(int)time(0)", "time"), ("stdlib.h", 'getenv("x") != 0', "getenv"),
                ("pthread.h", "pthread_self() != 0", "pthread_self"), ("stdlib.h", "rand()", "rand"),
                ("stdlib.h", "(exit(1), 0)", "exit"), ("stdlib.h", "malloc((long)p) != 0", "malloc")):
            with self.subTest(name):
                self.assert_refused(
                    {"src/core/json/bad.c": f"#include <{header}>\nint pl_bad(void *p);\n"
                                            f"int pl_bad(void *p) {{ return {call}; }}\n"},
                    "purity", "src/core/json/bad.c:3", f"json uses {name};")

    def test_a_file_opened_or_replaced_outside_the_listed_places_is_refused(self):
        for header, call, name in (("stdio.h", 'rename("a", "b")', "rename"), ("fcntl.h", 'open("x", 1)', "open"),
                                   ("stdio.h", 'fopen("x", "w") != 0', "fopen"), ("stdlib.h", "mkstemp(p)", "mkstemp")):
            with self.subTest(name):
                text = f"#include <{header}>\nint pl_bad(char *p);\nint pl_bad(char *p) {{ return {call}; }}\n"
                self.assert_refused({"src/host/server/bad.c": text}, "files", "src/host/server/bad.c:3",
                                    f"uses {name};", "io/outfile.h")
                self.assert_accepted({"src/host/io/outfile.c": text})

    def test_base_may_allocate_and_host_may_print(self):
        self.assert_accepted({"src/core/base/mem.c": "#include <stdlib.h>\nvoid *pl_mem(long n);\n"
                                                     "void *pl_mem(long n) { return malloc(n); }\n"})

    def test_a_variable_in_core_is_refused(self):
        for declaration in ("static int counter;", "int counter = 3;", "_Thread_local int counter;",
                            "int *pl_use(void) { static int counter = 1; return &counter; }"):
            with self.subTest(declaration):
                use = "" if "pl_use" in declaration else "int *pl_use(void) { return &counter; }\n"
                self.assert_refused({"src/core/json/bad.c": f"{declaration}\n{use}"},
                                    "globals", "src/core/json/bad.c:1", "json keeps the variable counter")

    def test_constant_tables_of_pointers_are_no_variables(self):
        self.assert_accepted({"src/core/json/names.c": 'static const char *const names[] = {"a", "b"};\n'
                                                       "const char *pl_name(int i) { return names[i]; }\n"})

    def test_listed_variables_and_variables_of_host_pass(self):
        self.assert_accepted({"src/core/base/hash.c": "static long process_key;\n"
                                                      "long *pl_key(void) { return &process_key; }\n",
                              "src/host/io/loop.c": "int pl_loop_count;\n"})

    def test_a_vendor_word_in_conv_is_refused(self):
        self.assert_refused({"src/core/conv/bad.c": "\n/* as OpenAI has it */\n"},
                            "words", "src/core/conv/bad.c:2", "OpenAI")

    def test_a_vendor_word_in_format_passes(self):
        self.assert_accepted({"src/core/format/openai_chat.c": "/* as OpenAI has it */\n"})

    def test_rooms_and_files_that_say_nothing_are_refused(self):
        self.assert_refused({"src/core/util/x.c": ""}, "names", "src/core/util")
        self.assert_refused({"src/core/json/helpers.c": ""}, "names", "src/core/json/helpers.c")

    def test_a_room_that_is_not_in_the_table_is_refused(self):
        self.assert_refused({"src/core/novel/x.c": ""}, "names", "src/core/novel", "is not a room")

    def test_a_very_long_file_is_refused(self):
        self.assert_refused({"src/core/json/long.c": "\n" * 1001}, "size", "src/core/json/long.c", "1001 lines")

    def test_a_tree_that_was_not_built_is_said_so(self):
        tree = Tree({})
        result = subprocess.run([sys.executable, ROOT / "tools/check_layers.py", "--source-root", tree.root,
                                 "--build-root", tree.root / "build"], capture_output=True, text=True)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("build first", result.stderr)


if __name__ == "__main__":
    tap.main()
