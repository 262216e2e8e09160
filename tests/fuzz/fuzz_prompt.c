/* Prompts: two halves of the input are compared, and all of it is read as a file of some kind. A
 * comparison must reproduce both texts. A prompt that was read must survive writing to files and
 * reading them.
 *
 * The first byte picks which halves are structured and the name of the file. */
#include "prompt/diff.h"
#include "promptfile/promptfile.h"
#include "json/json.h"
#include "json/text.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static struct pl_json_doc parse(struct pl_arena *arena, struct pl_str text)
{
    struct pl_json_opts opts = {
        .max_depth = 80, .allows_duplicate_keys = true, .allows_lone_surrogates = true};
    struct pl_json_doc doc;
    must(pl_json_parse(arena, text, &opts, &doc, NULL) == PL_OK);
    return doc;
}

/* Joins the words of one side. */
static void join_words(struct pl_arena *arena, const struct pl_json_doc *doc,
                       const struct pl_json_node *words, const char *other, struct pl_buf *to)
{
    for (const struct pl_json_node *n = pl_json_first(words); n < pl_json_end(words);
         n = pl_json_next(n)) {
        struct pl_str text;
        if (pl_json_text_is(doc, pl_json_get(doc, n, PL_STR("op")), pl_str_of(other)))
            continue;
        must(pl_json_text(arena, doc, pl_json_get(doc, n, PL_STR("text")), &text) == PL_OK);
        must(text.len > 0);
        pl_buf_add(to, text);
    }
}

static void check_words(struct pl_arena *arena, const struct pl_json_doc *doc, struct pl_str from,
                        struct pl_str to)
{
    const struct pl_json_node *blocks = pl_json_get(doc, doc->root, PL_STR("blocks"));
    must(pl_json_count(blocks) == 1);
    const struct pl_json_node *words = pl_json_get(doc, pl_json_first(blocks), PL_STR("words"));
    must(!words == pl_str_eq(from, to));
    if (!words)
        return;
    struct pl_buf said;
    pl_buf_init(&said, 0);
    join_words(arena, doc, words, "added", &said);
    must(pl_str_eq(pl_buf_str(&said), from));
    pl_buf_clear(&said);
    join_words(arena, doc, words, "removed", &said);
    must(pl_str_eq(pl_buf_str(&said), to));
    pl_buf_deinit(&said);
}

/* Every block of both sides is reported once. */
static void check_blocks(const struct pl_json_doc *doc)
{
    const struct pl_json_node *blocks = pl_json_get(doc, doc->root, PL_STR("blocks"));
    uint64_t sums[2] = {0, 0}, counts[2] = {0, 0};
    for (const struct pl_json_node *n = pl_json_first(blocks); n < pl_json_end(blocks);
         n = pl_json_next(n)) {
        static const char *const keys[] = {"from_index", "to_index"};
        for (int side = 0; side < 2; side++) {
            const struct pl_json_node *index = pl_json_get(doc, n, pl_str_of(keys[side]));
            if (pl_json_kind(index) == PL_JSON_NULL)
                continue;
            uint64_t value = 0;
            for (uint32_t i = 0; i < index->len; i++)
                value = 10 * value + (uint64_t)(doc->text.ptr[index->off + i] - '0');
            sums[side] += value;
            counts[side]++;
        }
    }
    for (int side = 0; side < 2; side++)
        must(sums[side] == (counts[side] ? counts[side] * (counts[side] - 1) / 2 : 0));
}

static void check_diff(const struct pl_prompt_text *from, const struct pl_prompt_text *to)
{
    struct pl_arena arena;
    struct pl_buf out;
    pl_arena_init(&arena, 0);
    pl_buf_init(&out, 0);
    if (pl_prompt_diff(&arena, from, to, &out, NULL) == PL_OK) {
        struct pl_json_doc doc = parse(&arena, pl_buf_str(&out));
        check_blocks(&doc);
        if (!from->is_structured && !to->is_structured)
            check_words(&arena, &doc, from->content, to->content);
    } else {
        must(out.len == 0);
    }
    pl_buf_clear(&out);
    if (pl_prompt_diff(&arena, from, from, &out, NULL) == PL_OK)
        must(pl_str_starts(pl_buf_str(&out), PL_STR("{\"is_same\":true,")));
    pl_buf_clear(&out);
    if (pl_prompt_variables(&arena, to, &out, NULL) == PL_OK)
        parse(&arena, pl_buf_str(&out));
    pl_buf_deinit(&out);
    pl_arena_deinit(&arena);
}

static void check_home(struct pl_arena *arena, const struct pl_filed_prompt *prompt)
{
    struct pl_prompt_files files = {0};
    struct pl_filed home;
    pl_filed_init(&home);
    must(pl_prompt_files_write(arena, prompt, NULL, NULL, &files, NULL) == PL_OK);
    must(pl_prompt_files_read(arena, files.list.ptr, files.list.len, PL_STR(""), &home, NULL) ==
         PL_OK);
    must(home.problems.len == 0 && home.prompts.len == 1);
    const struct pl_filed_prompt *back = &home.prompts.ptr[0];
    must(pl_str_eq(back->name, prompt->name) && pl_str_eq(back->folder, prompt->folder));
    must(pl_str_eq(back->description, prompt->description) && pl_str_eq(back->tags, prompt->tags));
    must(back->n_versions == prompt->n_versions);
    for (size_t i = 0; i < back->n_versions; i++) {
        must(back->versions[i].is_structured == prompt->versions[i].is_structured);
        must(pl_str_eq(back->versions[i].content, prompt->versions[i].content));
        must(pl_str_eq(back->versions[i].note, prompt->versions[i].note));
    }
    pl_filed_deinit(&home);
    pl_vec_deinit(&files.list);
}

static void check_file(struct pl_str path, struct pl_str text)
{
    struct pl_arena arena;
    struct pl_filed filed;
    pl_arena_init(&arena, 0);
    pl_filed_init(&filed);
    struct pl_prompt_file files[] = {{path, text}, {PL_STR("d/0001.md"), text}};
    must(pl_prompt_files_read(&arena, files, 2, PL_STR(""), &filed, NULL) == PL_OK);
    must(filed.prompts.len + filed.problems.len > 0);
    for (size_t i = 0; i < filed.prompts.len; i++) {
        must(filed.prompts.ptr[i].name.len > 0 && filed.prompts.ptr[i].n_versions > 0);
        for (size_t k = 0; k < filed.prompts.ptr[i].n_versions; k++)
            if (filed.prompts.ptr[i].versions[k].is_structured)
                parse(&arena, filed.prompts.ptr[i].versions[k].content);
        check_home(&arena, &filed.prompts.ptr[i]);
    }
    pl_filed_deinit(&filed);
    pl_arena_deinit(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const paths[] = {"d/a.yml", "d/a.json", "d/a.md",        "a.txt",
                                        "a.jsonl", "d/a",      "d/prompt.yaml", "d/e/a.prompt.yml"};
    if (size < 1)
        return 0;
    struct pl_str text = {(const char *)data + 1, size - 1};
    size_t half = text.len / 2;
    struct pl_prompt_text from = {data[0] & 1, pl_str_slice(text, 0, half)};
    struct pl_prompt_text to = {data[0] & 2, pl_str_slice(text, half, text.len)};
    struct pl_prompt_text whole = {data[0] & 1, text};
    check_diff(&from, &to);
    check_diff(&whole, &from);
    check_file(pl_str_of(paths[data[0] >> 2 & 7]), text);
    return 0;
}
