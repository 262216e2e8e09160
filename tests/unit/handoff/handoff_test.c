/* Packets: what they take from a conversation, and why they are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "handoff/handoff.h"
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

/* A conversation with one instruction, one question with a picture, and an answered call. */
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

/* The last packet, as a document that stays. */
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
    assert_non_null(strstr(d.err.message, "must not change"));
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

#define PACKET(meta, context, more)                                                                \
    "{\"protocol\":\"harmony_handoff_v1\",\"meta\":{\"source_agent\":\"a\",\"target_agent\":"      \
    "\"b\",\"timestamp\":\"2024-03-20T10:00:00Z\"" meta                                            \
    "},\"context\":{\"primary_objective\":\"x\",\"status\":\"in_progress\"" context "}" more "}"
#define NOTHING ",\"constraints\":[],\"artifacts\":{}"
/* Hash of "x". */
#define HASH                                                                                       \
    ",\"objective_hash\":\"sha256:"                                                                \
    "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881\""

static void expect_refused(const char *text, const char *receiver, const char *pointer)
{
    struct desk d;
    open_desk(&d);
    struct pl_json_doc packet = parse(&d.arena, pl_str_of(text));
    expect_reasons(&d, &packet, NULL, receiver, pointer ? 1 : 0, pointer);
    close_desk(&d);
}

/* Passes the task along a path of agents; the last step fails if it makes a circle. */
static void expect_path(const char *const *agents, size_t n, bool is_circle)
{
    struct desk d;
    open_desk(&d);
    struct pl_json_doc previous, next;
    for (size_t i = 1; i < n; i++) {
        enum pl_status wanted = is_circle && i == n - 1 ? PL_INVALID : PL_OK;
        assert_int_equal(
            make(&d, i > 1 ? &previous : NULL, i > 1 ? NULL : agents[0], agents[i], NULL), wanted);
        if (wanted != PL_OK) {
            assert_non_null(strstr(d.err.message, "circle"));
            break;
        }
        next = keep(&d);
        expect_reasons(&d, &next, i > 1 ? &previous : NULL, agents[i], 0, NULL);
        previous = next;
    }
    close_desk(&d);
}

static void test_a_task_goes_back_to_whoever_gave_it_and_nowhere_else(void **state)
{
    (void)state;
    static const struct {
        const char *agents[6];
        size_t n;
        bool is_circle;
    } paths[] = {
        {{"planner", "planner"}, 2, true},
        {{"planner", "coder", "planner"}, 3, false},
        {{"planner", "coder", "planner", "tester", "planner"}, 5, false},
        {{"planner", "coder", "tester", "coder", "planner"}, 5, false},
        {{"planner", "coder", "planner", "coder"}, 4, true},
        {{"planner", "coder", "tester", "planner"}, 4, true},
        {{"planner", "coder", "planner", "tester", "coder"}, 5, true},
    };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        expect_path(paths[i].agents, paths[i].n, paths[i].is_circle);
}

static void test_who_had_the_task_is_listed_in_order(void **state)
{
    (void)state;
    struct desk d;
    open_desk(&d);
    assert_int_equal(make(&d, NULL, "planner", "coder", NULL), PL_OK);
    struct pl_json_doc first = keep(&d);
    assert_int_equal(make(&d, &first, NULL, "planner", NULL), PL_OK);
    struct pl_json_doc second = keep(&d);
    assert_int_equal(make(&d, &second, NULL, "tester", NULL), PL_OK);
    struct pl_json_doc third = keep(&d);
    expect_at(&third, "/visited", "[\"planner\",\"coder\",\"planner\"]");
    expect_at(&third, "/hop_count", "3");
    close_desk(&d);
}

static void test_what_was_dropped_since_the_previous_hop_is_named(void **state)
{
    (void)state;
    struct desk d;
    open_desk(&d);
    struct pl_json_doc previous =
        parse(&d.arena, PL_STR(PACKET("",
                                      ",\"constraints\":[\"black\",\"loud\"],\"artifacts\":{"
                                      "\"spec\":\"./a\",\"logo\":\"./b\"}",
                                      "")));
    struct pl_json_doc packet = parse(
        &d.arena,
        PL_STR(PACKET("", ",\"constraints\":[\"loud\"],\"artifacts\":{\"spec\":\"./c\"}", "")));
    struct pl_handoff_reasons reasons = {0};
    assert_int_equal(
        pl_handoff_check(&d.arena, &packet, &previous, (struct pl_str){0}, &reasons, &d.err),
        PL_OK);
    assert_int_equal(reasons.list.len, 2);
    assert_true(pl_str_eq(reasons.list.ptr[0].pointer, PL_STR("/context/constraints")));
    assert_true(pl_str_eq(reasons.list.ptr[0].message,
                          PL_STR("the constraint \"black\" of the previous hop is missing")));
    assert_true(pl_str_eq(reasons.list.ptr[1].pointer, PL_STR("/context/artifacts")));
    assert_true(pl_str_eq(reasons.list.ptr[1].message,
                          PL_STR("the artifact \"logo\" of the previous hop is missing")));
    pl_handoff_reasons_deinit(&reasons);
    close_desk(&d);
}

