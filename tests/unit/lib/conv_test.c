/* Conversations and streams through the public header. */
#include "parley/parley.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char chat[] = "{ \"model\":\"m\", \"max_tokens\": 0.5e2, \"seed\":7,\n"
                           "  \"messages\": [ {\"role\":\"system\",\"content\":\"Be brief.\"},\n"
                           "                {\"role\":\"user\",\"content\":\"Caf\\u00e9?\"} ] }\n";

/* Options with these members set. */
#define OPTS(...)                                                                                  \
    (&(struct parley_convert_opts){.size = sizeof(struct parley_convert_opts), __VA_ARGS__})

/* All results of a conversion. */
struct converted {
    char *out, *report, *carry;
    size_t out_size;
};

static void clear(struct converted *made)
{
    parley_free(made->out);
    parley_free(made->report);
    parley_free(made->carry);
    *made = (struct converted){0};
}

static enum parley_status try_convert(const char *text, size_t size,
                                      const struct parley_convert_opts *opts,
                                      struct converted *made, struct parley_error *err)
{
    *made = (struct converted){0};
    return parley_convert(text, size, opts, &made->out, &made->out_size, &made->report,
                          &made->carry, err);
}

static struct converted convert(const char *text, size_t size,
                                const struct parley_convert_opts *opts)
{
    struct converted made;
    struct parley_error err;
    if (try_convert(text, size, opts, &made, &err) != PARLEY_OK)
        fail_msg("%s", err.message);
    assert_int_equal(strlen(made.out), made.out_size);
    assert_true(strlen(made.report) > 0 && strlen(made.carry) > 0);
    return made;
}

static void every_format_is_left_and_come_home_to_byte_for_byte(void **state)
{
    (void)state;
    size_t n = 0;
    for (const char *name; (name = parley_format_name(n)); n++) {
        struct converted there = convert(chat, strlen(chat), OPTS(.to = name));
        assert_non_null(strstr(there.report, "{\"from\":\"openai-chat\""));
        struct parley_convert_opts back = *OPTS(.from = name, .to = "openai-chat");
        /* A conversion into the same format needs no carry, and makes none. */
        if (strcmp(name, "openai-chat") != 0)
            back.carry = there.carry;
        struct converted home = convert(there.out, there.out_size, &back);
        assert_string_equal(home.out, chat);
        clear(&there);
        clear(&home);
        assert_null(home.out);
    }
    assert_true(n >= 9);
}

static void a_workspace_changes_no_result(void **state)
{
    (void)state;
    struct parley_workspace *workspace = NULL;
    assert_int_equal(parley_workspace_create(&workspace), PARLEY_OK);
    const char *name;
    for (size_t i = 0; (name = parley_format_name(i % 4)) && i < 12; i++) {
        struct parley_convert_opts opts = *OPTS(.to = name);
        struct converted without = convert(chat, strlen(chat), &opts);
        opts.workspace = workspace;
        struct converted with = convert(chat, strlen(chat), &opts);
        assert_string_equal(with.out, without.out);
        assert_string_equal(with.carry, without.carry);
        assert_string_equal(with.report, without.report);
        clear(&with);
        clear(&without);
    }
    parley_workspace_destroy(workspace);
    parley_workspace_destroy(NULL);
}

static void what_is_lost_is_reported_and_refused_when_asked(void **state)
{
    (void)state;
    struct parley_convert_opts opts = *OPTS(.to = "anthropic");
    struct converted made = convert(chat, strlen(chat), &opts);
    assert_non_null(strstr(made.report, "{\"code\":\"dropped\",\"pointer\":\"/seed\""));
    assert_non_null(strstr(made.report, "\"lossless\":false"));
    clear(&made);
    struct parley_error err;
    opts.is_strict = 1;
    assert_int_equal(try_convert(chat, strlen(chat), &opts, &made, &err), PARLEY_INVALID);
    assert_null(made.out);
    assert_null(made.carry);
    assert_non_null(strstr(made.report, "/seed"));
    assert_true(strlen(err.message) > 0);
    clear(&made);
}

/* How often the library allocated memory, and how much. */
struct asked {
    size_t n, n_bytes;
};

static void *count_asked(void *ctx, void *ptr, size_t size)
{
    struct asked *asked = ctx;
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    asked->n++;
    asked->n_bytes += size;
    return realloc(ptr, size);
}

