/* Editing in place: the changes, and that nothing else changes. */
#include "json/edit/edit.h"
#include "json/parse/lenient.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

struct op {
    char kind; /* s, i, r */
    const char *pointer, *value;
};

/* A document and its edit; lenient documents are edited in their original text. */
struct bench {
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_json_edit edit;
    struct pl_buf out;
    struct pl_error err;
};

static void open_bench(struct bench *b, struct pl_str text, bool is_lenient)
{
    memset(b, 0, sizeof *b);
    pl_arena_init(&b->arena, 0);
    pl_buf_init(&b->out, 0);
    struct pl_json_notes notes;
    struct pl_json_opts opts = {.allows_duplicate_keys = true};
    if (is_lenient)
        assert_int_equal(pl_json_parse_lenient(&b->arena, text, NULL, &b->doc, &notes, NULL),
                         PL_OK);
    else
        assert_int_equal(pl_json_parse(&b->arena, text, &opts, &b->doc, NULL), PL_OK);
    b->doc.text = text;
    pl_json_edit_init(&b->edit, &b->arena, &b->doc);
}

static void close_bench(struct bench *b)
{
    pl_json_edit_deinit(&b->edit);
    pl_buf_deinit(&b->out);
    pl_arena_deinit(&b->arena);
}

static enum pl_status apply(struct bench *b, const struct op *op)
{
    struct pl_str pointer = pl_str_of(op->pointer), value = pl_str_of(op->value);
    if (op->kind == 's')
        return pl_json_edit_set(&b->edit, pointer, value, &b->err);
    if (op->kind == 'i')
        return pl_json_edit_insert(&b->edit, pointer, value, &b->err);
    return pl_json_edit_remove(&b->edit, pointer, &b->err);
}

static void assert_edit_of(bool is_lenient, const char *text, const char *expected,
                           const struct op *ops)
{
    struct bench b;
    open_bench(&b, pl_str_of(text), is_lenient);
    for (; ops->kind; ops++)
        if (apply(&b, ops) != PL_OK)
            fail_msg("%c %s: %s", ops->kind, ops->pointer, b.err.message);
    assert_int_equal(pl_json_edit_write(&b.edit, &b.out), PL_OK);
    struct pl_json_doc after;
    struct pl_json_notes notes;
    struct pl_str out = pl_buf_str(&b.out);
    enum pl_status status = is_lenient
                                ? pl_json_parse_lenient(&b.arena, out, NULL, &after, &notes, NULL)
                                : pl_json_parse(&b.arena, out, NULL, &after, NULL);
    if (!pl_str_eq(out, pl_str_of(expected)) || status != PL_OK)
        fail_msg("%s became %.*s, not %s", text, PL_STR_ARG(out), expected);
    close_bench(&b);
}

#define assert_edit(text, expected, ...)                                                           \
    assert_edit_of(false, text, expected, (const struct op[]){__VA_ARGS__, {0}})
#define assert_lenient_edit(text, expected, ...)                                                   \
    assert_edit_of(true, text, expected, (const struct op[]){__VA_ARGS__, {0}})

static void a_value_is_replaced_and_nothing_else(void **state)
{
    (void)state;
    assert_edit(" { \"a\" : [ 1 , 2.50e1 ] } \n", " { \"a\" : [ 1 , \"x\" ] } \n",
                {'s', "/a/1", "\"x\""});
    assert_edit("{\"a\\u0062\":1,\"c\":2}", "{\"a\\u0062\":{ },\"c\":2}", {'s', "/ab", "{ }"});
    assert_edit(" [1] ", " null ", {'s', "", "null"});
    assert_edit("[1,2,3]", "[7,2,9]", {'s', "/2", "9"}, {'s', "/0", "7"});
    assert_edit("[[1],[2]]", "[[3],[4]]", {'s', "/0/0", "3"}, {'s', "/1/0", "4"});
}

static void an_edit_without_changes_copies_the_text(void **state)
{
    (void)state;
    const char *text = "\t{ \"a\" :\r\n1 }\n";
    assert_edit_of(false, text, text, (const struct op[]){{0}});
}

