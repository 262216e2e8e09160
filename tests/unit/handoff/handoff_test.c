/* Packets: what they take from a conversation, and what makes them refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "conv/handoff.h"
#include "json/pointer.h"
#include "json/text.h"

struct desk {
    struct pl_arena arena;
    struct pl_json_doc source;
    struct pl_conv conv;
    struct pl_buf packet;
    struct pl_error err;
};

static struct pl_json_doc parse(struct pl_arena *arena, struct pl_str text)
{
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(arena, text, NULL, &doc, NULL), PL_OK);
    return doc;
}

/* A conversation of one instruction, one question with a picture, and a call that was answered. */
static void open_desk(struct desk *d)
{
    *d = (struct desk){0};
    pl_arena_init(&d->arena, 0);
    pl_buf_init(&d->packet, 0);
    d->source = parse(&d->arena, PL_STR("{}"));
    assert_int_equal(pl_conv_init(&d->conv, &d->arena, &d->source), PL_OK);
    pl_conv_add_message(&d->conv, PL_ROLE_SYSTEM, NULL, PL_NO_ELEMENT);
    pl_conv_add_part(&d->conv, PL_PART_TEXT, NULL)->text = pl_val_text(PL_STR("Be brief."));
    pl_conv_add_message(&d->conv, PL_ROLE_USER, NULL, 0);
    pl_conv_add_part(&d->conv, PL_PART_TEXT, NULL)->text = pl_val_text(PL_STR("Build a game"));
    pl_conv_add_part(&d->conv, PL_PART_IMAGE, NULL)->url = pl_val_text(PL_STR("https://x/a.png"));
    pl_conv_add_message(&d->conv, PL_ROLE_ASSISTANT, NULL, 1);
    struct pl_part *call = pl_conv_add_part(&d->conv, PL_PART_CALL, NULL);
    call->id = pl_val_text(PL_STR("c1"));
    call->name = pl_val_text(PL_STR("plan"));
    call->args = pl_val_text(PL_STR("{}"));
    pl_conv_add_message(&d->conv, PL_ROLE_TOOL, NULL, 2);
    pl_conv_add_part(&d->conv, PL_PART_RESULT, NULL)->id = pl_val_text(PL_STR("c1"));
}

static void close_desk(struct desk *d)
{
    pl_buf_deinit(&d->packet);
    pl_conv_deinit(&d->conv);
    pl_arena_deinit(&d->arena);
}

static enum pl_status make(struct desk *d, const struct pl_json_doc *previous, const char *source,
                           const char *target, const char *objective)
{
    struct pl_handoff_opts opts = {
        .source = pl_str_of(source),
        .target = pl_str_of(target),
        .objective = pl_str_of(objective),
        .timestamp = PL_STR("2026-01-02T03:04:05Z"),
        .previous = previous,
    };
    pl_buf_clear(&d->packet);
    d->err = (struct pl_error){0};
    return pl_handoff_make(&d->packet, &d->conv, &opts, &d->err);
}

static void expect_at(const struct pl_json_doc *doc, const char *pointer, const char *wanted)
{
    const struct pl_json_node *node;
    assert_int_equal(pl_json_pointer_get(doc, pl_str_of(pointer), &node, NULL), PL_OK);
    struct pl_str span = pl_json_span(doc, node);
    if (!pl_str_eq(span, pl_str_of(wanted)))
        fail_msg("%s is %.*s instead of %s", pointer, PL_STR_ARG(span), wanted);
}

/* The packet made last, as a document that stays. */
static struct pl_json_doc keep(struct desk *d)
{
    return parse(&d->arena, pl_arena_dup(&d->arena, pl_buf_str(&d->packet)));
}