/* A long conversation, with losses in every message. */
static char *long_chat(size_t *ret_size)
{
    static const char head[] =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"}";
    static const char one[] = ",{\"role\":\"assistant\",\"content\":\"Yes\",\"smoke\":1},"
                              "{\"role\":\"user\",\"content\":\"And?\",\"mirrors\":[2]}";
    enum { N = 500 };
    char *text = malloc(sizeof head + N * sizeof one + 3);
    assert_non_null(text);
    size_t n = strlen(head);
    memcpy(text, head, n);
    for (int i = 0; i < N; i++, n += strlen(one))
        memcpy(text + n, one, strlen(one));
    memcpy(text + n, "]}", 3);
    *ret_size = n + 2;
    return text;
}

static size_t bytes_asked_for(const char *text, size_t size, bool wants_report, bool wants_carry,
                              char **ret_out)
{
    struct asked asked = {0};
    char *report = NULL, *carry = NULL;
    parley_set_allocator(count_asked, &asked);
    assert_int_equal(parley_convert(text, size, OPTS(.to = "anthropic"), ret_out, NULL,
                                    wants_report ? &report : NULL, wants_carry ? &carry : NULL,
                                    NULL),
                     PARLEY_OK);
    assert_int_equal(report != NULL, wants_report);
    assert_int_equal(carry != NULL, wants_carry);
    parley_free(report);
    parley_free(carry);
    parley_set_allocator(NULL, NULL);
    return asked.n_bytes;
}

static void what_is_not_wanted_is_not_made(void **state)
{
    (void)state;
    size_t size;
    char *text = long_chat(&size), *alone = NULL, *with_report = NULL, *with_carry = NULL;
    size_t n_alone = bytes_asked_for(text, size, false, false, &alone);
    size_t n_report = bytes_asked_for(text, size, true, false, &with_report);
    size_t n_carry = bytes_asked_for(text, size, false, true, &with_carry);
    assert_string_equal(alone, with_report);
    assert_string_equal(alone, with_carry);
    /* Without a report or carry, its memory is not allocated. Each has a line for every loss. */
    assert_true(n_alone + 1000 * 20 < n_report);
    assert_true(n_alone + 1000 * 20 < n_carry);
    free(alone);
    free(with_report);
    free(with_carry);
    free(text);
}

static void losses_are_refused_without_a_report_too(void **state)
{
    (void)state;
    char *text = NULL;
    struct parley_error err;
    assert_int_equal(parley_convert(chat, strlen(chat), OPTS(.to = "anthropic", .is_strict = 1),
                                    &text, NULL, NULL, NULL, &err),
                     PARLEY_INVALID);
    assert_null(text);
    assert_non_null(strstr(err.message, "ask for a report"));
}

static void the_way_home_needs_no_further_carry(void **state)
{
    (void)state;
    struct converted there = convert(chat, strlen(chat), OPTS(.to = "gemini"));
    char *home = NULL;
    size_t size = 0;
    assert_int_equal(parley_convert(there.out, there.out_size,
                                    OPTS(.to = "openai-chat", .carry = there.carry), &home, &size,
                                    NULL, NULL, NULL),
                     PARLEY_OK);
    assert_string_equal(home, chat);
    assert_int_equal(size, strlen(chat));
    parley_free(home);
    clear(&there);
}

static void a_profile_applies_in_gateway_mode(void **state)
{
    (void)state;
    static const char warm[] = "{\"model\":\"m\",\"temperature\":0.5,\"messages\":"
                               "[{\"role\":\"user\",\"content\":\"Hi\"}]}";
    struct parley_convert_opts opts =
        *OPTS(.to = "anthropic", .mode = PARLEY_GATEWAY, .profile = "anthropic@2026-10-21");
    struct converted made = convert(warm, strlen(warm), &opts);
    assert_null(strstr(made.out, "temperature"));
    clear(&made);
    opts.mode = PARLEY_CONVERT;
    opts.profile = NULL;
    made = convert(warm, strlen(warm), &opts);
    assert_non_null(strstr(made.out, "\"temperature\":0.5"));
    clear(&made);
}

static void assert_refused(const struct parley_convert_opts *opts, enum parley_status expected)
{
    struct converted made;
    struct parley_error err;
    assert_int_equal(try_convert(chat, strlen(chat), opts, &made, &err), expected);
    assert_null(made.out);
    assert_null(made.carry);
    assert_true(strlen(err.message) > 0);
    clear(&made);
}

