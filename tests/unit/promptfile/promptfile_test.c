/* Prompts as files: every kind is read, and written files are read back byte for byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/text/utf8.h"
#include "promptfile/promptfile.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

struct shelf {
    struct pl_arena arena;
    struct pl_filed filed;
};

static void open_shelf(struct shelf *s)
{
    pl_arena_init(&s->arena, 0);
    pl_filed_init(&s->filed);
}

static void close_shelf(struct shelf *s)
{
    pl_filed_deinit(&s->filed);
    pl_arena_deinit(&s->arena);
}

static void read_as(struct shelf *s, const char *path, const char *text, const char *as)
{
    struct pl_prompt_file file = {pl_str_of(path), pl_str_of(text)};
    open_shelf(s);
    assert_int_equal(pl_prompt_files_read(&s->arena, &file, 1, pl_str_of(as), &s->filed, NULL),
                     PL_OK);
}

static void assert_str(struct pl_str s, const char *expected)
{
    char *copy = malloc(s.len + 1);
    assert_non_null(copy);
    if (s.len)
        memcpy(copy, s.ptr, s.len);
    copy[s.len] = '\0';
    assert_string_equal(copy, expected);
    free(copy);
}

/* A file with one prompt of one version. */
static void assert_read(const char *path, const char *text, const char *as, const char *name,
                        bool is_structured, const char *content)
{
    struct shelf s;
    read_as(&s, path, text, as);
    if (s.filed.problems.len)
        assert_str(s.filed.problems.ptr[0].detail, "no problem");
    assert_int_equal(s.filed.prompts.len, 1);
    const struct pl_filed_prompt *p = &s.filed.prompts.ptr[0];
    assert_int_equal(p->n_versions, 1);
    assert_str(p->path, path);
    assert_str(p->name, name);
    assert_int_equal(p->versions[0].is_structured, is_structured);
    assert_str(p->versions[0].content, content);
    close_shelf(&s);
}

static void assert_problem(const char *path, const char *text, const char *as, const char *words)
{
    struct shelf s;
    read_as(&s, path, text, as);
    assert_int_equal(s.filed.prompts.len, 0);
    assert_int_equal(s.filed.problems.len, 1);
    assert_str(s.filed.problems.ptr[0].path, path);
    char detail[600] = {0};
    struct pl_str d = s.filed.problems.ptr[0].detail;
    assert_true(d.len < sizeof detail);
    memcpy(detail, d.ptr, d.len);
    if (!strstr(detail, words))
        assert_string_equal(detail, words);
    close_shelf(&s);
}

#define CHAT "{\"protocol\":\"structured-chat\","
#define ONE  "\"messages\":[{\"id\":\"msg_1\",\"role\":\"user\",\"content\":\"Hi\"}]"

static void texts_are_told_by_name_and_content(void **state)
{
    (void)state;
    assert_read("a.txt", "Be kind.\n", "", "a", false, "Be kind.");
    assert_read("a.txt", "Be kind.\r\n", "", "a", false, "Be kind.");
    assert_read("a", "\xef\xbb\xbfTwo\nlines\n\n", "", "a", false, "Two\nlines\n");
    assert_read("x/notes", "{{a}} is no JSON", "", "notes", false, "{{a}} is no JSON");
    assert_read("x/notes", "[\"a\"]", "", "notes", false, "[\"a\"]");
    assert_read("a.yaml", "a: b", "text", "a", false, "a: b");
    assert_read(".prompt.yml", "messages: [{role: user, content: Hi}]", "", "prompt", true,
                CHAT ONE "}");
    assert_read("dir/.prompt.yml", "messages: [{role: user, content: Hi}]", "", "dir", true,
                CHAT ONE "}");
}

