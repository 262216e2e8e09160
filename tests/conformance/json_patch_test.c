/* Checks in-place editing with json-patch-tests (RFC 6902): each operation is one edit of the text
 * after the previous one; "move" and "copy" are a lookup, a removal and an addition. */
#include "conformance/corpora.h"
#include "json/edit/edit.h"
#include "json/equal.h"
#include "json/pointer.h"
#include "json/text.h"

#include <stdio.h>
#include <stdlib.h>

struct patch {
    struct pl_arena arena;
    struct pl_json_doc suite;
    struct pl_str text; /* the document so far */
};

static void must(bool is_true, const char *what)
{
    if (is_true)
        return;
    printf("Bail out! %s\n", what);
    exit(1);
}

static struct pl_json_doc parse(struct patch *p, struct pl_str text)
{
    struct pl_json_doc doc;
    must(pl_json_parse(&p->arena, text, NULL, &doc, NULL) == PL_OK, "a text does not parse");
    return doc;
}

/* The decoded text of a string member; otherwise NULL. */
static struct pl_str member_text(struct patch *p, const struct pl_json_node *op, const char *name)
{
    struct pl_str text = {0};
    const struct pl_json_node *n = pl_json_get(&p->suite, op, pl_str_of(name));
    if (n && pl_json_kind(n) == PL_JSON_STRING)
        must(pl_json_text(&p->arena, &p->suite, n, &text) == PL_OK, "out of memory");
    return text;
}

static bool is_op(struct pl_str name, const char *expected)
{
    return pl_str_eq(name, pl_str_of(expected));
}

/* The "add" of RFC 6902: an element is inserted, a member is set whether it exists or not. */
static enum pl_status add(struct pl_json_edit *edit, struct pl_str pointer, struct pl_str value)
{
    enum pl_status status = pl_json_edit_insert(edit, pointer, value, NULL);
    if (status == PL_CONFLICT || status == PL_INVALID)
        status = pl_json_edit_set(edit, pointer, value, NULL);
    return status;
}

static enum pl_status replace(struct pl_json_edit *edit, struct pl_str pointer, struct pl_str value)
{
    const struct pl_json_node *there;
    enum pl_status status = pl_json_pointer_get(edit->doc, pointer, &there, NULL);
    return status == PL_OK ? pl_json_edit_set(edit, pointer, value, NULL) : status;
}

static enum pl_status cut(struct pl_json_edit *edit, struct pl_str pointer, struct pl_str value)
{
    (void)value;
    return pl_json_edit_remove(edit, pointer, NULL);
}

typedef enum pl_status change_fn(struct pl_json_edit *edit, struct pl_str pointer,
                                 struct pl_str value);

static bool change(struct patch *p, change_fn *fn, struct pl_str pointer, struct pl_str value)
{
    struct pl_json_doc doc = parse(p, p->text);
    PL_CLEANUP_BUF struct pl_buf out;
    pl_buf_init(&out, 0);
    struct pl_json_edit edit;
    pl_json_edit_init(&edit, &p->arena, &doc);
    enum pl_status status = fn(&edit, pointer, value);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, &out);
    if (status == PL_OK)
        p->text = pl_arena_dup(&p->arena, pl_buf_str(&out));
    pl_json_edit_deinit(&edit);
    return status == PL_OK;
}

static bool find_span(struct patch *p, struct pl_str pointer, struct pl_str *ret_span)
{
    struct pl_json_doc doc = parse(p, p->text);
    const struct pl_json_node *n;
    if (pl_json_pointer_get(&doc, pointer, &n, NULL) != PL_OK)
        return false;
    *ret_span = pl_json_span(&doc, n);
    return true;
}

static bool is_same_value(struct patch *p, struct pl_str x, struct pl_str y)
{
    struct pl_json_doc a = parse(p, x), b = parse(p, y);
    bool is_equal = false;
    must(pl_json_equal(&a, a.root, &b, b.root, &is_equal) == PL_OK, "out of memory");
    return is_equal;
}

/* False if the operation must be refused or its test fails. */
static bool apply(struct patch *p, const struct pl_json_node *op)
{
    struct pl_str name = member_text(p, op, "op"), path = member_text(p, op, "path");
    struct pl_str from = member_text(p, op, "from"), span;
    const struct pl_json_node *value = pl_json_get(&p->suite, op, PL_STR("value"));
    struct pl_str text = value ? pl_json_span(&p->suite, value) : (struct pl_str){0};
    if (!path.ptr)
        return false;
    if (is_op(name, "remove"))
        return change(p, cut, path, text);
    if (is_op(name, "add"))
        return value && change(p, add, path, text);
    if (is_op(name, "replace"))
        return value && change(p, replace, path, text);
    if (is_op(name, "test"))
        return value && find_span(p, path, &span) && is_same_value(p, span, text);
    if ((!is_op(name, "move") && !is_op(name, "copy")) || !from.ptr || !find_span(p, from, &span))
        return false;
    if (is_op(name, "copy") || pl_str_eq(from, path))
        return pl_str_eq(from, path) || change(p, add, path, span);
    return change(p, cut, from, span) && change(p, add, path, span);
}

static void run_case(struct patch *p, const struct pl_json_node *test, const char *file, int number)
{
    const struct pl_json_node *doc = pl_json_get(&p->suite, test, PL_STR("doc"));
    const struct pl_json_node *ops = pl_json_get(&p->suite, test, PL_STR("patch"));
    const struct pl_json_node *expected = pl_json_get(&p->suite, test, PL_STR("expected"));
    const struct pl_json_node *error = pl_json_get(&p->suite, test, PL_STR("error"));
    if (!doc || !ops || pl_json_get(&p->suite, test, PL_STR("disabled")))
        return;
    bool is_done = true;
    p->text = pl_json_span(&p->suite, doc);
    for (const struct pl_json_node *op = pl_json_first(ops); op < pl_json_end(ops) && is_done;
         op = pl_json_next(op))
        is_done = apply(p, op);
    bool is_right = error ? !is_done : is_done;
    if (!error && is_done && expected)
        is_right = is_same_value(p, p->text, pl_json_span(&p->suite, expected));
    struct pl_str comment = member_text(p, test, "comment");
    tap_point(is_right, "%s %d: %.*s", file, number, PL_STR_ARG(comment));
    if (!is_right)
        tap_note("became %.*s", PL_STR_ARG(p->text));
}

static bool run_file(const char *name)
{
    char *path = corpora_find(name);
    if (!path)
        return false;
    struct patch p = {0};
    size_t len;
    char *text = corpora_read(path, &len);
    struct pl_json_opts opts = {.allows_duplicate_keys = true};
    pl_arena_init(&p.arena, 0);
    must(pl_json_parse(&p.arena, (struct pl_str){text, len}, &opts, &p.suite, NULL) == PL_OK, path);
    int number = 0;
    for (const struct pl_json_node *test = pl_json_first(p.suite.root);
         test < pl_json_end(p.suite.root); test = pl_json_next(test))
        run_case(&p, test, name, number++);
    pl_arena_deinit(&p.arena);
    free(text);
    free(path);
    return true;
}

int main(void)
{
    if (!run_file("json-patch-tests/spec_tests.json") || !run_file("json-patch-tests/tests.json"))
        return tap_skip_all("no json-patch-tests: set PARLEY_CORPORA to the corpora");
    return tap_end();
}