static void options_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    assert_refused(OPTS(.to = NULL), PARLEY_USAGE);
    assert_refused(OPTS(.to = "smoke"), PARLEY_NOT_FOUND);
    assert_refused(OPTS(.from = "smoke", .to = "gemini"), PARLEY_NOT_FOUND);
    assert_refused(OPTS(.to = "gemini", .profile = "smoke"), PARLEY_NOT_FOUND);
    assert_refused(OPTS(.to = "gemini", .profile = "anthropic@2026-10-21"), PARLEY_USAGE);
    assert_refused(OPTS(.to = "gemini", .mode = (enum parley_mode)9), PARLEY_USAGE);
    assert_refused(OPTS(.to = "gemini", .carry = "", .carry_size = 0), PARLEY_USAGE);
    assert_refused(OPTS(.to = "gemini", .carry = "{}", .carry_size = 2), PARLEY_INVALID);
    struct converted made;
    assert_int_equal(try_convert("{", 1, OPTS(.to = "gemini"), &made, NULL), PARLEY_SYNTAX);
    assert_null(made.report);
    clear(&made);
}

static void a_format_is_told_from_the_content(void **state)
{
    (void)state;
    static const char marked[] = "<|start|>user<|message|>Hi<|end|>";
    static const char gemini[] =
        "{\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"Hi\"}]}]}";
    const char *name = NULL;
    struct parley_error err;
    assert_int_equal(parley_detect(gemini, strlen(gemini), &name, &err), PARLEY_OK);
    assert_string_equal(name, "gemini");
    assert_int_equal(parley_detect(marked, strlen(marked), &name, &err), PARLEY_OK);
    assert_string_equal(name, "gpt-oss");
    name = NULL;
    assert_int_equal(parley_detect("{\"a\":1}", 7, &name, &err), PARLEY_NOT_FOUND);
    assert_int_equal(parley_detect("{\"a\":", 5, &name, &err), PARLEY_SYNTAX);
    assert_null(name);
}

static void profiles_belong_to_formats(void **state)
{
    (void)state;
    size_t n = 0;
    for (const char *name; (name = parley_profile_name(n)); n++) {
        bool is_known = false;
        for (size_t i = 0; parley_format_name(i); i++) {
            size_t len = strlen(parley_format_name(i));
            is_known |= strncmp(name, parley_format_name(i), len) == 0 && name[len] == '@';
        }
        assert_true(is_known);
    }
    assert_true(n > 0);
}

static void lint_answers_in_json(void **state)
{
    (void)state;
    static const char unanswered[] =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"Hi\"},"
        "{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{\"id\":\"c1\",\"type\":"
        "\"function\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]},"
        "{\"role\":\"user\",\"content\":\"And?\"}]}";
    char *text = NULL;
    size_t size;
    struct parley_error err;
    assert_int_equal(parley_lint(unanswered, strlen(unanswered), NULL, &text, &size, &err),
                     PARLEY_OK);
    assert_int_equal(size, strlen(text));
    assert_non_null(strstr(text, "{\"findings\":[{\"code\":\"tool.missing\""));
    parley_free(text);
    text = NULL;
    struct parley_lint_opts opts = PARLEY_LINT_OPTS_INIT;
    opts.as = "openai-chat";
    opts.target = "smoke";
    assert_int_equal(parley_lint(unanswered, strlen(unanswered), &opts, &text, &size, &err),
                     PARLEY_NOT_FOUND);
    assert_null(text);
    opts.target = "anthropic@2026-10-21";
    assert_int_equal(parley_lint(unanswered, strlen(unanswered), &opts, &text, &size, &err),
                     PARLEY_OK);
    parley_free(text);
}