static void requests_of_vendors_are_converted(void **state)
{
    (void)state;
    assert_read("a.json",
                "{\"model\":\"m\",\"messages\":[{\"role\":\"system\",\"content\":\"S\"},{\"role\":"
                "\"user\",\"content\":\"Hi\"}],\"temperature\":0.5}",
                "", "a", true,
                CHAT "\"system_prompt\":\"S\"," ONE
                     ",\"config\":{\"model\":\"m\",\"temperature\":0.5}}");
    assert_read("a.JSON",
                "{\"model\":\"m\",\"max_tokens\":9,\"system\":\"S\",\"messages\":[{\"role\":\"user"
                "\",\"content\":[{\"type\":\"text\",\"text\":\"Hi\"}]}]}",
                "", "a", true,
                CHAT "\"system_prompt\":\"S\"," ONE
                     ",\"config\":{\"model\":\"m\",\"max_tokens\":9}}");
    assert_read("a.txt", "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]}]}", "",
                "a", true, CHAT ONE "}");
    /* A request written as YAML is a request. */
    assert_read("a.yml",
                "name: N\nmodel: m\nmax_tokens: 9\nsystem: S\nmessages:\n  - role: user\n    "
                "content:\n      - type: text\n        text: Hi\n",
                "", "N", true,
                CHAT "\"system_prompt\":\"S\"," ONE
                     ",\"config\":{\"model\":\"m\",\"max_tokens\":9}}");
    assert_read("a", "<|start|>user<|message|>Hi<|end|>", "", "a", true, CHAT ONE "}");
    assert_read("a", "[{\"role\":\"user\",\"content\":\"Hi\"}]", "harmony", "a", true,
                CHAT ONE "}");
}

static void what_a_conversion_drops_is_noted(void **state)
{
    (void)state;
    struct shelf s;
    read_as(&s, "a.json",
            "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":\"text\","
            "\"text\":\"Hi\"},{\"type\":\"hologram\",\"at\":1}]}]}",
            "");
    assert_int_equal(s.filed.prompts.len, 1);
    assert_str(s.filed.prompts.ptr[0].versions[0].note,
               "Read from openai-chat; not kept: /messages/0/content/1");
    close_shelf(&s);
}

static void a_structured_chat_keeps_its_bytes(void **state)
{
    (void)state;
    const char *chat = "{ \"protocol\": \"structured-chat\",\n \"name\":\"N\\u0061me\", \"x\":1e2,"
                       "\"messages\": [ ] }";
    assert_read("a.json", chat, "", "Name", true, chat);
    assert_read("a.json", "\n{\"protocol\":\"structured-chat\", // so\n \"messages\":[],}\n", "",
                "a", true, "{\"protocol\":\"structured-chat\",\"messages\":[]}");
    assert_read("a.json", chat, "structured-chat", "Name", true, chat);
}

static const char github[] =
    "name: Text Summarizer\n"
    "description: Summarizes input text concisely\n"
    "model: openai/gpt-4o-mini\n"
    "modelParameters:\n  temperature: 0.5\n  topP: 1\n  maxTokens: 200\n"
    "messages:\n"
    "  - role: system\n    content: You are a text summarizer.\n"
    "  - role: user\n    content: |\n      Summarize:\n      {{input}}\n"
    "testData:\n  - input: The quick brown fox\n    expected: Summary - a fox\n"
    "evaluators:\n  - name: Starts well\n    string:\n      startsWith: 'Summary -'\n";

static void a_prompt_of_github_loses_nothing(void **state)
{
    (void)state;
    const char *chat =
        CHAT "\"name\":\"Text Summarizer\",\"description\":\"Summarizes input text concisely\","
             "\"testData\":[{\"input\":\"The quick brown fox\",\"expected\":\"Summary - a fox\"}],"
             "\"evaluators\":[{\"name\":\"Starts well\",\"string\":{\"startsWith\":\"Summary -\"}}]"
             ",\"system_prompt\":\"You are a text summarizer.\",\"messages\":[{\"id\":\"msg_1\","
             "\"role\":\"user\",\"content\":\"Summarize:\\n{{input}}\\n\"}],\"config\":{\"model\":"
             "\"openai/gpt-4o-mini\",\"temperature\":0.5,\"top_p\":1,\"max_tokens\":200}}";
    assert_read("p/summary.prompt.yml", github, "", "Text Summarizer", true, chat);
    assert_read("summary", github, "yaml", "Text Summarizer", true, chat);
    struct shelf s;
    read_as(&s, "work/p/summary.prompt.yaml", github, "");
    const struct pl_filed_prompt *p = &s.filed.prompts.ptr[0];
    assert_str(p->folder, "work/p");
    assert_str(p->description, "Summarizes input text concisely");
    assert_str(p->tags, "[]");
    assert_str(p->labels, "{}");
    close_shelf(&s);
}