static void an_element_is_removed_with_one_separator(void **state)
{
    (void)state;
    assert_edit("[1, 2, 3]", "[2, 3]", {'r', "/0"});
    assert_edit("[1, 2, 3]", "[1, 3]", {'r', "/1"});
    assert_edit("[1, 2, 3]", "[1, 2]", {'r', "/2"});
    assert_edit("[1 ,2  ,   3 ]", "[1  ,   3 ]", {'r', "/1"});
    assert_edit("[\n  1,\n  2\n]", "[\n  2\n]", {'r', "/0"});
    assert_edit("[\n  1,\n  2\n]", "[\n  1\n]", {'r', "/1"});
    assert_edit("[[1,2],[3]]", "[[3]]", {'r', "/0"});
}

static void a_member_is_removed_with_its_key(void **state)
{
    (void)state;
    assert_edit("{\"a\" : 1, \"b\" : 2, \"c\" : 3}", "{\"b\" : 2, \"c\" : 3}", {'r', "/a"});
    assert_edit("{\"a\" : 1, \"b\" : 2, \"c\" : 3}", "{\"a\" : 1, \"c\" : 3}", {'r', "/b"});
    assert_edit("{\"a\" : 1, \"b\" : 2, \"c\" : 3}", "{\"a\" : 1, \"b\" : 2}", {'r', "/c"});
    assert_edit("{\"a\":[0],\"b\":{}}", "{\"b\":{}}", {'r', "/a"});
}

static void the_only_child_leaves_an_empty_container(void **state)
{
    (void)state;
    assert_edit("[1]", "[]", {'r', "/0"});
    assert_edit("{ \"a\": [ 1 ] }", "{ \"a\": [] }", {'r', "/a/0"});
    assert_edit("{\n  \"a\": 1\n}", "{}", {'r', "/a"});
}

static void several_removals_leave_one_separator_between_neighbours(void **state)
{
    (void)state;
    assert_edit("[1, 2, 3, 4]", "[1, 4]", {'r', "/1"}, {'r', "/2"});
    assert_edit("[1, 2, 3, 4]", "[3, 4]", {'r', "/1"}, {'r', "/0"});
    assert_edit("[1, 2, 3, 4]", "[1, 2]", {'r', "/2"}, {'r', "/3"});
    assert_edit("[1, 2, 3, 4]", "[2, 4]", {'r', "/2"}, {'r', "/0"});
    assert_edit("[1, 2, 3, 4]", "[1, 3]", {'r', "/1"}, {'r', "/3"});
    assert_edit("[ 1, 2 ]", "[]", {'r', "/0"}, {'r', "/1"});
    assert_edit("{\"a\":1,\"b\":2}", "{}", {'r', "/b"}, {'r', "/a"});
}

static void a_new_element_looks_like_its_neighbours(void **state)
{
    (void)state;
    assert_edit("[1, 2]", "[0, 1, 2]", {'i', "/0", "0"});
    assert_edit("[1, 2]", "[1, 0, 2]", {'i', "/1", "0"});
    assert_edit("[1, 2]", "[1, 2, 0]", {'i', "/2", "0"});
    assert_edit("[1, 2]", "[1, 2, 0]", {'i', "/-", "0"});
    assert_edit("[1,2]", "[1,2,0]", {'s', "/-", "0"});
    assert_edit("[1,2]", "[1,2,0]", {'s', "/2", "0"});
    assert_edit("[\n  1,\n  2\n]", "[\n  1,\n  0,\n  2\n]", {'i', "/1", "0"});
    assert_edit("[\n  1,\n  2\n]", "[\n  1,\n  2,\n  0\n]", {'i', "/-", "0"});
    assert_edit("[\n  1\n]", "[\n  0,\n  1\n]", {'i', "/0", "0"});
    assert_edit("[\n  1\n]", "[\n  1,\n  0\n]", {'i', "/1", "0"});
    assert_edit("[ 1 ]", "[ 1, 0 ]", {'i', "/-", "0"});
    assert_edit("[1 , 2]", "[1 , 0 , 2]", {'i', "/1", "0"});
}

