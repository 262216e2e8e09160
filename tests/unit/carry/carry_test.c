/* Carries: what is in them, and what becomes of those that are wrong. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "format/carry.h"
#include "unit/format/through.h"

#include <stdio.h>
#include <string.h>

#define LONG "a text that is long enough to stand in the target only, and not in its carry too"
#define CHAT(content)                                                                              \
    "{ \"model\":\"m\",\n \"messages\" : [{\"role\":\"user\",\"content\":\"" content "\"}] }"

static enum pl_status go_home(struct pl_str target, struct pl_str carry, struct pl_converted *ret,
                              struct pl_error *err)
{
    struct pl_convert_opts opts = {.from = pl_format_find(PL_STR("anthropic")),
                                   .to = pl_format_find(PL_STR("openai-chat")),
                                   .carry = carry};
    return pl_convert(target, &opts, ret, err);
}

/* Ends the test unless the carry is refused with these words at this pointer. */
static void refuses(const char *carry, const char *words, const char *pointer)
{
    struct pl_converted c;
    struct pl_error err = {0};
    pl_converted_init(&c);
    enum pl_status status =
        go_home(PL_STR("{\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}"), pl_str_of(carry),
                &c, &err);
    if (status != PL_INVALID || !strstr(err.message, words) || !strstr(err.message, pointer))
        fail_msg("%s\nis status %d: %s", carry, (int)status, err.message);
    assert_int_equal(c.out.len, 0);
    pl_converted_deinit(&c);
}

#define HASH "AAAAAAAAAAA"
#define CARRY(version, from, to, kind, mode, target, source)                                       \
    "{\"parley_carry\":" version ",\"from\":" from ",\"to\":" to ",\"kind\":" kind                 \
    ",\"mode\":" mode ",\"target\":" target ",\"source\":" source "}"
#define OF      "\"openai-chat\""
#define IN      "\"anthropic\""
#define REQUEST "\"request\""
#define MODE    "\"convert\""
#define TARGET  "\"" HASH "\""

static void a_member_that_is_wrong_is_named(void **state)
{
    (void)state;
    refuses(CARRY("\"2\"", OF, IN, REQUEST, MODE, TARGET, "[]"), "version is not a number",
            "/parley_carry");
    refuses(CARRY("2", "\"word\"", IN, REQUEST, MODE, TARGET, "[]"), "format is not known",
            "/from");
    refuses(CARRY("2", "5", IN, REQUEST, MODE, TARGET, "[]"), "format is not known", "/from");
    refuses(CARRY("2", OF, "null", REQUEST, MODE, TARGET, "[]"), "format is not known", "/to");
    refuses(CARRY("2", OF, IN, "\"answer\"", MODE, TARGET, "[]"), "neither request nor response",
            "/kind");
    refuses(CARRY("2", OF, IN, REQUEST, "[]", TARGET, "[]"), "mode is not known", "/mode");
    refuses(CARRY("2", OF, IN, REQUEST, MODE, "\"short\"", "[]"), "11 characters", "/target");
    refuses(CARRY("2", OF, IN, REQUEST, MODE, "{}", "[]"), "11 characters", "/target");
    refuses(CARRY("2", OF, IN, REQUEST, MODE, TARGET, "\"text\""), "not a list", "/source");
    refuses(CARRY("2", OF, IN, REQUEST, MODE, TARGET, "[\"a\",5]"),
            "neither a text nor a reference", "/source/1");
    refuses(CARRY("2", OF, IN, REQUEST, MODE, TARGET, "[[\"" HASH "\",1]]"),
            "neither a text nor a reference", "/source/0");
    refuses(CARRY("2", OF, IN, REQUEST, MODE, TARGET, "[],\"more\":1"), "does not have", "");
    refuses(CARRY("2", OF, IN, REQUEST, MODE, TARGET, "[],\"profile\":\"no@such\""),
            "profile is not known", "/profile");
    refuses("[]", "not an object", "");
}

static void a_member_that_is_missing_is_named(void **state)
{
    static const char *const keys[] = {"from", "to", "kind", "mode", "target", "source"};
    static const char *const all[] = {OF, IN, REQUEST, MODE, TARGET, "[]"};
    (void)state;
    refuses("{}", "no member \"parley_carry\"", "");
    for (size_t missing = 0; missing < sizeof keys / sizeof *keys; missing++) {
        char carry[400] = "{\"parley_carry\":2", words[80];
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
            if (i != missing)
                snprintf(carry + strlen(carry), sizeof carry - strlen(carry), ",\"%s\":%s", keys[i],
                         all[i]);
        strcat(carry, "}");
        snprintf(words, sizeof words, "no member \"%s\"", keys[missing]);
        refuses(carry, words, "");
    }
}

static void version_1_is_refused_with_advice(void **state)
{
    (void)state;
    refuses("{\"parley_carry\":1,\"from\":\"openai-chat\",\"to\":\"anthropic\",\"elements\":[]}",
            "convert the source again", "");
}