static void markdown_is_a_chat_or_a_text(void **state)
{
    (void)state;
    assert_read("a.md", "# Title\n\nWords.\n", "", "a", false, "# Title\n\nWords.");
    assert_read("a.md", "---\nnot front matter\n---\nWords.\n", "", "a", false,
                "---\nnot front matter\n---\nWords.");
    assert_read("a.md", "---\nno end\n", "", "a", false, "---\nno end");
    assert_read("a.md", "## user\n\nHi\n", "", "a", true, CHAT ONE "}");
    assert_read("a.md", "---\nname: N\ntags: [x]\n---\n\nWords.\n", "", "N", false, "Words.");
    assert_read("a.md", "---\nmodel: m\n---\n\nHi\n", "", "a", true,
                CHAT ONE ",\"config\":{\"model\":\"m\"}}");
    assert_read("a.md", "---\nname: N\nmodel: m\n---\n## user\n\nHi\n", "", "N", true,
                CHAT "\"name\":\"N\"," ONE ",\"config\":{\"model\":\"m\"}}");
    struct shelf s;
    read_as(&s, "a.md", "---\ndescription: D\n---\n# Title\nAbout it.\n\n## user\n\nHi\n", "");
    assert_str(s.filed.prompts.ptr[0].description, "D\n\n# Title\nAbout it.");
    close_shelf(&s);
}

#define CRITIC "{\"name\":\"films/critic\",\"type\":\"text\",\"prompt\":\"Like {{movie}}?\","

static void prompts_of_langfuse_are_read(void **state)
{
    (void)state;
    assert_read("l/a.json",
                CRITIC "\"config\":{},\"version\":1,\"labels\":[],\"tags\":[],\"commitMessage\":"
                       "null}",
                "", "critic", false, "Like {{movie}}?");
    assert_read("a.json", CRITIC "\"config\":{\"model\":\"m\"},\"version\":1,\"labels\":[]}", "",
                "critic", true,
                CHAT "\"messages\":[{\"id\":\"msg_1\",\"role\":\"user\",\"content\":\"Like "
                     "{{movie}}?\"}],\"config\":{\"model\":\"m\"}}");
    assert_read(
        "a.json",
        "{\"id\":\"cm\",\"createdAt\":\"2025-01-02T03:04:05.678Z\",\"name\":\"chat\",\"version\":2,"
        "\"type\":\"chat\",\"prompt\":[{\"type\":\"chatmessage\",\"role\":\"system\",\"content\":"
        "\"S\"},{\"type\":\"placeholder\",\"name\":\"history\"},{\"role\":\"user\",\"content\":"
        "\"Hi\",\"x\":1}],\"config\":null,\"labels\":[\"latest\"],\"tags\":[\"t\"],\"extra\":true}",
        "langfuse", "chat", true,
        CHAT "\"extra\":true,\"system_prompt\":\"S\",\"messages\":[{\"id\":\"msg_1\",\"role\":"
             "\"user\",\"content\":\"{{history}}\",\"placeholder\":\"history\"},{\"id\":\"msg_2\","
             "\"role\":\"user\",\"content\":\"Hi\",\"x\":1}]}");
    assert_problem("a.json", "{\"data\":[{\"name\":\"a\",\"versions\":[1]}],\"meta\":{}}", "",
                   "listing");
    assert_problem("a.json", "{\"messages\":[]}", "langfuse", "not a Langfuse prompt");
}

static void versions_of_langfuse_become_one_prompt(void **state)
{
    (void)state;
    struct pl_prompt_file files[] = {
        {PL_STR("l/page.json"),
         PL_STR("{\"data\":[" CRITIC
                "\"version\":7,\"labels\":[\"production\",\"latest\"],\"tags\":"
                "[\"movies\",1],\"commitMessage\":\"seven\"},"
                "{\"name\":\"other\",\"prompt\":\"O\",\"labels\":[]}],\"meta\":{\"page\":1}}")},
        {PL_STR("l/one.json"),
         PL_STR("[" CRITIC "\"version\":2,\"labels\":[\"old\",\"production\"],\"createdAt\":"
                "\"2025-01-02T03:04:05.678Z\"}," CRITIC "\"version\":7}]")},
    };
    struct shelf s;
    open_shelf(&s);
    assert_int_equal(pl_prompt_files_read(&s.arena, files, 2, PL_STR(""), &s.filed, NULL), PL_OK);
    assert_int_equal(s.filed.problems.len, 0);
    assert_int_equal(s.filed.prompts.len, 2);
    const struct pl_filed_prompt *p = &s.filed.prompts.ptr[0];
    assert_str(p->name, "critic");
    assert_str(p->folder, "l/films");
    assert_str(p->tags, "[\"movies\"]");
    assert_str(p->labels, "{\"production\":2,\"old\":2}");
    assert_int_equal(p->n_versions, 2);
    assert_int_equal(p->versions[0].version, 2);
    assert_true(p->versions[0].created_ms == 1735787045678);
    assert_int_equal(p->versions[1].version, 7);
    assert_str(p->versions[1].note, "seven");
    assert_str(s.filed.prompts.ptr[1].folder, "l");
    assert_int_equal(s.filed.prompts.ptr[1].versions[0].version, 1);
    close_shelf(&s);
}