static void a_new_member_copies_the_colon_too(void **state)
{
    (void)state;
    assert_edit("{\"a\" :  1, \"b\" :  2}", "{\"a\" :  1, \"b\" :  2, \"c\" :  3}",
                {'s', "/c", "3"});
    assert_edit("{\"a\":1}", "{\"a\":1,\"b\":2}", {'i', "/b", "2"});
    assert_edit("{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"b\": 2\n}", {'s', "/b", "2"});
    assert_edit("{\"a\":1}", "{\"a\":1,\"~/\\\"\\n\":2}", {'s', "/~0~1\"\n", "2"});
    assert_edit("{\"a\":1}", "{\"a\":1,\"\":2}", {'s', "/", "2"});
}

static void an_empty_container_is_filled_compactly_or_by_its_white_space(void **state)
{
    (void)state;
    assert_edit("[]", "[1]", {'i', "/0", "1"});
    assert_edit("{}", "{\"a\":1}", {'s', "/a", "1"});
    assert_edit("{\"a\": {}}", "{\"a\": {\"b\": 1}}", {'s', "/a/b", "1"});
    assert_edit(" [ ] ", " [ 1, 2 ] ", {'i', "/-", "1"}, {'i', "/-", "2"});
    assert_edit("{\n  \"a\": [\n  ]\n}", "{\n  \"a\": [\n    1,\n    2\n  ]\n}", {'i', "/a/0", "1"},
                {'i', "/a/0", "2"});
    assert_edit("{\n\t\"a\": {\n\t}\n}", "{\n\t\"a\": {\n\t\t\"b\": 1\n\t}\n}", {'s', "/a/b", "1"});
    assert_edit("[]", "[1,2,3]", {'i', "/0", "1"}, {'i', "/-", "2"}, {'s', "/0", "3"});
    assert_edit("\n{\n}\n", "\n{\n  \"a\":1\n}\n", {'s', "/a", "1"});
}

static void inserts_at_one_place_keep_their_order(void **state)
{
    (void)state;
    assert_edit("[1, 2]", "[\"a\", \"b\", 1, \"c\", \"d\", 2, \"e\", \"f\"]", {'i', "/0", "\"a\""},
                {'i', "/1", "\"c\""}, {'i', "/2", "\"e\""}, {'i', "/0", "\"b\""},
                {'i', "/1", "\"d\""}, {'i', "/-", "\"f\""});
}

static void insert_and_removal_at_one_place_go_together(void **state)
{
    (void)state;
    assert_edit("[1, 2, 3]", "[0, 2, 3]", {'r', "/0"}, {'i', "/0", "0"});
    assert_edit("[1, 2, 3]", "[1, 0, 3]", {'i', "/1", "0"}, {'r', "/1"});
    assert_edit("[1, 2, 3]", "[1, 2, 0]", {'r', "/2"}, {'i', "/-", "0"});
    assert_edit("[1, 2, 3]", "[0, 9]", {'r', "/2"}, {'i', "/0", "0"}, {'r', "/1"}, {'r', "/0"},
                {'i', "/3", "9"});
    assert_edit("[ 1 ]", "[ 2, 3 ]", {'r', "/0"}, {'i', "/-", "2"}, {'i', "/-", "3"});
    assert_edit("[1, 2]", "[2, 0]", {'r', "/0"}, {'i', "/2", "0"});
    assert_edit("[1, 2]", "[0, 2]", {'r', "/0"}, {'i', "/1", "0"});
    assert_edit("{\"a\":1,\"b\":2}", "{\"b\":3,\"c\":4}", {'r', "/a"}, {'s', "/b", "3"},
                {'s', "/c", "4"});
}

static void neighbours_can_be_set_while_something_is_inserted(void **state)
{
    (void)state;
    assert_edit("[1, 2]", "[8, 0, 9]", {'s', "/1", "9"}, {'i', "/1", "0"}, {'s', "/0", "8"});
    assert_edit("[1]", "[0,9,8]", {'s', "/0", "9"}, {'i', "/0", "0"}, {'i', "/1", "8"});
    assert_edit("[[1],[2]]", "[[1,7],0,[6,2],8]", {'i', "/1", "0"}, {'i', "/0/-", "7"},
                {'i', "/1/0", "6"}, {'i', "/-", "8"});
}

