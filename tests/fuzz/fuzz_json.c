/* Strict parsing. Every instruction set gives the same status, the same error and the same tree.
 * Written text is read as the same value. The canonical form of canonical text is the text
 * itself. */
#include "json/equal.h"
#include "json/pointer.h"
#include "json/parse/survey.h"
#include "json/text.h"
#include "json/write.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static const struct pl_json_opts tolerant = {.allows_duplicate_keys = true,
                                             .allows_lone_surrogates = true};

static void compare_paths(struct pl_arena *arena, struct pl_str text, struct pl_json_opts opts)
{
    opts.has_cpu = true;
    opts.cpu = PL_CPU_SCALAR;
    struct pl_json_doc scalar = {0};
    struct pl_error scalar_err = {0};
    enum pl_status status = pl_json_parse(arena, text, &opts, &scalar, &scalar_err);
    for (int cpu = PL_CPU_SCALAR + 1; cpu < PL_CPU_COUNT; cpu++) {
        opts.cpu = (enum pl_cpu)cpu;
        struct pl_json_doc doc = {0};
        struct pl_error err = {0};
        if (!pl_cpu_has(opts.cpu))
            continue;
        must(pl_json_parse(arena, text, &opts, &doc, &err) == status);
        must(err.offset == scalar_err.offset && err.line == scalar_err.line);
        must(!strcmp(err.pointer, scalar_err.pointer) && !strcmp(err.message, scalar_err.message));
        must(doc.n_nodes == scalar.n_nodes);
        for (uint32_t i = 0; i < doc.n_nodes; i++)
            must(!memcmp(doc.root + i, scalar.root + i, sizeof *doc.root));
    }
}

static void must_read_back(struct pl_arena *arena, const struct pl_json_doc *doc,
                           const struct pl_buf *buf)
{
    struct pl_json_doc again;
    bool is_equal;
    must(buf->status == PL_OK);
    must(pl_json_parse(arena, pl_buf_str(buf), &tolerant, &again, NULL) == PL_OK);
    must(pl_json_equal(doc, doc->root, &again, again.root, &is_equal) == PL_OK && is_equal);
    must(pl_json_value_hash(doc, doc->root) == pl_json_value_hash(&again, again.root));
}

static void check_writers(struct pl_arena *arena, const struct pl_json_doc *doc)
{
    struct pl_buf buf, twice;
    pl_buf_init(&buf, 0);
    pl_buf_init(&twice, 0);
    pl_json_write_min(&buf, doc, doc->root);
    must_read_back(arena, doc, &buf);
    pl_buf_clear(&buf);
    pl_json_write_pretty(&buf, doc, doc->root);
    must_read_back(arena, doc, &buf);
    pl_buf_clear(&buf);
    must(pl_json_write_canonical(&buf, doc, doc->root) == PL_OK);
    must_read_back(arena, doc, &buf);
    struct pl_json_doc canonical;
    must(pl_json_parse(arena, pl_buf_str(&buf), &tolerant, &canonical, NULL) == PL_OK);
    must(pl_json_write_canonical(&twice, &canonical, canonical.root) == PL_OK);
    must(pl_str_eq(pl_buf_str(&buf), pl_buf_str(&twice)));
    pl_buf_deinit(&buf);
    pl_buf_deinit(&twice);
}

/* Decodes, quotes, parses and compares again. */
static void check_string(struct pl_arena *arena, const struct pl_json_doc *doc,
                         const struct pl_json_node *n)
{
    struct pl_buf buf;
    struct pl_str text;
    struct pl_json_doc quoted;
    pl_buf_init(&buf, 0);
    must(pl_json_text(arena, doc, n, &text) == PL_OK);
    must(pl_json_text_is(doc, n, text));
    pl_json_quote(&buf, text);
    must(pl_json_parse(arena, pl_buf_str(&buf), NULL, &quoted, NULL) == PL_OK);
    must(pl_json_text_same(doc, n, &quoted, quoted.root));
    must(pl_json_text_cmp(doc, n, &quoted, quoted.root) == 0);
    must(pl_json_text_count(doc, n) == pl_json_text_count(&quoted, quoted.root));
    pl_buf_deinit(&buf);
}

/* With unique keys the pointer of a node leads back to it, or from a key to its value. */
static void check_pointer(const struct pl_json_doc *doc, const struct pl_json_node *n)
{
    struct pl_buf buf;
    const struct pl_json_node *found;
    pl_buf_init(&buf, 0);
    pl_json_pointer_of(&buf, doc, n);
    must(pl_json_pointer_get(doc, pl_buf_str(&buf), &found, NULL) == PL_OK);
    must(found == (n->tag & PL_JSON_KEY ? n + 1 : n));
    pl_buf_deinit(&buf);
}

/* Every instruction set gives the same survey. If the document can be parsed, it matches the
 * tree. */
static void check_survey(struct pl_arena *arena, struct pl_str text, const struct pl_json_doc *doc)
{
    struct pl_json_survey first = {0}, other = {0};
    struct pl_json_opts opts = tolerant;
    opts.has_cpu = true;
    opts.cpu = PL_CPU_SCALAR;
    bool is_one = pl_json_survey(arena, text, &opts, &first);
    for (int cpu = PL_CPU_SCALAR + 1; cpu < PL_CPU_COUNT; cpu++) {
        opts.cpu = (enum pl_cpu)cpu;
        if (!pl_cpu_has(opts.cpu))
            continue;
        must(pl_json_survey(arena, text, &opts, &other) == is_one);
        must(first.n_text == other.n_text && first.n_long == other.n_long);
        for (uint32_t i = 0; i < first.doc.n_nodes; i++)
            must(!memcmp(first.doc.root + i, other.doc.root + i, sizeof *other.doc.root));
    }
    if (!is_one || !doc)
        return;
    const struct pl_json_node *k = pl_json_first(doc->root);
    must(first.doc.root->len == doc->root->len);
    for (uint32_t i = 1; i < first.doc.n_nodes; i += 2, k = pl_json_next_member(k)) {
        must(k < pl_json_end(doc->root) && first.doc.root[i].off == k->off);
        must(first.doc.root[i + 1].off == k[1].off && first.doc.root[i + 1].len == k[1].len);
    }
    must(k == pl_json_end(doc->root));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct pl_str text = {(const char *)data, size};
    struct pl_arena arena;
    struct pl_json_doc doc, strict;
    pl_arena_init(&arena, 0);
    compare_paths(&arena, text, (struct pl_json_opts){0});
    compare_paths(&arena, text, tolerant);
    bool is_json = pl_json_parse(&arena, text, &tolerant, &doc, NULL) == PL_OK;
    check_survey(&arena, text, is_json ? &doc : NULL);
    if (is_json) {
        bool is_strict = pl_json_parse(&arena, text, NULL, &strict, NULL) == PL_OK;
        check_writers(&arena, &doc);
        for (uint32_t i = 0; i < doc.n_nodes && i < 100; i++) {
            if (pl_json_kind(doc.root + i) == PL_JSON_STRING)
                check_string(&arena, &doc, doc.root + i);
            if (is_strict)
                check_pointer(&doc, doc.root + i);
        }
    }
    pl_arena_deinit(&arena);
    return 0;
}
