#include "conv/pairing.h"

#include "unit/conv/talk.h"

struct pairs {
    struct talk talk;
    struct pl_pairing p;
};

static void pair(struct pairs *t, bool joins_assistants, const char *text)
{
    talk_read(&t->talk, text);
    assert_int_equal(pl_pairing_make(&t->talk.conv, joins_assistants, &t->p), PL_OK);
}

static void unpair(struct pairs *t)
{
    pl_pairing_deinit(&t->p);
    talk_deinit(&t->talk);
}

/* The call that result i answers, or -1. */
static int call_of(const struct pairs *t, size_t i)
{
    return t->p.results.ptr[i].call == PL_UNPAIRED ? -1 : (int)t->p.results.ptr[i].call;
}

static void results_find_their_calls_by_id_in_any_order(void **state)
{
    (void)state;
    struct pairs t;
    pair(&t, false,
         "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"f\"}]},"
         "{\"tool\":[{\"result\":\"b\"}]},{\"tool\":[{\"result\":\"a\"}]}]");
    assert_int_equal(call_of(&t, 0), 1);
    assert_int_equal(call_of(&t, 1), 0);
    assert_false(t.p.results.ptr[0].is_late || t.p.results.ptr[1].is_late);
    unpair(&t);
}

static void results_without_ids_go_by_name_and_order(void **state)
{
    (void)state;
    struct pairs t;
    pair(&t, false,
         "[{\"assistant\":[{\"call\":\"\",\"name\":\"f\"},{\"call\":\"\",\"name\":\"g\"},"
         "{\"call\":\"\",\"name\":\"f\"}]},"
         "{\"user\":[{\"result\":\"\",\"name\":\"f\"},{\"result\":\"\",\"name\":\"f\"},"
         "{\"result\":\"\",\"name\":\"g\"}]}]");
    assert_int_equal(call_of(&t, 0), 0);
    assert_int_equal(call_of(&t, 1), 2);
    assert_int_equal(call_of(&t, 2), 1);
    unpair(&t);
}

static void results_without_id_and_name_go_by_order(void **state)
{
    (void)state;
    struct pairs t;
    pair(&t, false,
         "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},{\"call\":\"b\",\"name\":\"g\"}]},"
         "{\"tool\":[{\"result\":\"\"}]},{\"tool\":[{\"result\":\"\"}]}]");
    assert_int_equal(call_of(&t, 0), 0);
    assert_int_equal(call_of(&t, 1), 1);
    unpair(&t);
}

static void an_id_used_again_means_the_later_call(void **state)
{
    (void)state;
    struct pairs t;
    pair(&t, false,
         "[{\"assistant\":[{\"call\":\"0\",\"name\":\"f\"}]},{\"user\":[\"hm\"]},"
         "{\"assistant\":[{\"call\":\"0\",\"name\":\"f\"}]},{\"tool\":[{\"result\":\"0\"}]}]");
    assert_int_equal(call_of(&t, 0), 1);
    assert_false(t.p.results.ptr[0].is_late);
    assert_int_equal(t.p.calls.ptr[0].result, PL_UNPAIRED);
    unpair(&t);
}

static void an_orphan_and_a_duplicate_are_told_apart(void **state)
{
    (void)state;
    struct pairs t;
    pair(&t, false,
         "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]},{\"tool\":[{\"result\":\"a\"}]},"
         "{\"tool\":[{\"result\":\"a\"}]},{\"tool\":[{\"result\":\"zzz\"}]}]");
    assert_int_equal(call_of(&t, 1), -1);
    assert_true(t.p.results.ptr[1].is_duplicate);
    assert_int_equal(call_of(&t, 2), -1);
    assert_false(t.p.results.ptr[2].is_duplicate);
    unpair(&t);
}

static void a_result_before_its_call_is_an_orphan(void **state)
{
    (void)state;
    struct pairs t;
    pair(&t, false,
         "[{\"tool\":[{\"result\":\"a\"}]},{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]}]");
    assert_int_equal(call_of(&t, 0), -1);
    assert_int_equal(t.p.calls.ptr[0].result, PL_UNPAIRED);
    unpair(&t);
}

static void a_result_behind_another_message_is_late(void **state)
{
    (void)state;
    struct pairs t;
    pair(&t, false,
         "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]},{\"user\":[\"hm\"]},"
         "{\"tool\":[{\"result\":\"a\"}]}]");
    assert_int_equal(call_of(&t, 0), 0);
    assert_true(t.p.results.ptr[0].is_late);
    unpair(&t);
}

static void a_second_assistant_message_makes_late_only_where_turns_are_not_joined(void **state)
{
    (void)state;
    const char *text = "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]},"
                       "{\"assistant\":[{\"call\":\"b\",\"name\":\"g\"}]},"
                       "{\"tool\":[{\"result\":\"a\"}]},{\"tool\":[{\"result\":\"b\"}]}]";
    struct pairs t;
    pair(&t, false, text);
    assert_true(t.p.results.ptr[0].is_late);
    assert_false(t.p.results.ptr[1].is_late);
    unpair(&t);
    pair(&t, true, text);
    assert_false(t.p.results.ptr[0].is_late);
    assert_false(t.p.results.ptr[1].is_late);
    unpair(&t);
}

static void a_call_that_is_answered_in_the_document_waits_for_nobody(void **state)
{
    (void)state;
    struct talk talk;
    talk_read(&talk, "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"}]},"
                     "{\"tool\":[{\"result\":\"a\"}]},{\"assistant\":[]}]");
    assert_false(pl_conv_serve_calls(&talk.conv));
    assert_true(talk.conv.parts.ptr[0].is_served && talk.conv.parts.ptr[1].is_served);
    talk_deinit(&talk);
    talk_read(&talk, "[{\"assistant\":[{\"call\":\"a\",\"name\":\"f\"},"
                     "{\"call\":\"b\",\"name\":\"g\"}]},{\"tool\":[{\"result\":\"a\"}]}]");
    assert_true(pl_conv_serve_calls(&talk.conv));
    assert_true(talk.conv.parts.ptr[0].is_served);
    assert_false(talk.conv.parts.ptr[1].is_served);
    talk_deinit(&talk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_find_their_calls_by_id_in_any_order),
        cmocka_unit_test(results_without_ids_go_by_name_and_order),
        cmocka_unit_test(results_without_id_and_name_go_by_order),
        cmocka_unit_test(an_id_used_again_means_the_later_call),
        cmocka_unit_test(an_orphan_and_a_duplicate_are_told_apart),
        cmocka_unit_test(a_result_before_its_call_is_an_orphan),
        cmocka_unit_test(a_result_behind_another_message_is_late),
        cmocka_unit_test(a_second_assistant_message_makes_late_only_where_turns_are_not_joined),
        cmocka_unit_test(a_call_that_is_answered_in_the_document_waits_for_nobody),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