static void the_last_of_equal_keys_is_edited(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, PL_STR("{\"a\":1,\"a\":2}"), false);
    assert_int_equal(pl_json_edit_set(&b.edit, PL_STR("/a"), PL_STR("3"), NULL), PL_OK);
    assert_int_equal(pl_json_edit_write(&b.edit, &b.out), PL_OK);
    assert_true(pl_str_eq(pl_buf_str(&b.out), PL_STR("{\"a\":1,\"a\":3}")));
    close_bench(&b);
}

static void comments_survive(void **state)
{
    (void)state;
    assert_lenient_edit("// top\n{\n  \"a\": 1, // one\n  \"b\": 2 // two\n}\n",
                        "// top\n{\n  \"a\": 9, // one\n  \"b\": 2 // two\n}\n", {'s', "/a", "9"});
    assert_lenient_edit("[\n  1, // one\n  2 // two\n]", "[\n  1, // one\n  0,\n  2 // two\n]",
                        {'i', "/1", "0"});
    assert_lenient_edit("[\n  1, // one\n  2 // two\n]", "[\n  1, // one\n  2, // two\n  3\n]",
                        {'i', "/-", "3"});
    assert_lenient_edit("[\n  1, // one\n  2 // two\n]", "[\n  1 // one\n   // two\n]",
                        {'r', "/1"});
    assert_lenient_edit("[\n  1, // one\n  2 // two\n]", "[\n   // one\n  2 // two\n]",
                        {'r', "/0"});
    assert_lenient_edit("[1, /* a */ 2, /* b */ 3]", "[ /* a */  /* b */ 3]", {'r', "/0"},
                        {'r', "/1"});
    assert_lenient_edit("[1, /* a */ 2]", "[ /* a */ ]", {'r', "/0"}, {'r', "/1"});
}

static void a_trailing_comma_is_not_doubled(void **state)
{
    (void)state;
    assert_lenient_edit("[1,]", "[1,2,]", {'i', "/-", "2"});
    assert_lenient_edit("[1,2,]", "[1,]", {'r', "/1"});
    assert_lenient_edit("[1,2,]", "[2,]", {'r', "/0"});
    assert_lenient_edit("[1,]", "[]", {'r', "/0"});
    assert_lenient_edit("[1,]", "[2]", {'r', "/0"}, {'i', "/-", "2"});
    assert_lenient_edit("[1 /* a */ , // b\n]", "[ /* a */  // b\n]", {'r', "/0"});
    assert_lenient_edit("{\n  \"a\": 1,\n}", "{\n  \"a\": 1,\n  \"b\": 2,\n  \"c\": 3,\n}",
                        {'s', "/b", "2"}, {'s', "/c", "3"});
    assert_lenient_edit("[\n  1, // a\n]", "[\n  1, // a\n  2,\n]", {'i', "/-", "2"});
    assert_lenient_edit("[1, // a\n]", "[1, // a\n2,\n]", {'i', "/-", "2"});
}

static void comments_in_empty_containers_stay_first(void **state)
{
    (void)state;
    assert_lenient_edit("[/* a */]", "[/* a */1]", {'i', "/0", "1"});
    assert_lenient_edit("[ // a\n]", "[ // a\n  1\n]", {'i', "/0", "1"});
    assert_lenient_edit("[1 // a\n]", "[ // a\n2\n]", {'r', "/0"}, {'i', "/-", "2"});
}

static void assert_refused(const char *text, struct op op, enum pl_status status, const char *word)
{
    struct bench b;
    open_bench(&b, pl_str_of(text), false);
    if (apply(&b, &op) != status || !strstr(b.err.message, word))
        fail_msg("%c %s: \"%s\" (not \"%s\")", op.kind, op.pointer, b.err.message, word);
    assert_int_equal(b.edit.changes.len, 0);
    assert_int_equal(pl_json_edit_write(&b.edit, &b.out), PL_OK);
    assert_true(pl_str_eq(pl_buf_str(&b.out), pl_str_of(text)));
    close_bench(&b);
}

