"""The layer checker finds each kind of fault: small trees with one fault each."""
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
    "src/core/json/parse/parse.c": '#include "json/parse.h"\n#include "base/arena.h"\n'
                                   "int pl_json_parse(void) { return pl_arena_size(); }\n",
    "src/core/schema/check.c": '#include "json/parse.h"\n#include "base/arena.h"\nint pl_check(void);\n'
                               "int pl_check(void) { return pl_json_parse() + pl_arena_size(); }\n",
    "src/core/conv/pair.c": "int pl_pair(void);\nint pl_pair(void) { return 2; }\n",
    "src/host/io/file/file.c": "#include <stdio.h>\nint pl_file_say(void);\n"
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

    def check(self, layers=ROOT / "tools/layers.json"):
        self.compile()
        return subprocess.run(
            [sys.executable, ROOT / "tools/check_layers.py", "--source-root", self.root,
             "--build-root", self.root / "build", "--layers", layers],
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
        self.assert_refused({"src/host/io/file/file.h": "", "src/core/json/bad.c": '#include "io/file/file.h"\n'},
                            "includes", "src/core/json/bad.c:1", "json may not use io")

    def test_an_include_of_an_app_header_from_lib_is_refused(self):
        self.assert_refused({"src/core/app/cmd.h": "", "src/lib/api.c": '#include "app/cmd.h"\n'},
                            "includes", "src/lib/api.c:1", "lib may not use app")

    def assert_all_refused(self, floor, pairs):
        """Each pair is a room and one that it must not use; one tree has a violation of each."""
        tree = {}
        for number, (room, other) in enumerate(pairs):
            there = f"int pl_there{number}(void);\n"
            tree |= {
                f"src/{floor}/{other}/there{number}.c": there + f"int pl_there{number}(void) {{ return 1; }}\n",
                f"src/{floor}/{other}/there{number}.h": there,
                f"src/{floor}/{room}/bad{number}.c": f'#include "{other}/there{number}.h"\n\n'
                                                     f"int pl_bad{number}(void) {{ return pl_there{number}() + 1; }}\n",
            }
        said = Tree(tree).check().stdout
        for number, (room, other) in enumerate(pairs):
            with self.subTest(f"{room} -> {other}"):
                bad = f"src/{floor}/{room}/bad{number}.c"
                self.assertIn(f'{bad}:1: {room} may not use {other} ("{other}/there{number}.h")', said)
                self.assertIn(f"{bad}:3: {room} may not use {other} (pl_there{number})", said)

    def assert_all_accepted(self, floor, pairs):
        self.assert_accepted({
            name: text for room, other in pairs
            for name, text in ((f"src/{floor}/{other}/there.h", ""),
                               (f"src/{floor}/{room}/uses_{other.replace('/', '_')}.c",
                                f'#include "{other}/there.h"\n'))})

    def test_each_room_of_core_is_held_to_its_own_line(self):
        """The most likely violations: the room above, the sibling, the way back."""
        self.assert_all_refused("core", (
            ("conv", "prompt"), ("conv", "handoff"), ("conv", "format"), ("prompt", "conv"), ("prompt", "tokens"),
            ("handoff", "format"), ("extproto", "conv"), ("format", "carry"), ("format", "document"), ("format", "promptfile"),
            ("carry", "promptfile"), ("carry", "stream"), ("document", "carry"), ("promptfile", "carry"),
            ("promptfile", "document"), ("stream", "promptfile"), ("stream", "document"), ("session", "format"),
            ("terminal", "json"), ("words", "json"), ("cluster", "session")))

    def test_each_room_of_core_may_use_what_its_line_names(self):
        self.assert_all_accepted("core", (
            ("prompt", "schema"), ("extproto", "wire"), ("handoff", "conv"), ("format", "conv"), ("carry", "format"),
            ("document", "format"), ("promptfile", "format"), ("stream", "carry"), ("stream", "wire"),
            ("terminal", "base"), ("words", "base"), ("cluster", "base")))

    def test_each_room_of_the_server_is_held_to_its_own_line(self):
        """Rooms on the path of a request: none calls a room above, and none skips its neighbour."""
        self.assert_all_refused("host", (
            ("shard", "http"), ("shard", "store"), ("http", "store"), ("http", "access"), ("http", "transaction"),
            ("http", "service/sessions"), ("ext/cell", "store"), ("ext/cell", "ext/run"), ("ext/run", "agent"),
            ("transaction", "access"), ("access", "transaction"), ("access", "live"),
            ("live", "agent"), ("live", "model"), ("agent", "service"),
            ("service", "service/sessions"), ("service", "gateway"), ("service/admin", "service/sessions"),
            ("service/convert", "service/prompts"), ("service/memories", "service/blobs"),
            ("service/prompts", "service/tasks"), ("service/page", "service/prompts"), ("service/runs", "service/sessions"),
            ("ext/package", "http"), ("ext/package", "agent"), ("service/extensions", "service/sessions"),
            ("service/tasks", "server"), ("gateway", "service/sessions"), ("gateway", "server"),
            ("bus", "live"), ("bus", "http"), ("store", "bus"), ("live", "node"), ("node", "agent"), ("node", "gateway"),
            ("agent", "node"), ("agent", "bus"), ("service", "node")))

    def test_each_room_of_the_server_may_use_what_its_line_names(self):
        self.assert_all_accepted("host", (
            ("ext/run", "ext/cell"), ("ext/cell", "io"), ("ext/run", "live"),
            ("shard", "io"), ("http", "shard"), ("transaction", "http"), ("transaction", "store"), ("access", "http"),
            ("live", "access"), ("agent", "live"), ("agent", "model"), ("service", "transaction"),
            ("service/sessions", "service/blobs"), ("service/sessions", "service/prompts"), ("service/sessions", "http"),
            ("service/admin", "service/tasks"), ("service/tasks", "service/prompts"), ("gateway", "service/prompts"),
            ("ext/package", "store"), ("bus", "store"), ("node", "bus"), ("node", "live"),
            ("service/extensions", "ext/package"),
            ("server", "service/tasks"), ("service/page", "access"), ("service/runs", "service/prompts"),
            ("server", "gateway")))

    def test_a_private_header_of_a_server_room_stays_in_its_room(self):
        header = {"src/host/http/exchange_int.h": ""}
        text = '#include "http/exchange_int.h"\n'
        self.assert_refused({**header, "src/host/service/sessions/bad.c": text}, "private",
                            "src/host/service/sessions/bad.c:1", "http keeps to itself")
        self.assert_accepted({**header, "src/host/http/reply/good.c": text})

    def test_a_private_header_of_a_core_room_stays_in_its_room(self):
        header = {"src/core/format/gemini/gemini_int.h": ""}
        text = '#include "format/gemini/gemini_int.h"\n'
        self.assert_refused({**header, "src/core/stream/gemini/bad.c": text}, "private",
                            "src/core/stream/gemini/bad.c:1", "format keeps to itself")
        self.assert_accepted({**header, "src/core/format/gemini/read.c": text, "src/core/format/convert.c": text})

    def test_folders_for_nodes_have_the_line_of_their_room(self):
        """live/wire is part of live, store/node of store: neither may use the room that uses it."""
        there = {"src/host/node/there.h": "", "src/host/bus/there.h": ""}
        self.assert_refused({**there, "src/host/live/wire/bad.c": '#include "node/there.h"\n'},
                            "includes", "src/host/live/wire/bad.c:1", "live may not use node")
        self.assert_refused({**there, "src/host/store/node/bad.c": '#include "bus/there.h"\n'},
                            "includes", "src/host/store/node/bad.c:1", "store may not use bus")
        self.assert_accepted({"src/host/store/node/there.h": "",
                              "src/host/bus/good.c": '#include "store/node/there.h"\n'})

    def test_a_folder_of_a_room_belongs_to_the_room(self):
        self.assert_refused({"src/host/agent/there.h": "", "src/host/http/reply/bad.c": '#include "agent/there.h"\n'},
                            "includes", "src/host/http/reply/bad.c:1", "http may not use agent")
        self.assert_accepted({"src/host/http/there.h": "", "src/host/http/reply/good.c": '#include "http/there.h"\n'})

    def test_a_room_beside_rooms_needs_a_line(self):
        self.assert_refused({"src/host/service/novel/x.c": ""}, "names", "src/host/service/novel",
                            "is not a room, and other folders of service are")

    def test_a_line_of_every_room_is_refused_outside_of_server_and_app(self):
        table = json.loads((ROOT / "tools/layers.json").read_text("utf-8"))
        for room, is_fine in (("server", True), ("app", True), ("http", False), ("service/admin", False)):
            with self.subTest(room):
                floor = "top" if room == "app" else "host"
                tree = Tree({})
                path = tree.root / "layers.json"
                path.write_text(json.dumps({**table, floor: {**table[floor], room: ["*"]}}), "utf-8")
                result = tree.check(path)
                self.assertEqual(result.returncode, 0 if is_fine else 1, result.stdout + result.stderr)
                if not is_fine:
                    self.assertIn(f"{room} may not use every room", result.stdout)

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
                                    f"uses {name};", "io/file/outfile.h")
                self.assert_accepted({"src/host/io/file/outfile.c": text})

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

    def test_a_vendor_word_in_a_room_of_every_vendor_is_refused(self):
        rooms = ("conv", "handoff", "prompt", "session")
        lines = Tree({f"src/core/{room}/bad.c": "\n/* as OpenAI has it */\n" for room in rooms}).check().stdout.splitlines()
        self.assertEqual([line.split(";")[0] for line in lines],
                         [f'src/core/{room}/bad.c:2: vendor word "OpenAI"' for room in rooms])

    def test_a_vendor_word_in_format_passes(self):
        self.assert_accepted({"src/core/format/openai_chat/openai_chat.c": "/* as OpenAI has it */\n"})

    def test_rooms_and_files_that_say_nothing_are_refused(self):
        self.assert_refused({"src/core/util/x.c": ""}, "names", "src/core/util")
        self.assert_refused({"src/core/json/helpers.c": ""}, "names", "src/core/json/helpers.c")

    def test_a_room_that_is_not_in_the_table_is_refused(self):
        self.assert_refused({"src/core/novel/x.c": ""}, "names", "src/core/novel", "is not a room")

    def test_a_very_long_file_is_refused(self):
        self.assert_refused({"src/core/json/long.c": "\n" * 1001}, "size", "src/core/json/long.c", "1001 lines")

    def test_a_crowded_folder_is_refused(self):
        crowds = {f"src/core/conv/{folder}/rule{n}.h": "" for folder, most in (("lint", 29), ("trim", 28))
                  for n in range(most)}
        lines = Tree(crowds).check().stdout.splitlines()
        self.assertEqual([line.split(",")[0] for line in lines], ["src/core/conv/lint: 29 source files"])

    def test_a_type_of_two_rooms_is_refused(self):
        self.assert_refused({"src/core/json/a.h": "struct pl_thing {\n    int a;\n};\n",
                             "src/core/wire/b.c": "\nstruct pl_thing {\n    int b;\n};\n"},
                            "types", "src/core/wire/b.c:2", "pl_thing is also in src/core/json/a.h:1")
        self.assert_accepted({"src/core/json/a.h": "struct pl_thing {\n    int a;\n};\n",
                              "src/core/wire/b.c": "/*\nstruct pl_thing {\n*/\nstruct pl_thing;\nstruct thing {\n    int b;\n};\n"})

    def test_a_prefix_of_two_rooms_is_refused(self):
        enums = {"src/core/json/a.h": "enum pl_way { PL_WAY_IN, PL_WAY_OUT };\n",
                 "src/core/wire/b.h": "enum pl_path { PL_WAY_UP, PL_WAY_DOWN };\n"}
        self.assert_refused(enums, "types", "src/core/wire/b.h:1", "pl_path shares the prefix PL_WAY_ with an enum of json")
        enums["src/core/wire/b.h"] = "enum pl_path { PL_PATH_UP, PL_PATH_DOWN };\nenum pl_odd { PL_A, PL_B };\n"
        self.assert_accepted(enums)

    def test_a_long_file_without_a_head_is_refused(self):
        self.assert_refused({"src/core/json/long.c": "int pl_x;\n" + "\n" * 80}, "heads", "src/core/json/long.c:1", "81 lines")
        self.assert_accepted({"src/core/json/long.c": "/* Its idea. */\n" + "\n" * 80, "src/core/json/short.c": "\n" * 80})

    def test_a_room_without_a_library_or_a_page_is_refused(self):
        rooms = ("base", "json", "schema", "conv", "io", "service-blobs")
        tree = {"src/meson.build": "".join(f"static_library('{room}', files())\n" for room in rooms)
                                   + "executable('app', files())\n", "src/host/service/blobs/x.c": "",
                **{f"docs/internals/{room}.md": "" for room in (*rooms, "app")}}
        self.assert_accepted(tree)
        self.assert_refused({**tree, "src/host/live/x.c": ""}, "rooms", "live", "has no static library")
        self.assert_refused({**tree, "src/host/live/x.c": "", "src/host/meson.build": "static_library('live', x)\n"},
                            "rooms", "docs/internals/live.md: is missing")

    def test_a_walk_that_names_a_missing_file_is_refused(self):
        walk = ("# Architecture\n\n**Which room?** …\n\n## How a text flows through the rooms\n\n| 1. | {} |\n\n"
                "## Glossary\n\n**gone.c**\n")
        page = "docs/ARCHITECTURE.md"
        self.assert_accepted({page: walk.format("**json/parse/parse.c**, **parse.h**, **core/base/arena**, **io/file/**, "
                                                "**pair.c, check.c**")})
        for name in ("json/old.c", "arse.c", "io/fil", "json/parse.c"):
            with self.subTest(name):
                self.assert_refused({page: walk.format(f"**base/arena.c**, **pair.c, {name}**")},
                                    "walks", "docs/ARCHITECTURE.md:7", f"{name} is in no folder of src/")

    def test_a_page_that_names_a_missing_file_is_refused(self):
        rooms = ("base", "schema", "conv", "io", "app")
        page, tree = "docs/internals/json.md", {f"docs/internals/{room}.md": "" for room in rooms}
        tree["tests/unit/json/told.h"] = ""
        text = "# JSON\n\nIt parses (`parse.c`, `json/parse.h`, `tests/unit/json/told.h`, `cmd_NAME.c`, `x.md`), {}.\n"
        self.assert_accepted({**tree, page: text.format("gone.c")})
        for name in ("gone.c", "json/gone.h", "arse.c"):
            with self.subTest(name):
                self.assert_refused({**tree, page: text.format(f"`{name}`")}, "pages", f"{page}:3", f"{name} is in no")

    def test_a_tree_that_was_not_built_is_said_so(self):
        tree = Tree({})
        result = subprocess.run([sys.executable, ROOT / "tools/check_layers.py", "--source-root", tree.root,
                                 "--build-root", tree.root / "build"], capture_output=True, text=True)
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("build first", result.stderr)


if __name__ == "__main__":
    tap.main()
