/* Everything in json/ survives running out of memory at any point: the status says so, outputs stay
 * unchanged, nothing leaks. */
#include "fault/fault.h"
#include "json/edit/edit.h"
#include "json/equal.h"
#include "json/parse/lenient.h"
#include "json/pointer.h"
#include "json/text.h"
#include "json/write.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

/* Many members (a table looks for duplicates), escapes, depth; comments in the lenient copy. */
static char strict[1 << 16], reversed[1 << 16], relaxed[1 << 16], deep[1 << 14];
static struct pl_str strict_text, reversed_text, relaxed_text, deep_text;

static int make_texts(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf a, b, c, d;
    pl_buf_init(&a, sizeof strict);
    pl_buf_init(&b, sizeof reversed);
    pl_buf_init(&c, sizeof relaxed);
    pl_buf_init(&d, sizeof deep);
    for (int i = 0; i < 300; i++) {
        pl_buf_addf(&a, "%c\"k\\u00e9%d\":[%d,{\"x\":\"\\n\"},null]", i ? ',' : '{', i, i);
        pl_buf_addf(&b, "%c\"ké%d\":[%d.0,{\"x\":\"\\u000a\"},null]", i ? ',' : '{', 299 - i,
                    299 - i);
        pl_buf_addf(&c, "%c // %d\n\"k\\ud800%d\": [1,/**/2,]", i ? ',' : '{', i, i % 290);
    }
    for (int i = 0; i < 500; i++)
        pl_buf_adds(&d, "{\"b\":0,\"a\":[");
    for (int i = 0; i < 500; i++)
        pl_buf_adds(&d, "]}");
    pl_buf_addc(&a, '}');
    pl_buf_addc(&b, '}');
    pl_buf_addc(&c, '}');
    if (a.status != PL_OK || b.status != PL_OK || c.status != PL_OK || d.status != PL_OK)
        return 1;
    memcpy(strict, a.ptr, a.len);
    memcpy(reversed, b.ptr, b.len);
    memcpy(relaxed, c.ptr, c.len);
    memcpy(deep, d.ptr, d.len);
    strict_text = (struct pl_str){strict, a.len};
    reversed_text = (struct pl_str){reversed, b.len};
    relaxed_text = (struct pl_str){relaxed, c.len};
    deep_text = (struct pl_str){deep, d.len};
    return 0;
}

static const struct pl_json_opts deep_opts = {.max_depth = 2000};

static enum pl_status parse(struct pl_arena *arena, struct pl_str text, struct pl_json_doc *ret_doc)
{
    struct pl_json_doc before = *ret_doc;
    struct pl_error err;
    enum pl_status status = pl_json_parse(arena, text, &deep_opts, ret_doc, &err);
    if (status != PL_OK) {
        assert_ptr_equal(ret_doc->root, before.root);
        assert_int_equal(err.status, status);
        assert_true(err.message[0]);
    }
    return status;
}

static enum pl_status parse_strictly(void *ctx)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc = {0};
    return parse(&arena, *(struct pl_str *)ctx, &doc);
}

static enum pl_status parse_leniently(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc = {0};
    struct pl_json_notes notes = {0};
    enum pl_status status = pl_json_parse_lenient(&arena, relaxed_text, NULL, &doc, &notes, NULL);
    /* A comment before every key, one inside every array, its trailing comma, half a surrogate pair
     * in every key, and ten repeated keys. */
    assert_int_equal(notes.len, status == PL_OK ? 300 * 4 + 10 : 0);
    assert_int_equal(doc.n_nodes > 0, status == PL_OK);
    return status;
}

static enum pl_status compare(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc a = {0}, b = {0};
    enum pl_status status = parse(&arena, strict_text, &a);
    if (status == PL_OK)
        status = parse(&arena, reversed_text, &b);
    bool is_equal = false;
    if (status == PL_OK)
        status = pl_json_equal(&a, a.root, &b, b.root, &is_equal);
    assert_int_equal(is_equal, status == PL_OK);
    return status;
}

static enum pl_status write_canonical(void *ctx)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_arena_init(&arena, 0);
    pl_buf_init(&buf, 0);
    struct pl_json_doc doc = {0};
    enum pl_status status = parse(&arena, *(struct pl_str *)ctx, &doc);
    if (status == PL_OK) {
        status = pl_json_write_canonical(&buf, &doc, doc.root);
        assert_int_equal(status, buf.status);
    }
    return status;
}