static void what_cannot_be_done_is_refused_at_once(void **state)
{
    (void)state;
    const char *text = "{\"a\":[1],\"b\":2}";
    assert_refused(text, (struct op){'s', "a", "1"}, PL_SYNTAX, "JSON Pointer");
    assert_refused(text, (struct op){'s', "/a", "nul"}, PL_SYNTAX, "the new value");
    assert_refused(text, (struct op){'s', "/a", ""}, PL_SYNTAX, "the new value");
    assert_refused(text, (struct op){'s', "/a", "1 2"}, PL_SYNTAX, "the new value");
    assert_refused(text, (struct op){'s', "/x/y", "1"}, PL_NOT_FOUND, "\"x\"");
    assert_refused(text, (struct op){'s', "/a/2", "1"}, PL_NOT_FOUND, "1 element");
    assert_refused(text, (struct op){'s', "/a/x", "1"}, PL_NOT_FOUND, "not an index");
    assert_refused(text, (struct op){'s', "/b/x", "1"}, PL_NOT_FOUND, "is a number");
    assert_refused(text, (struct op){'s', "/\xFF", "1"}, PL_SYNTAX, "UTF-8");
    assert_refused(text, (struct op){'i', "/b", "1"}, PL_CONFLICT, "already");
    assert_refused(text, (struct op){'i', "", "1"}, PL_INVALID, "root");
    assert_refused(text, (struct op){'i', "/a/01", "1"}, PL_NOT_FOUND, "leading zeros");
    assert_refused(text, (struct op){'r', "", NULL}, PL_INVALID, "root");
    assert_refused(text, (struct op){'r', "/c", NULL}, PL_NOT_FOUND, "\"c\"");
    assert_refused(text, (struct op){'r', "/a/-", NULL}, PL_NOT_FOUND, "not an index");
}