static void a_file_of_several_prompts_gives_several(void **state)
{
    (void)state;
    static const char *const cases[][2] = {
        {"d/a.json", "[{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"name\":\"first\"},7,"
                     "{\"contents\":[{\"parts\":[{\"text\":\"b\"}]}]}]"},
        {"d/a.jsonl", "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"name\":\"first\"}\n"
                      "oops\n\n{\"contents\":[{\"parts\":[{\"text\":\"b\"}]}]}"},
        {"d/a.yaml", "- name: first\n  messages: [{role: user, content: a}]\n- 7\n- contents: "
                     "[{parts: [{text: b}]}]\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct shelf s;
        read_as(&s, cases[i][0], cases[i][1], "");
        assert_int_equal(s.filed.prompts.len, 2);
        assert_str(s.filed.prompts.ptr[0].name, "first");
        assert_str(s.filed.prompts.ptr[1].name, "a 3");
        assert_str(s.filed.prompts.ptr[1].folder, "d");
        assert_int_equal(s.filed.problems.len, 1);
        assert_int_equal(strncmp(s.filed.problems.ptr[0].detail.ptr, "prompt 2: ", 10), 0);
        close_shelf(&s);
    }
}

static void a_file_that_holds_no_prompt_is_told(void **state)
{
    (void)state;
    assert_problem("a.txt", "", "", "empty");
    assert_problem("a.txt", " \n", "", "contains no text");
    assert_problem("a.json", "{", "", "line 1");
    assert_problem("a.json", "{}", "", "not a prompt");
    assert_problem("a.json", "[]", "", "not a prompt");
    assert_problem("a.json", "[1,2]", "", "not a prompt");
    assert_problem("a.json", "\"text\"", "", "not a prompt");
    assert_problem("a.jsonl", "\n\n", "", "not a prompt");
    assert_problem("a.yaml", "a: [", "", "not YAML");
    assert_problem("a.yaml", "a: b", "", "not a prompt");
    assert_problem("a.txt", "\xff\xfe", "", "UTF-8");
    assert_problem("../a.txt", "a", "", "relative");
    assert_problem("/a.txt", "a", "", "relative");
    assert_problem("a//b.txt", "a", "", "relative");
    assert_problem("a/./b.txt", "a", "", "relative");
    assert_problem("prompt.yaml", "versions:\n  - file: ../../etc/passwd\n", "", "does not exist");
    assert_problem("prompt.yaml", "versions: []\n", "", "no version");
    struct shelf s;
    open_shelf(&s);
    struct pl_error err = {0};
    struct pl_prompt_file file = {PL_STR("a"), PL_STR("b")};
    assert_int_equal(pl_prompt_files_read(&s.arena, &file, 1, PL_STR("nonsense"), &s.filed, &err),
                     PL_USAGE);
    assert_non_null(strstr(err.message, "nonsense"));
    close_shelf(&s);
}

/* --- writing --------------------------------------------------------------------------------- */

static const struct pl_prompt_file *find(const struct pl_prompt_files *files, const char *path)
{
    for (size_t i = 0; i < files->list.len; i++)
        if (pl_str_eq(files->list.ptr[i].path, pl_str_of(path)))
            return &files->list.ptr[i];
    return NULL;
}

static void files_are_as_people_read_them(void **state)
{
    (void)state;
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_filed_version versions[] = {
        {1, false, PL_STR("---\nBe kind."), PL_STR("first"), 0, 0, 1735787045678},
        {2, false, PL_STR("Be kind.\r\nAlways.\r\n"), PL_STR(""), 1, 0, 0},
        {12, true, PL_STR(CHAT "\"messages\":[]}"), PL_STR(""), 2, 1, 0},
        {13, true, PL_STR("{\n  \"messages\": []\n}"), PL_STR(""), 0, 0, 0},
        {14, true, PL_STR("{\"messages\":[ ]}"), PL_STR(""), 0, 0, 0},
        {15, false, PL_STR("bell\a"), PL_STR(""), 0, 0, 0},
    };
    struct pl_filed_prompt p = {.id = PL_STR("prompt_1"),
                                .name = PL_STR("Kindness"),
                                .description = PL_STR("How to be"),
                                .folder = PL_STR("work/mood"),
                                .tags = PL_STR("[\"a\"]"),
                                .labels = PL_STR("{\"production\":2}"),
                                .is_pinned = true,
                                .versions = versions,
                                .n_versions = 6};
    struct pl_prompt_files files = {0};
    assert_int_equal(pl_prompt_files_write(&arena, &p, NULL, NULL, &files, NULL), PL_OK);
    assert_int_equal(files.list.len, 7);
    assert_str(files.list.ptr[0].path, "work/mood/Kindness/prompt.yaml");
    assert_str(
        files.list.ptr[0].text,
        "id: prompt_1\nname: Kindness\ndescription: How to be\ntags:\n  - a\nis_pinned: "
        "true\nlabels:\n  production: 2\nversions:\n"
        "  - version: 1\n    type: text\n    file: \"0001.md\"\n    note: first\n    "
        "created_at: \"2025-01-02T03:04:05.678Z\"\n"
        "  - version: 2\n    type: text\n    file: \"0002.md\"\n    based_on: 1\n    "
        "line_ends: crlf\n    has_final_newline: true\n"
        "  - version: 12\n    type: structured\n    file: \"0012.yaml\"\n    based_on: 2\n"
        "    restored_from: 1\n"
        "  - version: 13\n    type: structured\n    file: \"0013.yaml\"\n    layout: pretty\n"
        "  - version: 14\n    type: structured\n    file: \"0014.json\"\n"
        "  - version: 15\n    type: text\n    file: \"0015.json\"\n    is_quoted: true\n");
    assert_str(find(&files, "work/mood/Kindness/0001.md")->text, "---\nBe kind.\n");
    assert_str(find(&files, "work/mood/Kindness/0002.md")->text, "Be kind.\nAlways.\n");
    assert_str(find(&files, "work/mood/Kindness/0012.yaml")->text,
               "protocol: structured-chat\nmessages: []\n");
    assert_str(find(&files, "work/mood/Kindness/0013.yaml")->text, "messages: []\n");
    assert_str(find(&files, "work/mood/Kindness/0014.json")->text, "{\"messages\":[ ]}\n");
    assert_str(find(&files, "work/mood/Kindness/0015.json")->text, "\"bell\\u0007\"\n");
    pl_vec_deinit(&files.list);
    pl_arena_deinit(&arena);
}

static void assert_same_str(struct pl_str a, struct pl_str b)
{
    assert_int_equal(a.len, b.len);
    assert_true(pl_str_eq(a, b));
}

static void assert_same_prompt(const struct pl_filed_prompt *a, const struct pl_filed_prompt *b)
{
    assert_same_str(a->id, b->id);
    assert_same_str(a->name, b->name);
    assert_same_str(a->description, b->description);
    assert_same_str(a->folder, b->folder);
    assert_same_str(a->tags, b->tags);
    assert_same_str(a->labels, b->labels);
    assert_int_equal(a->is_pinned, b->is_pinned);
    assert_true(a->created_ms == b->created_ms);
    assert_int_equal(a->n_versions, b->n_versions);
    for (size_t i = 0; i < a->n_versions; i++) {
        const struct pl_filed_version *x = &a->versions[i], *y = &b->versions[i];
        assert_true(x->version == y->version && x->based_on == y->based_on);
        assert_true(x->restored_from == y->restored_from && x->created_ms == y->created_ms);
        assert_int_equal(x->is_structured, y->is_structured);
        assert_same_str(x->content, y->content);
        assert_same_str(x->note, y->note);
    }
}

/* Every part is a valid file name everywhere. */
static void assert_safe(struct pl_str path)
{
    assert_true(pl_utf8_is_valid(path));
    size_t start = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && path.ptr[i] != '/') {
            assert_null(strchr("<>:\"\\|?*~", path.ptr[i]));
            assert_true((unsigned char)path.ptr[i] >= 0x20);
            continue;
        }
        struct pl_str part = pl_str_slice(path, start, i);
        assert_true(part.len > 0 && part.len < 200);
        assert_null(strchr(".- ", part.ptr[0]));
        assert_null(strchr(". ", part.ptr[part.len - 1]));
        assert_false(part.len == 3 && strncasecmp(part.ptr, "con", 3) == 0);
        start = i + 1;
    }
}