static void tokens_are_counted_and_a_conversation_made_to_fit(void **state)
{
    (void)state;
    static const char talk[] =
        "{\"model\":\"gpt-5\",\"messages\":[{\"role\":\"user\",\"content\":\"one two three four "
        "five six "
        "seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen nineteen twenty and so on and on and on\"},{\"role\":\"assistant\",\"content\":"
        "\"Fine.\"},{\"role\":\"user\",\"content\":\"And now?\"}]}";
    char *text = NULL, *report = NULL;
    size_t size;
    struct parley_error err;
    assert_int_equal(parley_count(talk, strlen(talk), NULL, &text, &size, &err), PARLEY_OK);
    assert_int_equal(size, strlen(text));
    assert_non_null(strstr(text, "\"estimated\":false"));
    parley_free(text);
    text = NULL;
    struct parley_count_opts opts = PARLEY_COUNT_OPTS_INIT;
    opts.encoding = "smoke";
    assert_int_equal(parley_count(talk, strlen(talk), &opts, &text, &size, &err), PARLEY_NOT_FOUND);
    opts.encoding = "o200k_base";
    opts.model = "gpt-5";
    assert_int_equal(parley_count(talk, strlen(talk), &opts, &text, &size, &err), PARLEY_USAGE);
    opts.model = NULL;
    assert_int_equal(parley_trim(talk, strlen(talk), &opts, 1, NULL, &text, &size, &report, &err),
                     PARLEY_INVALID);
    assert_null(text);
    assert_null(report);
    assert_int_equal(
        parley_trim(talk, strlen(talk), &opts, 40, "Counting.", &text, &size, &report, &err),
        PARLEY_OK);
    assert_null(strstr(text, "seventeen"));
    assert_non_null(strstr(text, "Counting."));
    assert_non_null(strstr(text, "And now?"));
    assert_true(strlen(report) > 2);
    parley_free(text);
    parley_free(report);
}

static void variables_are_filled_in(void **state)
{
    (void)state;
    static const char prompt[] =
        "{\"protocol\":\"structured-chat\",\"system_prompt\":\"Be {{tone:kind}}.\",\"messages\":"
        "[{\"id\":\"m1\",\"role\":\"user\",\"content\":\"Hi {{name}}\"}],\"config\":{}}";
    const struct parley_var vars[] = {{"name", "{{tone}} \"Ann\""}};
    char *text = NULL;
    size_t size;
    struct parley_error err;
    assert_int_equal(parley_render(prompt, strlen(prompt), NULL, 0, &text, &size, &err),
                     PARLEY_INVALID);
    assert_null(text);
    assert_non_null(strstr(err.message, "name"));
    assert_int_equal(parley_render(prompt, strlen(prompt), vars, 1, &text, &size, &err), PARLEY_OK);
    assert_non_null(strstr(text, "\"Be kind.\""));
    assert_non_null(strstr(text, "\"Hi {{tone}} \\\"Ann\\\"\""));
    parley_free(text);
}

static const char events[] =
    "data: {\"id\":\"r1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
    "\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"Hel\"}}]}\n\n"
    "data: {\"id\":\"r1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
    "\"choices\":[{\"index\":0,\"delta\":{\"content\":\"lo\"}}]}\n\n"
    "data: {\"id\":\"r1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\","
    "\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
    "data: [DONE]\n\n";

/* All output of the stream if the events come in pieces of `piece` bytes. */
static size_t stream_all(size_t piece, char *to, size_t room)
{
    struct parley_stream *stream = NULL;
    size_t n = 0, size;
    assert_int_equal(parley_stream_create("openai-chat", "anthropic", &stream, NULL), PARLEY_OK);
    for (size_t at = 0; at <= strlen(events); at += piece) {
        size_t left = strlen(events) - at;
        assert_int_equal(parley_stream_feed(stream, events + at, left < piece ? left : piece, NULL),
                         PARLEY_OK);
        const char *made = parley_stream_take(stream, &size);
        assert_true(n + size < room);
        memcpy(to + n, made, size);
        n += size;
        parley_stream_take(stream, &size);
        assert_int_equal(size, 0);
    }
    assert_int_equal(parley_stream_end(stream, NULL), PARLEY_OK);
    const char *made = parley_stream_take(stream, &size);
    assert_true(n + size < room);
    memcpy(to + n, made, size);
    n += size;
    to[n] = '\0';
    parley_stream_destroy(stream);
    return n;
}

static void a_stream_is_the_same_however_it_is_cut(void **state)
{
    (void)state;
    char whole[8192], bytes[8192];
    size_t n = stream_all(sizeof events, whole, sizeof whole);
    assert_int_equal(stream_all(1, bytes, sizeof bytes), n);
    assert_memory_equal(whole, bytes, n);
    assert_non_null(strstr(whole, "event: message_start\n"));
    assert_non_null(strstr(whole, "\"text\":\"Hel\""));
    assert_non_null(strstr(whole, "event: message_stop\n"));
}

