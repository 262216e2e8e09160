/* Differences between two documents, and the matching elements of their lists. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "carry/difference.h"
#include "format/source.h"
#include "json/pointer.h"

struct seen {
    const struct pl_json_doc *b;
    struct pl_buf lines; /* owned */
};

static bool see(void *ctx, const struct pl_difference *delta)
{
    static const char marks[] = {'*', '~', '+', '-', '>'};
    struct seen *seen = ctx;
    if (delta->kind == PL_DIFFERENCE_INSIDE)
        return true;
    const struct pl_json_node *at = delta->b ? delta->b : delta->around;
    pl_buf_addc(&seen->lines, marks[delta->kind]);
    pl_json_pointer_of(&seen->lines, seen->b, at ? at : seen->b->root);
    pl_buf_addc(&seen->lines, ' ');
    return true;
}

/* ~ changed, + added, > moved: the new place; - removed: its container. */
static void differ(const char *a, const char *b, const char *wanted)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc a_doc, b_doc;
    struct seen seen = {.b = &b_doc};
    size_t size = 0;
    pl_arena_init(&arena, 0);
    pl_buf_init(&seen.lines, 0);
    assert_int_equal(pl_source_parse(&arena, pl_str_of(a), &a_doc, NULL), PL_OK);
    assert_int_equal(pl_source_parse(&arena, pl_str_of(b), &b_doc, NULL), PL_OK);
    struct pl_difference_side side = {.doc = &a_doc};
    struct pl_differences found;
    assert_int_equal(pl_difference_find(&found, &arena, &side, &b_doc), PL_OK);
    pl_difference_visit(&found, see, &seen);
    size = pl_difference_size(&found);
    if (!pl_str_eq(pl_buf_str(&seen.lines), pl_str_of(wanted)))
        fail_msg("%s and %s: %.*s", a, b, PL_STR_ARG(pl_buf_str(&seen.lines)));
    assert_int_equal(size > 0, wanted[0] != 0);
    pl_buf_deinit(&seen.lines);
}

static void another_spelling_is_no_difference(void **state)
{
    (void)state;
    differ("{\"a\":1.0,\"b\":\"\\u0041\"}", "{ \"b\":\"A\", \"a\":1 }", "");
    differ("{\"content\":\"t\"}", "{\"content\":[{\"type\":\"text\",\"text\":\"t\"}]}", "");
    differ("{\"content\":[\"t\",1]}", "{\"content\":[{\"type\":\"input_text\",\"text\":\"t\"},1]}",
           "");
    differ("{\"stop\":\"t\"}", "{\"stop\":[\"t\"]}", "");
    differ("[{\"content\":[{\"content\":\"t\"}]}]", "[{\"content\":[{\"content\":[\"t\"]}]}]", "");
}

/* A list with one string is another value than the string, except as the text of a message. */
static void a_list_with_one_value_differs_from_the_value(void **state)
{
    (void)state;
    differ("{\"model\":\"m\"}", "{\"model\":[\"m\"]}", "~/model ");
    differ("{\"messages\":[{\"content\":[{\"input\":{\"content\":\"Rome\"}}]}]}",
           "{\"messages\":[{\"content\":[{\"input\":{\"content\":[\"Rome\"]}}]}]}",
           "~/messages/0/content/0/input/content ");
    differ("{\"contents\":[{\"parts\":[{\"functionCall\":{\"args\":{\"text\":\"Rome\"}}}]}]}",
           "{\"contents\":[{\"parts\":[{\"functionCall\":{\"args\":\"Rome\"}}]}]}",
           "~/contents/0/parts/0/functionCall/args ");
    differ("{\"input\":[{\"output\":\"t\"}]}",
           "{\"input\":[{\"output\":[{\"type\":\"input_text\",\"text\":\"t\"}]}]}", "");
}

static void every_kind_of_difference_has_its_place(void **state)
{
    (void)state;
    differ("1", "2", "~ ");
    differ("{\"a\":1}", "{\"a\":\"1\"}", "~/a ");
    differ("{\"a\":1}", "{\"a\":1,\"b/c\":{}}", "+/b~1c ");
    differ("{\"a\":{\"b\":1}}", "{\"a\":{}}", "-/a ");
    differ("[\"one\",\"two\",\"three\"]", "[\"one\",\"three\"]", "- ");
    differ("[[\"one\",\"two\"]]", "[[\"two\",\"one\"]]", ">/0/1 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(another_spelling_is_no_difference),
        cmocka_unit_test(a_list_with_one_value_differs_from_the_value),
        cmocka_unit_test(every_kind_of_difference_has_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