struct taken {
    struct pl_map map;
    struct pl_arena *arena;
};

static bool is_taken(void *ctx, struct pl_str directory)
{
    struct taken *t = ctx;
    bool is_new;
    assert_non_null(pl_map_put(&t->map, pl_arena_dup(t->arena, directory), &is_new));
    return !is_new;
}

/* Writes prompts one after another, like a library, and reads them all back. */
static void assert_home(struct pl_arena *arena, const struct pl_filed_prompt *prompts, size_t n)
{
    struct taken taken = {.arena = arena};
    struct pl_prompt_files files = {0};
    struct pl_map paths = {0};
    struct pl_filed filed;
    pl_filed_init(&filed);
    for (size_t i = 0; i < n; i++)
        assert_int_equal(pl_prompt_files_write(arena, &prompts[i], is_taken, &taken, &files, NULL),
                         PL_OK);
    for (size_t i = 0; i < files.list.len; i++) {
        bool is_new;
        assert_safe(files.list.ptr[i].path);
        assert_non_null(pl_map_put(&paths, files.list.ptr[i].path, &is_new));
        assert_true(is_new);
        struct pl_str text = files.list.ptr[i].text;
        assert_true(text.len > 0 && text.ptr[text.len - 1] == '\n');
        assert_null(memchr(text.ptr, '\r', text.len));
    }
    assert_int_equal(
        pl_prompt_files_read(arena, files.list.ptr, files.list.len, PL_STR(""), &filed, NULL),
        PL_OK);
    assert_int_equal(filed.problems.len, 0);
    assert_int_equal(filed.prompts.len, n);
    for (size_t i = 0; i < n; i++)
        assert_same_prompt(&prompts[i], &filed.prompts.ptr[i]);
    pl_filed_deinit(&filed);
    pl_map_deinit(&paths);
    pl_vec_deinit(&files.list);
    pl_map_deinit(&taken.map);
}

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static struct pl_str draw_text(struct pl_arena *arena, uint32_t *seed, uint32_t most)
{
    static const char *const pieces[] = {
        "a",    "word ", "\n",       "\r\n", "\r",   "---", "# ",   ": ", "- ",     "\"",
        "'",    "\\",    "{{x}}",    "\t",   "  ",   "é",   "漢字", "🎉",  "\u2028", "\ufeff",
        "|",    ">",     "#",        "true", "null", "~",   "1e3",  "%",  "@",      "`",
        "\x01", "\x7f",  "\xc2\x85", "##",   "&a",   "*a",  "!",    "[",  "]}",     "..."};
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (uint32_t n = draw(seed, most); n--;)
        pl_buf_adds(&text, pieces[draw(seed, sizeof pieces / sizeof *pieces)]);
    return pl_arena_dup(arena, pl_buf_str(&text));
}