static void test_an_objective_on_its_way_has_its_hash(void **state)
{
    (void)state;
    expect_refused(PACKET(HASH, NOTHING, ",\"hop_count\":1,\"visited\":[\"a\"]"), "b", NULL);
    expect_refused(PACKET("", NOTHING, ",\"hop_count\":1,\"visited\":[\"a\"]"), "b", "/meta");
    expect_refused(PACKET("", NOTHING, ",\"visited\":[\"a\"]"), "b", "/meta");
    expect_refused(PACKET("", NOTHING, ",\"hop_count\":0,\"visited\":[]"), "b", NULL);
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

static void test_what_is_optional_may_be_missing(void **state)
{
    (void)state;
    expect_refused(PACKET("", NOTHING, ""), "b", NULL);
    expect_refused(PACKET("", NOTHING, ",\"mine\":1,\"history_summary\":null"), NULL, NULL);
}

static void test_a_packet_against_the_rules_is_refused(void **state)
{
    (void)state;
    expect_refused(PACKET("", NOTHING, ""), "c", "/meta/target_agent");
    expect_refused(PACKET(HASH, NOTHING, ",\"hop_count\":6"), "b", "/hop_count");
    expect_refused(PACKET(HASH, NOTHING, ",\"visited\":[\"b\",\"c\",\"a\"]"), "b",
                   "/meta/target_agent");
    expect_refused(PACKET("", ",\"constraints\":\"none\",\"artifacts\":{}", ""), "b",
                   "/context/constraints");
    expect_refused(PACKET("", ",\"artifacts\":{}", ""), "b", "/context");
    expect_refused(PACKET("", ",\"constraints\":[]", ""), "b", "/context");
    expect_refused(PACKET(",\"objective_hash\":\"sha256:"
                          "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4882\"",
                          NOTHING, ""),
                   "b", "/meta/objective_hash");
    expect_refused("{\"protocol\":\"other\",\"meta\":{\"source_agent\":\"a\",\"target_agent\":"
                   "\"b\",\"timestamp\":\"2024-03-20T10:00:00Z\"},\"context\":{"
                   "\"primary_objective\":\"x\",\"status\":\"s\"" NOTHING "}}",
                   "b", "/protocol");
}

static void test_options_are_read_from_json(void **state)
{
    (void)state;
    struct desk d;
    open_desk(&d);
    struct pl_json_doc body = parse(
        &d.arena, PL_STR("{\"target\":\"coder\",\"source\":\"planner\",\"trace_id\":\"t1\","
                         "\"steps\":[\"read\"],\"constraints\":[\"black\",\"Be brief.\"],"
                         "\"definition_of_done\":\"it runs\",\"artifacts\":{\"spec\":\"./a\"}}"));
    struct pl_handoff_opts opts;
    assert_int_equal(pl_handoff_opts_read(&d.arena, &body, body.root, &opts), PL_OK);
    opts.timestamp = PL_STR("2026-01-02T03:04:05Z");
    assert_int_equal(pl_handoff_make(&d.packet, &d.conv, &opts, &d.err), PL_OK);
    struct pl_json_doc first = keep(&d);
    expect_at(&first, "/meta/source_agent", "\"planner\"");
    expect_at(&first, "/context/completed_steps", "[\"plan {}\",\"read\"]");
    expect_at(&first, "/context/artifacts", "{\"spec\":\"./a\",\"image_1\":\"https://x/a.png\"}");
    expect_at(&first, "/trace_id", "\"t1\"");
    expect_at(&first, "/definition_of_done", "[\"it runs\"]");
    struct pl_str text = pl_buf_str(&d.packet);
    struct pl_buf next;
    pl_buf_init(&next, 0);
    pl_buf_addf(&next,
                "{\"target\":\"tester\",\"constraints\":[\"black\",\"small\"],\"previous\":%.*s}",
                PL_STR_ARG(text));
    struct pl_json_doc again = parse(&d.arena, pl_buf_str(&next));
    assert_int_equal(pl_handoff_opts_read(&d.arena, &again, again.root, &opts), PL_OK);
    opts.timestamp = PL_STR("2026-01-02T03:04:05Z");
    pl_buf_clear(&d.packet);
    assert_int_equal(pl_handoff_make(&d.packet, &d.conv, &opts, &d.err), PL_OK);
    struct pl_json_doc second = keep(&d);
    expect_at(&second, "/context/constraints", "[\"Be brief.\",\"black\",\"small\"]");
    expect_at(&second, "/trace_id", "\"t1\"");
    expect_at(&second, "/hop_count", "2");
    opts.trace = PL_STR("t2");
    assert_int_equal(pl_handoff_make(&d.packet, &d.conv, &opts, &d.err), PL_INVALID);
    assert_non_null(strstr(d.err.message, "trace_id must not change"));
    pl_buf_deinit(&next);
    close_desk(&d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_packet_says_what_the_conversation_says),
        cmocka_unit_test(test_a_second_hop_adds_to_the_first),
        cmocka_unit_test(test_the_objective_may_not_change),
        cmocka_unit_test(test_an_answer_is_enough_to_compare_with),
        cmocka_unit_test(test_a_task_goes_back_to_whoever_gave_it_and_nowhere_else),
        cmocka_unit_test(test_who_had_the_task_is_listed_in_order),
        cmocka_unit_test(test_what_was_dropped_since_the_previous_hop_is_named),
        cmocka_unit_test(test_an_objective_on_its_way_has_its_hash),
        cmocka_unit_test(test_five_hops_are_the_most),
        cmocka_unit_test(test_options_are_read_from_json),
        cmocka_unit_test(test_what_is_optional_may_be_missing),
        cmocka_unit_test(test_a_packet_against_the_rules_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