static void a_stream_that_breaks_off_ends_in_an_error(void **state)
{
    (void)state;
    struct parley_stream *stream = NULL;
    struct parley_error err;
    size_t size, n_first = (size_t)(strstr(events, "\n\n") - events) + 2;
    assert_int_equal(parley_stream_create("openai-chat", "smoke", &stream, &err), PARLEY_NOT_FOUND);
    assert_null(stream);
    assert_int_equal(parley_stream_create("openai-chat", "anthropic", &stream, &err), PARLEY_OK);
    assert_int_equal(parley_stream_feed(stream, events, n_first, &err), PARLEY_OK);
    assert_int_equal(parley_stream_end(stream, &err), PARLEY_INVALID);
    const char *made = parley_stream_take(stream, &size);
    assert_true(size > 0);
    char text[4096] = {0};
    assert_true(size < sizeof text);
    memcpy(text, made, size);
    assert_non_null(strstr(text, "event: error\n"));
    assert_null(strstr(text, "message_stop"));
    parley_stream_destroy(stream);
    parley_stream_destroy(NULL);
}

/* Allocation `n_left` and all later ones fail. */
static void *fail_later(void *ctx, void *ptr, size_t size)
{
    size_t *n_left = ctx;
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    if (*n_left == 0)
        return NULL;
    --*n_left;
    return realloc(ptr, size);
}

static enum parley_status do_everything(void)
{
    struct converted made;
    struct parley_stream *stream = NULL;
    char *text = NULL;
    enum parley_status status =
        try_convert(chat, strlen(chat), OPTS(.to = "anthropic"), &made, NULL);
    assert_true(status == PARLEY_OK ? made.out && made.report && made.carry
                                    : !made.out && !made.report && !made.carry);
    clear(&made);
    if (status == PARLEY_OK)
        status = parley_lint(chat, strlen(chat), NULL, &text, NULL, NULL);
    parley_free(text);
    if (status == PARLEY_OK)
        status = parley_stream_create("openai-chat", "anthropic", &stream, NULL);
    if (status == PARLEY_OK)
        status = parley_stream_feed(stream, events, strlen(events), NULL);
    if (status == PARLEY_OK)
        status = parley_stream_end(stream, NULL);
    parley_stream_destroy(stream);
    return status;
}

static void running_out_of_memory_anywhere_is_survived(void **state)
{
    (void)state;
    enum parley_status status = PARLEY_NOMEM;
    size_t n = 0;
    for (; status == PARLEY_NOMEM && n < 10000; n++) {
        size_t n_left = n;
        parley_set_allocator(fail_later, &n_left);
        status = do_everything();
        parley_set_allocator(NULL, NULL);
    }
    assert_int_equal(status, PARLEY_OK);
    assert_true(n > 20);
}

static void dialects_have_names(void **state)
{
    (void)state;
    size_t n = 0;
    bool has_patches = false;
    for (const char *name; (name = parley_dialect_name(n)); n++)
        has_patches |= strcmp(name, "patches") == 0;
    assert_true(n >= 5);
    assert_true(has_patches);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_format_is_left_and_come_home_to_byte_for_byte),
        cmocka_unit_test(a_workspace_changes_no_result),
        cmocka_unit_test(what_is_lost_is_reported_and_refused_when_asked),
        cmocka_unit_test(what_is_not_wanted_is_not_made),
        cmocka_unit_test(losses_are_refused_without_a_report_too),
        cmocka_unit_test(the_way_home_needs_no_further_carry),
        cmocka_unit_test(a_profile_applies_in_gateway_mode),
        cmocka_unit_test(options_that_make_no_sense_are_refused),
        cmocka_unit_test(a_format_is_told_from_the_content),
        cmocka_unit_test(profiles_belong_to_formats),
        cmocka_unit_test(lint_answers_in_json),
        cmocka_unit_test(tokens_are_counted_and_a_conversation_made_to_fit),
        cmocka_unit_test(variables_are_filled_in),
        cmocka_unit_test(a_stream_is_the_same_however_it_is_cut),
        cmocka_unit_test(a_stream_that_breaks_off_ends_in_an_error),
        cmocka_unit_test(running_out_of_memory_anywhere_is_survived),
        cmocka_unit_test(dialects_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