static void add_quoted(struct pl_buf *to, struct pl_str text, uint32_t *seed)
{
    pl_buf_addc(to, '"');
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        if (c < 0x20)
            pl_buf_addf(to, c == '\n' ? "\\n" : "\\u%04x", c);
        else if (c == '"' || c == '\\' || (c == '/' && draw(seed, 9) == 0))
            pl_buf_addf(to, "\\%c", c);
        else
            pl_buf_addc(to, (char)c);
    }
    pl_buf_addc(to, '"');
}

static struct pl_str draw_chat(struct pl_arena *arena, uint32_t *seed)
{
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    const char *gap = draw(seed, 4) ? "" : draw(seed, 2) ? " " : "\n ";
    pl_buf_addf(&json, "{\"protocol\":%s\"structured-chat\",\"system_prompt\":", gap);
    add_quoted(&json, draw_text(arena, seed, 9), seed);
    pl_buf_addf(&json, ",%s\"messages\":[", gap);
    for (uint32_t i = 0, n = draw(seed, 4); i < n; i++) {
        pl_buf_addf(&json, "%s{\"id\":\"m%u\",\"role\":\"user\",\"content\":", i ? "," : "", i);
        add_quoted(&json, draw_text(arena, seed, 9), seed);
        pl_buf_adds(&json, "}");
    }
    pl_buf_addf(&json, "],\"config\":{\"temperature\":%s,\"stop\":[[],{},null]}}%s",
                draw(seed, 3) ? "0.70" : "1e+2", gap);
    return pl_arena_dup(arena, pl_buf_str(&json));
}

static struct pl_str id_of(struct pl_arena *arena, uint32_t n)
{
    char text[64];
    snprintf(text, sizeof text, "prompt_%u", n);
    return pl_arena_dup(arena, pl_str_of(text));
}