static void changes_that_meet_are_a_conflict_and_write_nothing(void **state)
{
    (void)state;
    static const struct op pairs[][2] = {
        {{'s', "/a", "1"}, {'s', "/a", "1"}},    {{'r', "/a", NULL}, {'s', "/a/0", "1"}},
        {{'r', "/a", NULL}, {'r', "/a", NULL}},  {{'s', "/a", "1"}, {'r', "/a", NULL}},
        {{'s', "", "1"}, {'s', "/b/c", "1"}},    {{'s', "", "1"}, {'i', "/x", "1"}},
        {{'i', "/a/0", "1"}, {'s', "/a", "1"}},  {{'i', "/a/-", "1"}, {'r', "/a", NULL}},
        {{'s', "/x", "1"}, {'s', "/x", "1"}},    {{'i', "/x", "1"}, {'s', "/x", "2"}},
        {{'i', "/b/x", "1"}, {'s', "/b", "{}"}}, {{'r', "/b/c", NULL}, {'r', "/b", NULL}},
        {{'i', "/e/0", "1"}, {'r', "/e", NULL}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int turn = 0; turn < 2; turn++) {
            struct bench b;
            open_bench(&b, PL_STR("{\"a\":[1,2],\"b\":{\"c\":3},\"e\":[]}"), false);
            assert_int_equal(apply(&b, &pairs[i][turn]), PL_OK);
            assert_int_equal(apply(&b, &pairs[i][!turn]), PL_OK);
            if (pl_json_edit_write(&b.edit, &b.out) != PL_CONFLICT)
                fail_msg("%s and %s do not conflict", pairs[i][0].pointer, pairs[i][1].pointer);
            assert_int_equal(b.out.len, 0);
            assert_int_equal(b.out.status, PL_OK);
            close_bench(&b);
        }
}

static void nodes_can_be_edited_without_pointers(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, PL_STR("{\"a\": [1, 2], \"b\": 3}"), false);
    struct pl_json_edit *edit = &b.edit;
    const struct pl_json_node *root = b.doc.root;
    const struct pl_json_node *a = pl_json_get(&b.doc, root, PL_STR("a"));
    const struct pl_json_node *b_value = pl_json_get(&b.doc, root, PL_STR("b"));
    struct pl_str none = {0};
    assert_int_equal(pl_json_edit_set_node(edit, a + 1, PL_STR("10"), NULL), PL_OK);
    assert_int_equal(pl_json_edit_remove_node(edit, a, a + 2, NULL), PL_OK);
    assert_int_equal(pl_json_edit_insert_after(edit, a, a + 2, none, PL_STR("4"), NULL), PL_OK);
    assert_int_equal(pl_json_edit_insert_before(edit, a, NULL, none, PL_STR("5"), NULL), PL_OK);
    assert_int_equal(pl_json_edit_insert_after(edit, a, NULL, none, PL_STR("0"), NULL), PL_OK);
    /* A member may take the name of a removed one. */
    assert_int_equal(pl_json_edit_remove_node(edit, root, b_value, NULL), PL_OK);
    assert_int_equal(
        pl_json_edit_insert_before(edit, root, root + 1, PL_STR("b"), PL_STR("[]"), NULL), PL_OK);
    assert_int_equal(pl_json_edit_insert_after(edit, root, a, PL_STR("c"), PL_STR("true"), NULL),
                     PL_OK);
    assert_int_equal(
        pl_json_edit_insert_after(edit, root, root + 1, PL_STR("d"), PL_STR("{}"), NULL), PL_OK);
    assert_int_equal(pl_json_edit_insert_before(edit, b_value, NULL, none, PL_STR("0"), NULL),
                     PL_INVALID);
    for (int round = 0; round < 2; round++) { /* writing twice gives the same */
        pl_buf_clear(&b.out);
        assert_int_equal(pl_json_edit_write(edit, &b.out), PL_OK);
        assert_true(pl_str_eq(pl_buf_str(&b.out), PL_STR("{\"b\": [], \"a\": [0, 10, 4, 5], \"c\": "
                                                         "true, \"d\": {}}")));
    }
    /* But not the name of one that stays. */
    assert_int_equal(pl_json_edit_insert_before(edit, root, NULL, PL_STR("a"), PL_STR("1"), NULL),
                     PL_OK);
    assert_int_equal(pl_json_edit_write(edit, &b.out), PL_CONFLICT);
    close_bench(&b);
}

/* A hundred thousand changes of each kind, not in text order. Quadratic code would take minutes. */
static void many_edits_are_no_problem(void **state)
{
    (void)state;
    enum { N = 100000 };
    PL_CLEANUP_BUF struct pl_buf text, expected;
    pl_buf_init(&text, 0);
    pl_buf_init(&expected, 0);
    pl_buf_addc(&text, '[');
    pl_buf_addc(&expected, '[');
    for (int i = 0; i < N; i++)
        pl_buf_addf(&text, i ? ", %d" : "%d", i);
    for (int i = 0; i < N; i += 2)
        pl_buf_addf(&expected, i ? ", -1, %d.5" : "-1, %d.5", i);
    pl_buf_addc(&text, ']');
    pl_buf_addc(&expected, ']');
    struct bench b;
    open_bench(&b, pl_buf_str(&text), false);
    for (int k = 0, i = 0; k < N; k++, i = (i + 70001) % N) {
        const struct pl_json_node *n = b.doc.root + 1 + i;
        char value[16];
        (void)snprintf(value, sizeof value, "%d.5", i);
        if (i % 2) {
            assert_int_equal(pl_json_edit_remove_node(&b.edit, b.doc.root, n, NULL), PL_OK);
            continue;
        }
        assert_int_equal(pl_json_edit_set_node(&b.edit, n, pl_str_of(value), NULL), PL_OK);
        assert_int_equal(pl_json_edit_insert_before(&b.edit, b.doc.root, n, (struct pl_str){0},
                                                    PL_STR("-1"), NULL),
                         PL_OK);
    }
    assert_int_equal(pl_json_edit_write(&b.edit, &b.out), PL_OK);
    assert_true(pl_str_eq(pl_buf_str(&b.out), pl_buf_str(&expected)));
    close_bench(&b);
}