static void expect_reasons(struct desk *d, const struct pl_json_doc *packet,
                           const struct pl_json_doc *previous, const char *receiver,
                           size_t n_reasons, const char *pointer)
{
    struct pl_handoff_reasons reasons = {0};
    assert_int_equal(
        pl_handoff_check(&d->arena, packet, previous, pl_str_of(receiver), &reasons, &d->err),
        PL_OK);
    for (size_t i = 0; reasons.list.len != n_reasons && i < reasons.list.len; i++)
        print_message("reason: %.*s\n", PL_STR_ARG(reasons.list.ptr[i].message));
    assert_int_equal(reasons.list.len, n_reasons);
    if (n_reasons)
        assert_true(pl_str_eq(reasons.list.ptr[0].pointer, pl_str_of(pointer)));
    pl_handoff_reasons_deinit(&reasons);
}

static void test_a_packet_says_what_the_conversation_says(void **state)
{
    (void)state;
    struct desk d;
    open_desk(&d);
    assert_int_equal(make(&d, NULL, "planner", "coder", NULL), PL_OK);
    struct pl_json_doc p = keep(&d);
    expect_at(&p, "/protocol", "\"harmony_handoff_v1\"");
    expect_at(&p, "/context/primary_objective", "\"Build a game\"");
    expect_at(&p, "/context/completed_steps", "[\"plan {}\"]");
    expect_at(&p, "/context/constraints", "[\"Be brief.\"]");
    expect_at(&p, "/context/artifacts", "{\"image_1\":\"https://x/a.png\"}");
    expect_at(&p, "/hop_count", "1");
    expect_at(&p, "/visited", "[\"planner\"]");
    expect_reasons(&d, &p, NULL, "coder", 0, NULL);
    close_desk(&d);
}

static void test_a_second_hop_adds_to_the_first(void **state)
{
    (void)state;
    struct desk d;
    open_desk(&d);
    assert_int_equal(make(&d, NULL, "planner", "coder", NULL), PL_OK);
    struct pl_json_doc first = keep(&d);
    assert_int_equal(make(&d, &first, NULL, "tester", NULL), PL_OK);
    struct pl_json_doc second = keep(&d);
    expect_at(&second, "/meta/source_agent", "\"coder\"");
    expect_at(&second, "/hop_count", "2");
    expect_at(&second, "/visited", "[\"planner\",\"coder\"]");
    expect_at(&second, "/context/completed_steps", "[\"plan {}\"]");
    expect_at(&second, "/context/constraints", "[\"Be brief.\"]");
    expect_at(&second, "/context/artifacts", "{\"image_1\":\"https://x/a.png\"}");
    expect_reasons(&d, &second, &first, "tester", 0, NULL);
    close_desk(&d);
}

static void test_the_objective_may_not_change(void **state)
{
    (void)state;
    struct desk d;
    open_desk(&d);
    assert_int_equal(make(&d, NULL, "planner", "coder", NULL), PL_OK);
    struct pl_json_doc first = keep(&d);
    assert_int_equal(make(&d, &first, NULL, "tester", "Build a house"), PL_INVALID);
    assert_int_equal(d.packet.len, 0);
    assert_non_null(strstr(d.err.message, "may not change"));
    assert_int_equal(make(&d, NULL, "coder", "tester", "Build a house"), PL_OK);
    struct pl_json_doc other = keep(&d);
    expect_reasons(&d, &other, &first, NULL, 3, "/context/primary_objective");
    close_desk(&d);
}

static void test_an_answer_is_enough_to_compare_with(void **state)
{
    (void)state;
    struct desk d;
    open_desk(&d);
    assert_int_equal(make(&d, NULL, "planner", "coder", NULL), PL_OK);
    struct pl_json_doc first = keep(&d);
    struct pl_handoff_reasons none = {0};
    struct pl_handoff_answer said = {true, PL_STR("coder"), PL_STR("2026-01-02T03:04:06Z"), &none};
    pl_buf_clear(&d.packet);
    pl_handoff_answer_write(&d.packet, &d.arena, &first, &said);
    struct pl_json_doc answer = keep(&d);
    expect_at(&answer, "/answer", "\"accepted\"");
    assert_int_equal(make(&d, &first, NULL, "tester", NULL), PL_OK);
    struct pl_json_doc second = keep(&d);
    expect_reasons(&d, &second, &answer, NULL, 0, NULL);
    close_desk(&d);
}