static void draw_prompt(struct pl_arena *arena, uint32_t *seed, uint32_t n,
                        struct pl_filed_prompt *ret_prompt)
{
    static const char *const folders[] = {"",   "a",    "A", "a/b",  "work/audit",
                                          "..", "a//b", "/", "CON/x"};
    struct pl_filed_prompt p = {
        .id = id_of(arena, n),
        .name = draw_text(arena, seed, 5),
        .description = draw_text(arena, seed, 5),
        .folder = pl_str_of(folders[draw(seed, sizeof folders / sizeof *folders)]),
        .tags = draw(seed, 2) ? PL_STR("[]") : PL_STR("[\"x\",\"yes\"]"),
        .labels = draw(seed, 2) ? PL_STR("{}") : PL_STR("{\"production\":1,\"~\":2}"),
        .is_pinned = draw(seed, 2),
        .created_ms = draw(seed, 2) * (int64_t)1735787045678,
        .n_versions = draw(seed, 4) + 1,
    };
    if (!p.name.len)
        p.name = PL_STR("x");
    p.versions = pl_arena_zalloc(arena, p.n_versions, sizeof *p.versions);
    assert_non_null(p.versions);
    for (size_t i = 0; i < p.n_versions; i++) {
        bool is_structured = draw(seed, 2);
        p.versions[i] = (struct pl_filed_version){
            .version = (int64_t)i * 3 + 1,
            .is_structured = is_structured,
            .content = is_structured ? draw_chat(arena, seed) : draw_text(arena, seed, 12),
            .note = draw_text(arena, seed, 4),
            .based_on = draw(seed, 3),
            .restored_from = draw(seed, 3),
            .created_ms = draw(seed, 2) * (int64_t)1735787045001};
    }
    *ret_prompt = p;
}

static void random_libraries_come_home(void **state)
{
    (void)state;
    uint32_t seed = 11;
    for (int round = 0; round < 60; round++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        pl_arena_init(&arena, 0);
        struct pl_filed_prompt prompts[12];
        for (uint32_t i = 0; i < 12; i++)
            draw_prompt(&arena, &seed, i, &prompts[i]);
        assert_home(&arena, prompts, 12);
    }
}

static void hostile_names_make_harmless_files(void **state)
{
    (void)state;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    char *longest = pl_arena_alloc(&arena, 1, 901);
    memset(longest, 'n', 900);
    longest[900] = '\0';
    const char *names[] = {"..",
                           ".",
                           "a/b",
                           "CON",
                           "con.txt",
                           "com1",
                           "LPT9.x",
                           "x:y",
                           "🎉👩‍👩‍👧",
                           longest,
                           ".git",
                           "git~1",
                           "-rf",
                           " lead",
                           "trail. ",
                           "a\\b",
                           "$(id)",
                           "`id`",
                           "prompt.yaml",
                           "0001.md",
                           "Foo",
                           "foo",
                           "FOO",
                           "Ünder",
                           "ünder",
                           "\u202egnp.exe",
                           "a\nb",
                           "<>|?*",
                           "漢字漢字",
                           "...",
                           "foo prompt_21",
                           "PROMPT.YAML",
                           "\x01",
                           "nul ",
                           "NUL.tar.gz",
                           "foo"};
    enum { N = sizeof names / sizeof *names };
    static struct pl_filed_prompt prompts[N];
    struct pl_filed_version version = {.version = 1, .content = PL_STR("x")};
    for (uint32_t i = 0; i < N; i++)
        prompts[i] = (struct pl_filed_prompt){.id = id_of(&arena, i),
                                              .name = pl_str_of(names[i]),
                                              .tags = PL_STR("[]"),
                                              .labels = PL_STR("{}"),
                                              .versions = &version,
                                              .n_versions = 1};
    assert_home(&arena, prompts, N);
    for (uint32_t i = 0; i < N; i++)
        prompts[i].folder = pl_str_of(names[i]);
    assert_home(&arena, prompts, N);
}