static enum pl_status write_both_ways(void *ctx)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf min, pretty;
    pl_arena_init(&arena, 0);
    pl_buf_init(&min, 0);
    pl_buf_init(&pretty, 0);
    struct pl_json_doc doc = {0};
    enum pl_status status = parse(&arena, *(struct pl_str *)ctx, &doc);
    if (status != PL_OK)
        return status;
    pl_json_write_min(&min, &doc, doc.root);
    pl_json_write_pretty(&pretty, &doc, doc.root);
    return min.status != PL_OK ? min.status : pretty.status;
}

static enum pl_status decode_all(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_arena_init(&arena, 0);
    pl_buf_init(&buf, 0);
    struct pl_json_doc doc = {0};
    enum pl_status status = parse(&arena, strict_text, &doc);
    for (uint32_t i = 0; i < doc.n_nodes && status == PL_OK; i++) {
        struct pl_str text = {0};
        if (pl_json_kind(doc.root + i) != PL_JSON_STRING)
            continue;
        status = pl_json_text(&arena, &doc, doc.root + i, &text);
        assert_int_equal(text.ptr != NULL, status == PL_OK);
        pl_json_quote(&buf, text);
        pl_json_pointer_of(&buf, &doc, doc.root + i);
    }
    return status != PL_OK ? status : buf.status;
}

static enum pl_status collect_edits(struct pl_json_edit *edit)
{
    enum pl_status status = pl_json_edit_remove(edit, PL_STR("/ké7"), NULL);
    if (status == PL_OK)
        status = pl_json_edit_set(edit, PL_STR("/ké8/1/x"), PL_STR("[1,{\"a\":2}]"), NULL);
    if (status == PL_OK)
        status = pl_json_edit_set(edit, PL_STR("/new~1one"), PL_STR("0"), NULL);
    if (status == PL_OK)
        status = pl_json_edit_insert(edit, PL_STR("/new two"), PL_STR("0"), NULL);
    for (int i = 0; i < 20 && status == PL_OK; i++)
        status = pl_json_edit_insert(edit, PL_STR("/ké9/1"), PL_STR("\"x\""), NULL);
    return status;
}

/* A failed write sets the buffer's status. */
static enum pl_status edit_document(void *ctx)
{
    (void)ctx;
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_arena_init(&arena, 0);
    pl_buf_init(&buf, 0);
    struct pl_json_doc doc = {0}, after = {0};
    enum pl_status status = parse(&arena, strict_text, &doc);
    if (status != PL_OK)
        return status;
    struct pl_json_edit edit;
    pl_json_edit_init(&edit, &arena, &doc);
    status = collect_edits(&edit);
    if (status == PL_OK) {
        assert_int_equal(edit.changes.len, 24);
        status = pl_json_edit_write(&edit, &buf);
        assert_int_equal(status, buf.status);
    }
    pl_json_edit_deinit(&edit);
    return status != PL_OK ? status : parse(&arena, pl_buf_str(&buf), &after);
}

static void assert_survives(const char *name, pl_fault_fn *scenario, void *ctx)
{
    size_t n_tried = pl_fault_each(scenario, ctx);
    assert_true(n_tried > 0);
    print_message("# %s: %zu allocations failed in turn, twice\n", name, n_tried);
}

#define SURVIVES(test, scenario, ctx)                                                              \
    static void test(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        assert_survives(#scenario, scenario, ctx);                                                 \
    }

SURVIVES(strict_parsing_survives, parse_strictly, &strict_text)
SURVIVES(deep_parsing_survives, parse_strictly, &deep_text)
SURVIVES(lenient_parsing_survives, parse_leniently, NULL)
SURVIVES(comparing_survives, compare, NULL)
SURVIVES(canonical_writing_survives, write_canonical, &strict_text)
SURVIVES(deep_canonical_writing_survives, write_canonical, &deep_text)
SURVIVES(writing_survives, write_both_ways, &strict_text)
SURVIVES(deep_writing_survives, write_both_ways, &deep_text)
SURVIVES(decoding_survives, decode_all, NULL)
SURVIVES(editing_survives, edit_document, NULL)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strict_parsing_survives),
        cmocka_unit_test(deep_parsing_survives),
        cmocka_unit_test(lenient_parsing_survives),
        cmocka_unit_test(comparing_survives),
        cmocka_unit_test(canonical_writing_survives),
        cmocka_unit_test(deep_canonical_writing_survives),
        cmocka_unit_test(writing_survives),
        cmocka_unit_test(deep_writing_survives),
        cmocka_unit_test(decoding_survives),
        cmocka_unit_test(editing_survives),
    };
    return cmocka_run_group_tests(tests, make_texts, NULL);
}
