/* The Big List of Naughty Strings as names, folders, notes, tags and contents of prompts, text and
 * structured. Each is written as files with harmless names, and read back byte for byte. */
#include "base/text/utf8.h"
#include "conformance/corpora.h"
#include "promptfile/promptfile.h"
#include "json/json.h"
#include "json/text.h"
#include "json/write.h"

#include <stdlib.h>

/* Whether every system accepts the file name. */
static bool is_harmless(struct pl_str path)
{
    size_t start = 0;
    for (size_t i = 0; i <= path.len; i++) {
        if (i < path.len && path.ptr[i] != '/') {
            if ((unsigned char)path.ptr[i] < 0x20 || strchr("<>:\"\\|?*~", path.ptr[i]))
                return false;
            continue;
        }
        if (i == start || i - start > 200 || strchr(".- ", path.ptr[start]) ||
            strchr(". ", path.ptr[i - 1]))
            return false;
        start = i + 1;
    }
    return pl_utf8_is_valid(path);
}

static bool is_home(const struct pl_filed_prompt *a, const struct pl_filed_prompt *b)
{
    bool is_same = pl_str_eq(a->name, b->name) && pl_str_eq(a->folder, b->folder) &&
                   pl_str_eq(a->description, b->description) && pl_str_eq(a->tags, b->tags) &&
                   a->n_versions == b->n_versions;
    for (size_t i = 0; is_same && i < a->n_versions; i++)
        is_same = pl_str_eq(a->versions[i].content, b->versions[i].content) &&
                  pl_str_eq(a->versions[i].note, b->versions[i].note) &&
                  a->versions[i].is_structured == b->versions[i].is_structured;
    return is_same;
}

/* Writes the prompt, reads it, and compares. */
static bool comes_home(struct pl_arena *arena, const struct pl_filed_prompt *prompt)
{
    struct pl_prompt_files files = {0};
    struct pl_filed filed;
    pl_filed_init(&filed);
    bool is_good = pl_prompt_files_write(arena, prompt, NULL, NULL, &files, NULL) == PL_OK &&
                   pl_prompt_files_read(arena, files.list.ptr, files.list.len, PL_STR(""), &filed,
                                        NULL) == PL_OK &&
                   filed.problems.len == 0 && filed.prompts.len == 1 &&
                   is_home(prompt, &filed.prompts.ptr[0]);
    for (size_t i = 0; is_good && i < files.list.len; i++)
        is_good = is_harmless(files.list.ptr[i].path);
    pl_filed_deinit(&filed);
    pl_vec_deinit(&files.list);
    return is_good;
}

static void add_chat(struct pl_buf *to, struct pl_str text)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "protocol");
    pl_json_out_text(&out, PL_STR("structured-chat"));
    pl_json_out_key(&out, "system_prompt");
    pl_json_out_text(&out, text);
    pl_json_out_key(&out, "messages");
    pl_json_out_raw(&out, PL_STR("[]"));
    pl_json_out_key_str(&out, text);
    pl_json_out_null(&out);
    pl_json_out_close(&out, '}');
}

static void test_string(struct pl_str text, size_t number)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf chat, tags, lines;
    pl_arena_init(&arena, 0);
    pl_buf_init(&chat, 0);
    pl_buf_init(&tags, 0);
    pl_buf_init(&lines, 0);
    add_chat(&chat, text);
    pl_buf_addc(&tags, '[');
    pl_json_quote(&tags, text);
    pl_buf_addc(&tags, ']');
    for (int i = 0; i < 3; i++) {
        pl_buf_add(&lines, text);
        pl_buf_addc(&lines, '\n');
    }
    struct pl_filed_version versions[] = {
        {.version = 1, .content = text, .note = text},
        {.version = 2, .content = pl_buf_str(&lines)},
        {.version = 3, .is_structured = true, .content = pl_buf_str(&chat)},
    };
    struct pl_filed_prompt prompt = {.id = PL_STR("prompt_1"),
                                     .name = text.len ? text : PL_STR("x"),
                                     .description = text,
                                     .folder = text,
                                     .tags = pl_buf_str(&tags),
                                     .versions = versions,
                                     .n_versions = 3};
    tap_point(comes_home(&arena, &prompt), "string %zu comes home from its files", number);
}

int main(void)
{
    char *path = corpora_find("blns/blns.json");
    if (!path)
        return tap_skip_all("no blns/blns.json: set PARLEY_CORPORA to the corpora");
    size_t len, number = 0;
    char *json = corpora_read(path, &len);
    struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    bool is_read = pl_json_parse(&arena, (struct pl_str){json, len}, NULL, &doc, NULL) == PL_OK;
    tap_point(is_read && pl_json_count(doc.root) > 500, "the list is read");
    for (const struct pl_json_node *n = is_read ? pl_json_first(doc.root) : NULL;
         is_read && n < pl_json_end(doc.root); n = pl_json_next(n)) {
        struct pl_str text;
        if (pl_json_text(&arena, &doc, n, &text) == PL_OK)
            test_string(text, number++);
    }
    pl_arena_deinit(&arena);
    free(json);
    free(path);
    return tap_end();
}