static void test_a_task_does_not_come_back(void **state)
{
    (void)state;
    struct desk d;
    open_desk(&d);
    assert_int_equal(make(&d, NULL, "planner", "planner", NULL), PL_INVALID);
    assert_int_equal(make(&d, NULL, "planner", "coder", NULL), PL_OK);
    struct pl_json_doc first = keep(&d);
    assert_int_equal(make(&d, &first, NULL, "planner", NULL), PL_INVALID);
    close_desk(&d);
}

static void test_five_hops_are_the_most(void **state)
{
    (void)state;
    static const char *const agents[] = {"b", "c", "d", "e", "f"};
    struct desk d;
    open_desk(&d);
    struct pl_json_doc packets[5];
    for (int i = 0; i < 5; i++) {
        assert_int_equal(make(&d, i ? &packets[i - 1] : NULL, i ? NULL : "a", agents[i], NULL),
                         PL_OK);
        packets[i] = keep(&d);
        expect_reasons(&d, &packets[i], i ? &packets[i - 1] : NULL, agents[i], 0, NULL);
    }
    assert_int_equal(make(&d, &packets[4], NULL, "g", NULL), PL_INVALID);
    assert_non_null(strstr(d.err.message, "5 hops"));
    close_desk(&d);
}

#define PACKET(meta, context, more)                                                                \
    "{\"protocol\":\"harmony_handoff_v1\",\"meta\":{\"source_agent\":\"a\",\"target_agent\":"      \
    "\"b\",\"timestamp\":\"2024-03-20T10:00:00Z\"" meta                                            \
    "},\"context\":{\"primary_objective\":\"x\",\"status\":\"in_progress\"" context "}" more "}"

static void expect_refused(const char *text, const char *receiver, const char *pointer)
{
    struct desk d;
    open_desk(&d);
    struct pl_json_doc packet = parse(&d.arena, pl_str_of(text));
    expect_reasons(&d, &packet, NULL, receiver, pointer ? 1 : 0, pointer);
    close_desk(&d);
}

static void test_what_is_optional_may_be_missing(void **state)
{
    (void)state;
    expect_refused(PACKET("", "", ""), "b", NULL);
    expect_refused(PACKET("", "", ",\"mine\":1,\"history_summary\":null"), NULL, NULL);
}

static void test_a_packet_against_the_rules_is_refused(void **state)
{
    (void)state;
    expect_refused(PACKET("", "", ""), "c", "/meta/target_agent");
    expect_refused(PACKET("", "", ",\"hop_count\":6"), "b", "/hop_count");
    expect_refused(PACKET("", "", ",\"visited\":[\"a\",\"b\"]"), "b", "/meta/target_agent");
    expect_refused(PACKET("", ",\"constraints\":\"none\"", ""), "b", "/context/constraints");
    expect_refused(PACKET(",\"objective_hash\":\"sha256:"
                          "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4882\"",
                          "", ""),
                   "b", "/meta/objective_hash");
    expect_refused("{\"protocol\":\"other\",\"meta\":{\"source_agent\":\"a\",\"target_agent\":"
                   "\"b\",\"timestamp\":\"2024-03-20T10:00:00Z\"},\"context\":{"
                   "\"primary_objective\":\"x\",\"status\":\"s\"}}",
                   "b", "/protocol");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_packet_says_what_the_conversation_says),
        cmocka_unit_test(test_a_second_hop_adds_to_the_first),
        cmocka_unit_test(test_the_objective_may_not_change),
        cmocka_unit_test(test_an_answer_is_enough_to_compare_with),
        cmocka_unit_test(test_a_task_does_not_come_back),
        cmocka_unit_test(test_five_hops_are_the_most),
        cmocka_unit_test(test_what_is_optional_may_be_missing),
        cmocka_unit_test(test_a_packet_against_the_rules_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