static void edited_files_are_read_as_they_are_now(void **state)
{
    (void)state;
    struct pl_prompt_file files[] = {
        {PL_STR("f/P/prompt.yaml"),
         PL_STR(
             "name: P\r\nversions:\r\n- {version: 2, file: b.yaml}\r\n- {version: 1, file: a.md, "
             "type: text}\r\n- {version: 3, file: gone.md}\r\n- {version: 4, file: c.json}\r\n")},
        {PL_STR("f/P/a.md"), PL_STR("One\r\ntwo\r\n")},
        {PL_STR("f/P/b.yaml"), PL_STR("messages:\n- {role: user, content: Hi}\n")},
        {PL_STR("f/P/c.json"), PL_STR("[]")},
        {PL_STR("f/P/README.md"), PL_STR("Words.")},
    };
    struct shelf s;
    open_shelf(&s);
    assert_int_equal(pl_prompt_files_read(&s.arena, files, 5, PL_STR(""), &s.filed, NULL), PL_OK);
    assert_int_equal(s.filed.prompts.len, 2);
    const struct pl_filed_prompt *p = &s.filed.prompts.ptr[0];
    assert_str(p->folder, "f");
    assert_int_equal(p->n_versions, 2);
    assert_str(p->versions[0].content, "One\ntwo");
    assert_str(p->versions[1].content, "{\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}]}");
    assert_str(s.filed.prompts.ptr[1].name, "README");
    assert_int_equal(s.filed.problems.len, 2);
    assert_str(s.filed.problems.ptr[0].detail,
               "version 3 is in the file \"gone.md\", which does not exist");
    assert_str(s.filed.problems.ptr[1].path, "f/P/c.json");
    close_shelf(&s);
}

static bool note_first(void *ctx, struct pl_str directory)
{
    struct pl_buf *asked = ctx;
    if (!asked->len)
        pl_buf_add(asked, directory);
    return false;
}

static void a_directory_is_told_as_it_is_asked_for(void **state)
{
    (void)state;
    static const struct {
        struct pl_str folder, name;
        const char *directory;
    } cases[] = {
        {PL_STR("Work/Audit"), PL_STR("A/B: C?"), "work/audit/a_b_ c_"},
        {PL_STR(""), PL_STR("CON"), "_con"},
        {PL_STR(""), PL_STR("\xc3\x84rger"), "\xc3\xa4rger"},
    };
    struct pl_filed_version version = {.version = 1, .content = PL_STR("x")};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf told, asked;
        pl_arena_init(&arena, 0);
        pl_buf_init(&told, 0);
        pl_buf_init(&asked, 0);
        struct pl_filed_prompt p = {.folder = cases[i].folder,
                                    .name = cases[i].name,
                                    .versions = &version,
                                    .n_versions = 1};
        struct pl_prompt_files files = {0};
        pl_prompt_directory(&told, p.folder, p.name);
        assert_str(pl_buf_str(&told), cases[i].directory);
        assert_int_equal(pl_prompt_files_write(&arena, &p, note_first, &asked, &files, NULL),
                         PL_OK);
        assert_str(pl_buf_str(&asked), cases[i].directory);
        pl_vec_deinit(&files.list);
    }
}

static void what_cannot_be_a_file_is_refused(void **state)
{
    (void)state;
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_filed_version version = {.version = 1, .content = PL_STR("\xff")};
    struct pl_filed_prompt p = {.name = PL_STR("x"), .versions = &version, .n_versions = 1};
    struct pl_prompt_files files = {0};
    assert_int_equal(pl_prompt_files_write(&arena, &p, NULL, NULL, &files, NULL), PL_INVALID);
    version = (struct pl_filed_version){.is_structured = true, .content = PL_STR("{")};
    assert_int_equal(pl_prompt_files_write(&arena, &p, NULL, NULL, &files, NULL), PL_SYNTAX);
    assert_int_equal(files.list.len, 0);
    pl_vec_deinit(&files.list);
    pl_arena_deinit(&arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_told_by_name_and_content),
        cmocka_unit_test(requests_of_vendors_are_converted),
        cmocka_unit_test(what_a_conversion_drops_is_noted),
        cmocka_unit_test(a_structured_chat_keeps_its_bytes),
        cmocka_unit_test(a_prompt_of_github_loses_nothing),
        cmocka_unit_test(markdown_is_a_chat_or_a_text),
        cmocka_unit_test(prompts_of_langfuse_are_read),
        cmocka_unit_test(versions_of_langfuse_become_one_prompt),
        cmocka_unit_test(a_file_of_several_prompts_gives_several),
        cmocka_unit_test(a_file_that_holds_no_prompt_is_told),
        cmocka_unit_test(files_are_as_people_read_them),
        cmocka_unit_test(random_libraries_come_home),
        cmocka_unit_test(hostile_names_make_harmless_files),
        cmocka_unit_test(edited_files_are_read_as_they_are_now),
        cmocka_unit_test(a_directory_is_told_as_it_is_asked_for),
        cmocka_unit_test(what_cannot_be_a_file_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