static void a_carry_of_other_formats_is_refused(void **state)
{
    (void)state;
    refuses(CARRY("2", "\"gemini\"", IN, REQUEST, MODE, TARGET, "[]"), "leads from", "");
    refuses(CARRY("2", OF, IN, "\"response\"", MODE, TARGET, "[]"), "--kind response", "");
    refuses(CARRY("2", OF, IN, REQUEST, MODE, TARGET, "[\"[1]\"]"), "is not openai-chat", "");
}

static void a_long_text_stands_in_the_target_only(void **state)
{
    (void)state;
    struct pl_converted c =
        pl_test_convert("openai-chat", "anthropic", PL_KIND_REQUEST, PL_MODE_CONVERT, CHAT(LONG));
    assert_null(memmem(c.carry.ptr, c.carry.len, LONG, sizeof LONG - 1));
    pl_converted_deinit(&c);
    pl_test_round_trip("openai-chat", "anthropic", CHAT(LONG));
}

static void odd_escapes_and_lone_surrogates_come_home(void **state)
{
    (void)state;
    static const char *const targets[] = {"anthropic", "gemini", "openai-responses", "harmony"};
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        pl_test_round_trip("openai-chat", targets[i],
                           CHAT("\\u00e9\\/\\u0041" LONG "\\uD83D\\uDE00"));
        pl_test_round_trip("openai-chat", targets[i], CHAT(LONG " \\ud800 half \\uDC00"));
        pl_test_round_trip("openai-chat", targets[i], CHAT("\\u0022\\u005c\\b" LONG));
    }
}

static void comments_of_a_lenient_source_come_home(void **state)
{
    (void)state;
    pl_test_round_trip("openai-chat", "anthropic",
                       "{ // the model\n \"model\":\"m\", /* all */ \"messages\":[{\"role\":"
                       "\"user\",\"content\":\"" LONG "\",},],}");
}

static void the_usual_spelling_has_the_fewest_escapes(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf to;
    pl_buf_init(&to, 0);
    pl_carry_spell(&to, PL_STR("\\u0041\\/\\u00E9\\uD83D\\uDE00\\uD800\\u0022\\u000a\\n\\\\u"));
    assert_true(
        pl_str_eq(pl_buf_str(&to), PL_STR("A/\xC3\xA9\xF0\x9F\x98\x80\\ud800\\\"\\n\\n\\\\u")));
}

/* Puts `is` in the place of `was` in the target; the same must happen to the source, and nothing
 * else. */
static void change_arrives(const char *from, const char *to, const char *source, const char *was,
                           const char *is)
{
    struct pl_converted there = pl_test_convert(from, to, PL_KIND_REQUEST, PL_MODE_CONVERT, source),
                        back;
    PL_CLEANUP_BUF struct pl_buf edited, wanted;
    struct pl_error err = {0};
    pl_buf_init(&edited, 0);
    pl_buf_init(&wanted, 0);
    pl_converted_init(&back);
    struct pl_str texts[] = {pl_buf_str(&there.out), pl_str_of(source)};
    struct pl_buf *all[] = {&edited, &wanted};
    for (size_t i = 0; i < 2; i++) {
        size_t at = pl_str_find(texts[i], pl_str_of(was));
        assert_true(at != SIZE_MAX);
        pl_buf_add(all[i], pl_str_slice(texts[i], 0, at));
        pl_buf_adds(all[i], is);
        pl_buf_add(all[i], pl_str_slice(texts[i], at + strlen(was), texts[i].len));
    }
    struct pl_convert_opts opts = {.from = pl_format_find(pl_str_of(to)),
                                   .to = pl_format_find(pl_str_of(from)),
                                   .carry = pl_buf_str(&there.carry)};
    if (pl_convert(pl_buf_str(&edited), &opts, &back, &err) != PL_OK)
        fail_msg("%s", err.message);
    if (!pl_str_eq(pl_buf_str(&back.out), pl_buf_str(&wanted)))
        fail_msg("%.*s\ninstead of %.*s", PL_STR_ARG(pl_buf_str(&back.out)),
                 PL_STR_ARG(pl_buf_str(&wanted)));
    pl_converted_deinit(&back);
    pl_converted_deinit(&there);
}