static void going_through_an_array_by_pointer_is_not_quadratic(void **state)
{
    (void)state;
    enum { N = 100000 };
    PL_CLEANUP_BUF struct pl_buf text, expected;
    pl_buf_init(&text, 0);
    pl_buf_init(&expected, 0);
    for (int i = 0; i < N; i++) {
        pl_buf_adds(&text, i ? ",{\"a\":0}" : "[{\"a\":0}");
        pl_buf_adds(&expected, i ? ",{\"a\":1}" : "[{\"a\":1}");
    }
    pl_buf_addc(&text, ']');
    pl_buf_addc(&expected, ']');
    struct bench b;
    open_bench(&b, pl_buf_str(&text), false);
    for (int i = 0; i < N; i++) {
        char pointer[24];
        (void)snprintf(pointer, sizeof pointer, "/%d/a", i);
        assert_int_equal(pl_json_edit_set(&b.edit, pl_str_of(pointer), PL_STR("1"), NULL), PL_OK);
    }
    assert_int_equal(pl_json_edit_write(&b.edit, &b.out), PL_OK);
    assert_true(pl_str_eq(pl_buf_str(&b.out), pl_buf_str(&expected)));
    close_bench(&b);
}

static void a_huge_gap_is_not_copied_for_every_insert(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, "[1,");
    pl_buf_fill(&text, ' ', 100000);
    pl_buf_adds(&text, "2]");
    struct bench b;
    open_bench(&b, pl_buf_str(&text), false);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(pl_json_edit_insert(&b.edit, PL_STR("/1"), PL_STR("0"), NULL), PL_OK);
    assert_int_equal(pl_json_edit_write(&b.edit, &b.out), PL_OK);
    assert_true(b.out.len < text.len + 1000 * 300);
    close_bench(&b);
}

static void a_full_buffer_is_reported(void **state)
{
    (void)state;
    struct bench b;
    open_bench(&b, PL_STR("[1, 2, 3]"), false);
    b.out.max = 5;
    assert_int_equal(pl_json_edit_set(&b.edit, PL_STR("/0"), PL_STR("11"), NULL), PL_OK);
    assert_int_equal(pl_json_edit_write(&b.edit, &b.out), PL_LIMIT);
    assert_int_equal(b.out.status, PL_LIMIT);
    close_bench(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_is_replaced_and_nothing_else),
        cmocka_unit_test(an_edit_without_changes_copies_the_text),
        cmocka_unit_test(an_element_is_removed_with_one_separator),
        cmocka_unit_test(a_member_is_removed_with_its_key),
        cmocka_unit_test(the_only_child_leaves_an_empty_container),
        cmocka_unit_test(several_removals_leave_one_separator_between_neighbours),
        cmocka_unit_test(a_new_element_looks_like_its_neighbours),
        cmocka_unit_test(a_new_member_copies_the_colon_too),
        cmocka_unit_test(an_empty_container_is_filled_compactly_or_by_its_white_space),
        cmocka_unit_test(inserts_at_one_place_keep_their_order),
        cmocka_unit_test(insert_and_removal_at_one_place_go_together),
        cmocka_unit_test(neighbours_can_be_set_while_something_is_inserted),
        cmocka_unit_test(the_last_of_equal_keys_is_edited),
        cmocka_unit_test(comments_survive),
        cmocka_unit_test(a_trailing_comma_is_not_doubled),
        cmocka_unit_test(comments_in_empty_containers_stay_first),
        cmocka_unit_test(what_cannot_be_done_is_refused_at_once),
        cmocka_unit_test(changes_that_meet_are_a_conflict_and_write_nothing),
        cmocka_unit_test(nodes_can_be_edited_without_pointers),
        cmocka_unit_test(many_edits_are_no_problem),
        cmocka_unit_test(going_through_an_array_by_pointer_is_not_quadratic),
        cmocka_unit_test(a_huge_gap_is_not_copied_for_every_insert),
        cmocka_unit_test(a_full_buffer_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
