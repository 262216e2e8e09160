/* Streams with every allocation refused in turn: text and parallel calls into Responses, which
 * repeats the whole at its end; thinking into Gemini; a patch stream; and one that breaks off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fault/fault.h"
#include "stream/account.h"
#include "stream/hear.h"
#include "stream/home.h"

#include <string.h>

#define CHUNK(delta, finish)                                                                       \
    "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","      \
    "\"choices\":[{\"index\":0,\"delta\":" delta ",\"finish_reason\":" finish "}]}\n\n"

#define CHAT                                                                                       \
    CHUNK("{\"role\":\"assistant\",\"content\":\"a\\ud83d\"}", "null")                             \
    CHUNK("{\"content\":\"\\ude00\"}", "null")                                                     \
    CHUNK("{\"tool_calls\":[{\"index\":0,\"id\":\"x\",\"type\":\"function\",\"function\":{"        \
          "\"name\":\"f\",\"arguments\":\"{\\\"k\\\"\"}},{\"index\":1,\"id\":\"y\",\"type\":"      \
          "\"function\",\"function\":{\"name\":\"g\",\"arguments\":\"{}\"}}]}",                    \
          "null")                                                                                  \
    CHUNK("{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\":1}\"}}]}", "null")         \
    CHUNK("{}", "\"tool_calls\"")                                                                  \
    "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","      \
    "\"choices\":[],\"usage\":{\"prompt_tokens\":1,\"completion_tokens\":2,\"total_tokens\":3}}"   \
    "\n\ndata: [DONE]\n\n"

#define ANTHROPIC                                                                                  \
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"m\",\"type\":"  \
    "\"message\",\"role\":\"assistant\",\"model\":\"m\",\"content\":[],\"stop_reason\":null,"      \
    "\"stop_sequence\":null,\"usage\":{\"input_tokens\":1,\"output_tokens\":1}}}\n\n"              \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,"             \
    "\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}\n\n"          \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{"  \
    "\"type\":\"thinking_delta\",\"thinking\":\"t\"}}\n\n"                                         \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n"           \
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,"             \
    "\"content_block\":{\"type\":\"tool_use\",\"id\":\"c\",\"name\":\"f\",\"input\":{}}}\n\n"      \
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{"  \
    "\"type\":\"input_json_delta\",\"partial_json\":\"{\\\"a\\\":[1]}\"}}\n\n"                     \
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":1}\n\n"           \
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":"          \
    "\"tool_use\",\"stop_sequence\":null},\"usage\":{\"output_tokens\":2}}\n\n"                    \
    "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"

#define GEMINI                                                                                     \
    "data: {\"candidates\":[{\"content\":{\"role\":\"model\",\"parts\":[{\"text\":\"a\"},{"        \
    "\"functionCall\":{\"name\":\"f\",\"args\":{\"x\":\"\\u00e9\"}}}]},\"index\":0,"               \
    "\"finishReason\":\"STOP\"}],\"modelVersion\":\"m\",\"responseId\":\"g\",\"usageMetadata\":{"  \
    "\"promptTokenCount\":1,\"candidatesTokenCount\":2,\"totalTokenCount\":3}}\n\n"

struct job {
    const char *from, *to, *text;
};

static bool says_error(struct pl_str out)
{
    struct pl_str line = PL_STR("event: error\n");
    for (size_t at = 0; at + line.len <= out.len; at++)
        if (!memcmp(out.ptr + at, line.ptr, line.len))
            return true;
    return false;
}

/* In two pieces, so that an event is incomplete between two calls. */
static enum pl_status streams(void *ctx)
{
    const struct job *job = ctx;
    struct pl_str text = pl_str_of(job->text);
    struct pl_stream *stream = NULL;
    struct pl_error err;
    enum pl_status status = pl_stream_create(pl_dialect_find(pl_str_of(job->from)),
                                             pl_dialect_find(pl_str_of(job->to)), &stream);
    if (status != PL_OK) {
        assert_null(stream);
        return status;
    }
    status = pl_stream_feed(stream, pl_str_slice(text, 0, text.len / 2), &err);
    if (status == PL_OK)
        status = pl_stream_feed(stream, pl_str_slice(text, text.len / 2, text.len), &err);
    if (status == PL_OK)
        status = pl_stream_end(stream, &err);
    /* Broken input without memory for the message is still reported as an error, completely or not
     * at all. */
    if (status != PL_NOMEM) {
        assert_int_equal(stream->out.status, PL_OK);
        assert_true(stream->out.len > 0 && stream->is_ended);
        assert_int_equal(stream->out.ptr[stream->out.len - 1], '\n');
    }
    if (status == PL_INVALID)
        assert_true(says_error(pl_buf_str(&stream->out)));
    pl_stream_destroy(stream);
    return status;
}

static void streams_survive_every_refused_allocation(void **state)
{
    (void)state;
    struct job jobs[] = {
        {"openai-chat", "openai-responses", CHAT},
        {"anthropic", "gemini", ANTHROPIC},
        {"gemini", "patches", GEMINI},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        print_message("# %s -> %s\n", jobs[i].from, jobs[i].to);
        assert_true(pl_fault_each(streams, &jobs[i]) > 5);
    }
}

static void a_stream_that_breaks_survives_every_refused_allocation(void **state)
{
    (void)state;
    struct job job = {"openai-chat", "anthropic", CHUNK("{\"content\":\"a\"}", "null")};
    assert_true(pl_fault_each_tolerant(streams, &job, PL_INVALID) > 5);
}

/* --- the report --- */