static void texts_of_one_string_are_told_apart(void **state)
{
    static const char source[] =
        "{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":[ {\"type\":\"text\","
        "\"text\":\"the first\"}, {\"type\":\"text\",\"text\":\"the \\u0032nd\"} ]}]}";
    (void)state;
    change_arrives("openai-chat", "structured-chat", source, "first", "very first");
}

static void data_of_a_data_url_is_changed_in_its_place(void **state)
{
    static const char source[] =
        "{\"model\":\"m\",\"max_tokens\":9,\"messages\":[{\"role\":\"user\",\"content\":[{\"type\":"
        "\"image\", \"source\":{\"type\":\"base64\",\"media_type\":\"image/png\",\"data\":"
        "\"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk\"}}]}]}";
    (void)state;
    change_arrives("anthropic", "openai-chat", source, "UlEQVR42mNk", "UlEQVR42mNkAAAA");
    change_arrives("anthropic", "gemini", source, "UlEQVR42mNk", "UlEQVR42mNkAAAA");
}

/* A text that is gone from the target is not in the source either. */
static void a_reference_that_leads_nowhere_makes_no_text_up(void **state)
{
    (void)state;
    struct pl_converted there = pl_test_convert("openai-chat", "anthropic", PL_KIND_REQUEST,
                                                PL_MODE_CONVERT, CHAT(LONG)),
                        back;
    struct pl_error err = {0};
    pl_converted_init(&back);
    struct pl_str edited =
        PL_STR("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"other\"}]}");
    assert_int_equal(go_home(edited, pl_buf_str(&there.carry), &back, &err), PL_OK);
    assert_non_null(memmem(back.out.ptr, back.out.len, "other", 5));
    assert_null(memmem(back.out.ptr, back.out.len, "parley-missing", 14));
    pl_converted_deinit(&back);
    pl_converted_deinit(&there);
}

/* With its only text gone, a conversation is too little to be compared. */
static void an_emptied_target_comes_home_without_the_source(void **state)
{
    (void)state;
    struct pl_converted there = pl_test_convert(
        "harmony", "envelope", PL_KIND_REQUEST, PL_MODE_CONVERT,
        "[{\"id\":\"a\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" LONG
        "\"}]}]");
    struct pl_convert_opts opts = {.from = pl_format_find(PL_STR("envelope")),
                                   .to = pl_format_find(PL_STR("harmony")),
                                   .carry = pl_buf_str(&there.carry)};
    struct pl_converted back;
    struct pl_error err = {0};
    pl_converted_init(&back);
    struct pl_str emptied = PL_STR("{\"version\":\"1.0\",\"messages\":[]}");
    if (pl_convert(emptied, &opts, &back, &err) != PL_OK)
        fail_msg("%s", err.message);
    assert_null(memmem(back.out.ptr, back.out.len, "parley-missing", 14));
    assert_null(memmem(back.out.ptr, back.out.len, LONG, sizeof LONG - 1));
    assert_true(pl_test_has_loss(&back, "dropped", ""));
    pl_converted_deinit(&back);
    pl_converted_deinit(&there);
}

/* 100,000 references to one text of 50,000 bytes would be 5 GB. */
static void many_references_to_one_text_make_no_gigabytes(void **state)
{
    (void)state;
    enum { REFERENCES = 100000, BYTES = 50000 };
    PL_CLEANUP_BUF struct pl_buf target, carry, word;
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_carry read;
    struct pl_error err = {0};
    pl_buf_init(&target, 0);
    pl_buf_init(&carry, 0);
    pl_buf_init(&word, 0);
    pl_arena_init(&arena, 0);
    pl_carry_init(&read);
    for (size_t i = 0; i < BYTES; i++)
        pl_buf_addc(&word, 'w');
    uint64_t hash = pl_carry_hash(pl_buf_str(&word));
    char digits[PL_CARRY_HASH_CHARS + 1] = {0};
    for (size_t i = 0; i < PL_CARRY_HASH_CHARS; i++, hash >>= 6)
        digits[i] = PL_CARRY_DIGITS[hash & 63];
    pl_buf_adds(&target, "{\"messages\":[{\"role\":\"user\",\"content\":\"");
    pl_buf_add(&target, pl_buf_str(&word));
    pl_buf_adds(&target, "\"}]}");
    pl_buf_adds(&carry, "{\"parley_carry\":2,\"from\":" OF ",\"to\":" IN ",\"kind\":" REQUEST
                        ",\"mode\":" MODE ",\"target\":" TARGET ",\"source\":[\"{\\\"x\\\":\\\"\"");
    for (size_t i = 0; i < REFERENCES; i++)
        pl_buf_addf(&carry, ",[\"%s\"]", digits);
    pl_buf_adds(&carry, ",\"\\\"}\"]}");
    assert_int_equal(pl_json_parse(&arena, pl_buf_str(&target), NULL, &doc, NULL), PL_OK);
    assert_int_equal(pl_carry_read(&read, &arena, pl_buf_str(&carry), &doc, &err), PL_OK);
    assert_true(read.has_missing);
    size_t most = carry.len + 2 * target.len + (64 << 10) + REFERENCES * pl_carry_missing().len;
    assert_true(read.source.len > BYTES && read.source.len <= most);
    pl_carry_deinit(&read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_that_is_wrong_is_named),
        cmocka_unit_test(a_member_that_is_missing_is_named),
        cmocka_unit_test(version_1_is_refused_with_advice),
        cmocka_unit_test(a_carry_of_other_formats_is_refused),
        cmocka_unit_test(a_long_text_stands_in_the_target_only),
        cmocka_unit_test(odd_escapes_and_lone_surrogates_come_home),
        cmocka_unit_test(comments_of_a_lenient_source_come_home),
        cmocka_unit_test(the_usual_spelling_has_the_fewest_escapes),
        cmocka_unit_test(texts_of_one_string_are_told_apart),
        cmocka_unit_test(data_of_a_data_url_is_changed_in_its_place),
        cmocka_unit_test(a_reference_that_leads_nowhere_makes_no_text_up),
        cmocka_unit_test(an_emptied_target_comes_home_without_the_source),
        cmocka_unit_test(many_references_to_one_text_make_no_gigabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
