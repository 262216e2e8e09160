/* The part of a turn that a model sees, if that is not all of it. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "json/json.h"
#include "json/text.h"
#include "session/session.h"

struct shown {
    struct pl_arena arena;
    struct pl_buf text;
    struct pl_json_doc doc;
};

static void show(struct shown *s, struct pl_str body)
{
    struct pl_turn_row row = {
        .session_id = PL_STR("sess_1"),
        .turn_id = PL_STR("turn_019b76da-a800-76d5-8cda-58fd92619ef6"),
        .loop_id = PL_STR("root"),
        .status = PL_TURN_COMPLETED,
        .body = body,
    };
    pl_arena_init(&s->arena, 0);
    pl_buf_init(&s->text, 0);
    assert_int_equal(pl_turn_row_write_shown(&row, &s->text), PL_OK);
    assert_int_equal(pl_json_parse(&s->arena, pl_buf_str(&s->text), NULL, &s->doc, NULL), PL_OK);
}

static void done(struct shown *s)
{
    pl_buf_deinit(&s->text);
    pl_arena_deinit(&s->arena);
}

static const struct pl_json_node *item(const struct shown *s, const char *list, size_t i)
{
    const struct pl_json_node *n =
        pl_json_first(pl_json_get(&s->doc, s->doc.root, pl_str_of(list)));
    while (i--)
        n = pl_json_next(n);
    return n;
}

/* A row with one call that has this result. */
static void show_result(struct shown *s, const char *before, size_t n, const char *after)
{
    struct pl_buf body PL_CLEANUP_BUF;
    pl_buf_init(&body, 0);
    pl_buf_adds(&body, "{\"blocks\":[{\"use\":0},{\"result\":0}],\"tool_calls\":[{\"id\":\"tc_1\","
                       "\"tool_name\":\"T\",\"arguments\":\"{}\",\"result\":");
    pl_buf_adds(&body, before);
    for (size_t i = 0; i < n; i++)
        pl_buf_addc(&body, 'x');
    pl_buf_adds(&body, after);
    pl_buf_adds(&body, "}]}");
    show(s, pl_buf_str(&body));
}

static struct pl_str result_text(struct shown *s)
{
    struct pl_str text, again;
    const struct pl_json_node *result =
        pl_json_get(&s->doc, item(s, "tool_calls", 0), PL_STR("result"));
    assert_int_equal(pl_json_kind(result), PL_JSON_STRING);
    assert_int_equal(pl_json_text(&s->arena, &s->doc, result, &text), PL_OK);
    const struct pl_json_node *content =
        pl_json_get(&s->doc, item(s, "blocks", 1), PL_STR("content"));
    assert_int_equal(pl_json_text(&s->arena, &s->doc, content, &again), PL_OK);
    assert_true(pl_str_eq(text, again));
    return text;
}

static bool is_cut(struct pl_str text)
{
    return memmem(text.ptr, text.len, "\n[Cut here: ", 12) != NULL;
}

static void a_text_of_64_kib_is_shown_and_one_byte_more_is_cut(void **state)
{
    (void)state;
    struct shown s;
    show_result(&s, "\"", PL_SESSION_MAX_SHOWN, "\"");
    assert_int_equal(result_text(&s).len, PL_SESSION_MAX_SHOWN);
    assert_false(is_cut(result_text(&s)));
    done(&s);
    show_result(&s, "\"", PL_SESSION_MAX_SHOWN + 1, "\"");
    assert_int_equal(result_text(&s).len, PL_SESSION_MAX_SHOWN);
    assert_true(is_cut(result_text(&s)));
    assert_non_null(memmem(result_text(&s).ptr, result_text(&s).len, "65537 bytes", 11));
    done(&s);
}

static void an_object_is_cut_as_its_text_at_a_character(void **state)
{
    (void)state;
    struct shown s;
    show_result(&s, "{\"a\":\"\xC3\xBC", 70000, "\"}");
    struct pl_str text = result_text(&s);
    assert_true(pl_str_starts(text, PL_STR("{\"a\":\"\xC3\xBCxx")));
    assert_true(is_cut(text) && text.len <= PL_SESSION_MAX_SHOWN);
    done(&s);
}

static void what_is_for_the_page_counts_for_nothing(void **state)
{
    (void)state;
    struct shown s;
    show_result(&s, "{\"ok\":true,\"_meta\":{\"ui\":{\"resourceHTML\":\"", 500000, "\"}}}");
    const struct pl_json_node *result =
        pl_json_get(&s.doc, item(&s, "tool_calls", 0), PL_STR("result"));
    assert_true(pl_str_eq(pl_json_span(&s.doc, result), PL_STR("{\"ok\":true}")));
    assert_int_equal(pl_json_count(pl_json_get(&s.doc, s.doc.root, PL_STR("blocks"))), 2);
    done(&s);
}

static void results_stand_in_the_order_of_their_calls(void **state)
{
    (void)state;
    static const char *const wanted[] = {"\"tc_0\"", "\"tc_1\"", "\"tc_2\""};
    struct shown s;
    show(&s, PL_STR("{\"blocks\":[{\"use\":0},{\"use\":1},{\"use\":2},{\"result\":2},{\"result\":0}"
                    ",{\"result\":1}],\"tool_calls\":["
                    "{\"id\":\"tc_0\",\"tool_name\":\"T\",\"arguments\":\"{}\",\"result\":0},"
                    "{\"id\":\"tc_1\",\"tool_name\":\"T\",\"arguments\":\"{}\",\"result\":1},"
                    "{\"id\":\"tc_2\",\"tool_name\":\"T\",\"arguments\":\"{}\",\"result\":"
                    "{\"_meta\":{\"ui\":{\"title\":\"x\"}}}}]}"));
    assert_int_equal(pl_json_count(pl_json_get(&s.doc, s.doc.root, PL_STR("blocks"))), 6);
    for (size_t i = 0; i < 3; i++) {
        const struct pl_json_node *id =
            pl_json_get(&s.doc, item(&s, "blocks", 3 + i), PL_STR("tool_call_id"));
        assert_true(pl_str_eq(pl_json_span(&s.doc, id), pl_str_of(wanted[i])));
    }
    done(&s);
}

static void who_said_a_turn_is_seen_without_reading_it(void **state)
{
    (void)state;
    struct pl_turn_row row = {.body = PL_STR("{\"role\":\"user\",\"blocks\":[\"hi\"]}")};
    assert_true(pl_turn_row_is_user(&row));
    row.body = PL_STR("{\"blocks\":[\"hi\"]}");
    assert_false(pl_turn_row_is_user(&row));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_text_of_64_kib_is_shown_and_one_byte_more_is_cut),
        cmocka_unit_test(an_object_is_cut_as_its_text_at_a_character),
        cmocka_unit_test(what_is_for_the_page_counts_for_nothing),
        cmocka_unit_test(results_stand_in_the_order_of_their_calls),
        cmocka_unit_test(who_said_a_turn_is_seen_without_reading_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