/* The target may be anything: missing content is reported. */
static enum pl_status reports(void *ctx)
{
    const struct job *job = ctx;
    PL_CLEANUP_BUF struct pl_buf report;
    struct pl_error err = {0};
    bool is_lossless = true;
    pl_buf_init(&report, 0);
    enum pl_status status = pl_stream_report(&report, pl_dialect_find(pl_str_of(job->from)),
                                             pl_dialect_find(pl_str_of(job->to)),
                                             pl_str_of(job->text), PL_STR(""), &is_lossless, &err);
    if (status == PL_OK)
        assert_false(is_lossless);
    return status;
}

static void reports_survive_every_refused_allocation(void **state)
{
    (void)state;
    struct job jobs[] = {
        {"openai-chat", "openai-responses", CHAT},
        {"anthropic", "gemini", ANTHROPIC},
        {"gemini", "patches", GEMINI},
        {"openai-responses", "anthropic",
         "data: {\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":{\"id\":\"i\","
         "\"type\":\"message\",\"role\":\"assistant\",\"content\":[]}}\n\n"
         "data: {\"type\":\"response.output_text.delta\",\"output_index\":0,\"content_index\":0,"
         "\"delta\":\"a word\"}\n\n"},
        {"patches", "openai-chat",
         "{\"turn_id\":\"t\",\"patch_type\":\"add_content\",\"data\":{\"type\":\"text\","
         "\"text_delta\":\"a word\"}}\n"},
    };
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        print_message("# report %s -> %s\n", jobs[i].from, jobs[i].to);
        assert_true(pl_fault_each(reports, &jobs[i]) > 5);
    }
}

/* --- the way home --- */

/* From an empty target, which differs from the converted source: the whole way home. */
static enum pl_status goes_home(void *ctx)
{
    const struct job *job = ctx;
    PL_CLEANUP_BUF struct pl_buf carry, out, report;
    struct pl_error err = {0};
    bool is_lossless = true;
    const struct pl_dialect *from = pl_dialect_find(pl_str_of(job->from));
    const struct pl_dialect *to = pl_dialect_find(pl_str_of(job->to));
    pl_buf_init(&carry, 0);
    pl_buf_init(&out, 0);
    pl_buf_init(&report, 0);
    enum pl_status status = pl_stream_carry_write(&carry, from, to, pl_str_of(job->text));
    if (status == PL_OK)
        status = pl_stream_go_home(&out, &report, to, from, pl_buf_str(&carry), PL_STR(GEMINI),
                                   &is_lossless, &err);
    return status;
}

static void the_way_home_survives_every_refused_allocation(void **state)
{
    (void)state;
    struct job job = {"anthropic", "gemini", ANTHROPIC};
    assert_true(pl_fault_each(goes_home, &job) > 5);
}

/* --- heard, not written --- */

struct heard {
    size_t n_calls, n_ends;
};

static void heard_text(void *ctx, bool is_thinking, struct pl_str text)
{
    (void)ctx;
    (void)is_thinking;
    assert_true(text.len > 0);
}

static void heard_proof(void *ctx, enum pl_part_kind kind, const struct pl_heard_proof *proof)
{
    (void)ctx;
    (void)kind;
    (void)proof;
}

static void heard_refusal(void *ctx, struct pl_str text)
{
    (void)ctx;
    (void)text;
}

/* Completely or not at all. */
static void heard_call(void *ctx, struct pl_str id, struct pl_str name, struct pl_str arguments,
                       const struct pl_heard_proof *proof)
{
    (void)id;
    (void)proof;
    assert_int_equal(name.len, 1);
    assert_int_equal(arguments.ptr[arguments.len - 1], '}');
    ((struct heard *)ctx)->n_calls++;
}

static void heard_citation(void *ctx, struct pl_str json)
{
    (void)ctx;
    (void)json;
}

static void heard_end(void *ctx, const struct pl_heard_end *end)
{
    assert_true(pl_str_eq(end->model, PL_STR("m")));
    ((struct heard *)ctx)->n_ends++;
}

static void heard_error(void *ctx, struct pl_str type, struct pl_str code, struct pl_str message)
{
    (void)type;
    (void)code;
    (void)message;
    ((struct heard *)ctx)->n_ends++;
}

static enum pl_status hears(void *ctx)
{
    static const struct pl_hear_ops ops = {heard_text,     heard_proof, heard_refusal, heard_call,
                                           heard_citation, heard_end,   heard_error};
    const struct job *job = ctx;
    struct heard heard = {0};
    struct pl_hearing *hearing = NULL;
    enum pl_status status =
        pl_hearing_create(pl_dialect_find(pl_str_of(job->from)), &ops, &heard, &hearing);
    if (status == PL_OK)
        status = pl_hearing_feed(hearing, pl_str_of(job->text));
    if (status == PL_OK)
        status = pl_hearing_finish(hearing);
    if (status == PL_OK)
        assert_int_equal(heard.n_ends, 1);
    pl_hearing_destroy(hearing);
    return status;
}

static void what_is_heard_survives_every_refused_allocation(void **state)
{
    (void)state;
    struct job jobs[] = {
        {"openai-chat", NULL, CHAT}, {"anthropic", NULL, ANTHROPIC}, {"gemini", NULL, GEMINI}};
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++)
        assert_true(pl_fault_each(hears, &jobs[i]) > 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_survive_every_refused_allocation),
        cmocka_unit_test(a_stream_that_breaks_survives_every_refused_allocation),
        cmocka_unit_test(reports_survive_every_refused_allocation),
        cmocka_unit_test(the_way_home_survives_every_refused_allocation),
        cmocka_unit_test(what_is_heard_survives_every_refused_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
