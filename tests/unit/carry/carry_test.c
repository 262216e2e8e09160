/* Carries: their content, and how wrong ones are handled. */
#define _GNU_SOURCE /* memmem */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "carry/carry.h"
#include "carry/pieces.h"
#include "carry/words.h"
#include "json/text.h"
#include "unit/carry/around.h"

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
                                   .way_home = &pl_carry_way,
                                   .carry = carry};
    return pl_convert(target, &opts, ret, err);
}

/* Fails the test unless the carry is refused with these words at this pointer. */
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
#define CARRY(version, from, to, target, more, source)                                             \
    "{\"parley_carry\":[" version "," from "," to "," target more "],\"source\":" source "}"
#define OF     "\"openai-chat\""
#define IN     "\"anthropic\""
#define TARGET "\"" HASH "\""
#define HEAD   "{\"parley_carry\":[3," OF "," IN "," TARGET "],\"source\":\""

static void a_member_that_is_wrong_is_named(void **state)
{
    (void)state;
    refuses(CARRY("\"3\"", OF, IN, TARGET, "", "\"\""), "version is not a number", "/parley_carry");
    refuses(CARRY("3", "\"word\"", IN, TARGET, "", "\"\""), "format is unknown", "/parley_carry/1");
    refuses(CARRY("3", "5", IN, TARGET, "", "\"\""), "format is unknown", "/parley_carry/1");
    refuses(CARRY("3", OF, "null", TARGET, "", "\"\""), "format is unknown", "/parley_carry/2");
    refuses(CARRY("3", OF, IN, "\"short\"", "", "\"\""), "11 characters", "/parley_carry/3");
    refuses(CARRY("3", OF, IN, "{}", "", "\"\""), "11 characters", "/parley_carry/3");
    refuses(CARRY("3", OF, IN, TARGET, ",\"answer\"", "\"\""), "neither request nor response",
            "/parley_carry/4");
    refuses(CARRY("3", OF, IN, TARGET, ",\"request\",[]", "\"\""), "mode is unknown",
            "/parley_carry/5");
    refuses(CARRY("3", OF, IN, TARGET, ",\"request\",\"convert\",\"no@such\"", "\"\""),
            "profile is unknown", "/parley_carry/6");
    refuses(CARRY("3", OF, IN, TARGET, ",\"request\",\"convert\",\"no@such\",1", "\"\""),
            "does not list", "/parley_carry");
    refuses(CARRY("3", OF, IN, TARGET, "", "[]"), "not a text", "/source");
    refuses(CARRY("3", OF, IN, TARGET, "", "\"\",\"more\":1"), "unknown member", "");
    refuses("[]", "not an object", "");
}

static void a_source_that_is_damaged_is_named_with_the_place(void **state)
{
    (void)state;
    refuses(HEAD "{'x'\"}", "is not openai-chat", "");
    refuses(HEAD "{'x\"}", "damaged at character 3", "/source");
    refuses(HEAD "'~AAAA'\"}", "damaged at character 1", "/source");
    refuses(HEAD "'~" HASH "\"}", "damaged at character 13", "/source");
    refuses(HEAD "'~AAAA!AAAAAA'\"}", "damaged at character 1", "/source");
    refuses(HEAD "[^\"}", "damaged at character 1", "/source");
    refuses(HEAD "\\\"open\"}", "damaged at character 0", "/source");
}

static void a_member_that_is_missing_is_named(void **state)
{
    (void)state;
    refuses("{}", "no member \"parley_carry\"", "");
    refuses("{\"parley_carry\":[3," OF "," IN "," TARGET "]}", "no member \"source\"", "");
    refuses("{\"parley_carry\":[3," OF "," IN "],\"source\":\"\"}", "does not list",
            "/parley_carry");
    refuses("{\"parley_carry\":[],\"source\":\"\"}", "does not list", "/parley_carry");
}

static void other_versions_are_refused_with_advice(void **state)
{
    (void)state;
    refuses("{\"parley_carry\":1,\"from\":\"openai-chat\",\"to\":\"anthropic\",\"elements\":[]}",
            "convert the source again", "version 1");
    refuses("{\"parley_carry\":2,\"from\":\"openai-chat\",\"to\":\"anthropic\",\"source\":[]}",
            "convert the source again", "version 2");
    refuses("{\"parley_carry\":[4],\"sources\":{}}", "convert the source again", "version 4");
}

static void a_carry_of_other_formats_is_refused(void **state)
{
    (void)state;
    refuses(CARRY("3", "\"gemini\"", IN, TARGET, "", "\"\""), "converts from", "");
    refuses(CARRY("3", OF, IN, TARGET, ",\"response\"", "\"\""), "set kind to response", "");
    refuses(CARRY("3", OF, IN, TARGET, "", "\"[1]\""), "is not openai-chat", "");
}

/* Checks how a carry encodes a source, and that it converts back. */
static void spells(const char *source, const char *spelled)
{
    struct pl_converted c =
        pl_test_convert_kept("openai-chat", "anthropic", PL_KIND_REQUEST, PL_MODE_CONVERT, source);
    struct pl_str carry = pl_buf_str(&c.carry);
    size_t at = pl_str_find(carry, PL_STR("\"source\":\"")) + 10;
    struct pl_str said = pl_str_slice(carry, at, carry.len - 2);
    if (!pl_str_eq(said, pl_str_of(spelled)))
        fail_msg("%s\nis spelled %.*s", source, PL_STR_ARG(said));
    pl_converted_deinit(&c);
    pl_test_round_trip("openai-chat", "anthropic", source);
}

static void words_and_strings_are_short_and_what_is_unusual_is_as_it_is(void **state)
{
    (void)state;
    spells("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"q\"}]}",
           "{m'm',M[{R(,C'q'}]}");
    /* A key and its colon are a word; a value is one only in `type` and `role`. */
    spells("{\"model\" :\"user\",\"messages\":\t[{\"role\": \"user\",\"content\":\"role\"}]}",
           "{'model' :'user',M\\t[{R (,C'role'}]}");
    /* Apostrophes and tildes of the source, and escapes. */
    spells("{\"model\":\"it's\",\"messages\":[{\"role\":\"user\",\"content\":\"~\\\"\\n\\\\'\"}]}",
           "{m\\\"it's\\\",M[{R(,C\\\"~\\\\\\\"\\\\n\\\\\\\\'\\\"}]}");
    spells("{\"model\":\"\\\"\\\\\\t\",\"messages\":[{\"role\":\"user\",\"content\":\"q\",\"a\":"
           "\"\"}]}",
           "{m'\\\\\\\"\\\\\\\\\\\\t',M[{R(,C'q','a':''}]}");
}

/* The word that a string is; `word` includes its quotes and, for a key, its colon. */
static char find(bool is_key, struct pl_str word)
{
    char padded[2 * PL_CARRY_MOST_WORD] = {0};
    memcpy(padded, word.ptr, word.len);
    return pl_carry_find(is_key ? pl_carry_keys : pl_carry_values, padded, word.len,
                         pl_json_key_hash(pl_str_slice(word, 1, word.len - 1 - is_key)));
}

static void every_word_is_found_by_its_character_and_back(void **state)
{
    (void)state;
    size_t n = 0;
    for (int c = 0; c < 256; c++) {
        struct pl_str word = pl_carry_word((char)c);
        if (!word.len)
            continue;
        bool is_key = word.ptr[word.len - 1] == ':';
        assert_int_equal(find(is_key, word), c);
        /* A word in a longer string is none. */
        char longer[PL_CARRY_MOST_WORD] = {0};
        memcpy(longer, word.ptr, word.len);
        longer[word.len - 1 - is_key] = 'x';
        assert_int_equal(find(is_key, (struct pl_str){longer, word.len}), 0);
        /* A character that JSON has outside strings is never a word. */
        assert_null(strchr("{}[]:, \t\r\n0123456789+-.eEtrufalsn'\"^", c));
        n++;
    }
    assert_int_equal(n, 60);
    assert_int_equal(find(true, PL_STR("\"\":")), 0);
    assert_int_equal(find(true, PL_STR("\"rule\":")), 0);
    assert_int_equal(find(true, PL_STR("\"user\":")), 0);
    assert_int_equal(find(true, PL_STR("\"role\" :")), 0);
}

static void a_long_text_stands_in_the_target_only(void **state)
{
    (void)state;
    struct pl_converted c = pl_test_convert_kept("openai-chat", "anthropic", PL_KIND_REQUEST,
                                                 PL_MODE_CONVERT, CHAT(LONG));
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
    pl_test_round_trip("openai-chat", "anthropic",
                       "{ // it's ~ \"M\" ^ \\ and so on\n \"model\":\"m\",\"messages\":[{\"role\":"
                       "\"user\",\"content\":\"q\"}] /* {MRC} '~ */ }\n");
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

/* Replaces `was` by `is` in a text. */
struct change {
    const char *was, *is;
};

/* Makes one change in the target; the source must get the other change, and nothing else. */
static void edit_arrives(const char *from, const char *to, const char *source,
                         struct change in_target, struct change in_source)
{
    struct pl_converted there = pl_test_convert_kept(from, to, PL_KIND_REQUEST, PL_MODE_CONVERT,
                                                     source),
                        back;
    PL_CLEANUP_BUF struct pl_buf edited, wanted;
    struct pl_error err = {0};
    pl_buf_init(&edited, 0);
    pl_buf_init(&wanted, 0);
    pl_converted_init(&back);
    struct pl_str texts[] = {pl_buf_str(&there.out), pl_str_of(source)};
    struct change changes[] = {in_target, in_source};
    struct pl_buf *all[] = {&edited, &wanted};
    for (size_t i = 0; i < 2; i++) {
        size_t at = pl_str_find(texts[i], pl_str_of(changes[i].was));
        assert_true(at != SIZE_MAX);
        pl_buf_add(all[i], pl_str_slice(texts[i], 0, at));
        pl_buf_adds(all[i], changes[i].is);
        pl_buf_add(all[i], pl_str_slice(texts[i], at + strlen(changes[i].was), texts[i].len));
    }
    struct pl_convert_opts opts = {.from = pl_format_find(pl_str_of(to)),
                                   .to = pl_format_find(pl_str_of(from)),
                                   .way_home = &pl_carry_way,
                                   .carry = pl_buf_str(&there.carry)};
    if (pl_convert(pl_buf_str(&edited), &opts, &back, &err) != PL_OK)
        fail_msg("%s", err.message);
    if (!pl_str_eq(pl_buf_str(&back.out), pl_buf_str(&wanted)))
        fail_msg("%.*s\ninstead of %.*s", PL_STR_ARG(pl_buf_str(&back.out)),
                 PL_STR_ARG(pl_buf_str(&wanted)));
    pl_converted_deinit(&back);
    pl_converted_deinit(&there);
}

/* The same change in both. */
static void change_arrives(const char *from, const char *to, const char *source, const char *was,
                           const char *is)
{
    struct change change = {was, is};
    edit_arrives(from, to, source, change, change);
}

/* The target has nothing of this list, so it cannot be converted back for the merge. */
static void a_message_that_is_added_to_nothing_keeps_what_was_there(void **state)
{
    (void)state;
    edit_arrives("openai-responses", "gemini",
                 "{\"input\": [{\"type\":\"mcp_approval_response\",\"approve\":true,"
                 "\"approval_request_id\":\"r\"}],\"model\":\"m\",\"previous_response_id\":\"p\"}",
                 (struct change){"\"contents\":[]",
                                 "\"contents\":[{\"role\":\"user\",\"parts\":[{\"text\":\"b\"}]}]"},
                 (struct change){"}],\"model", "},{\"role\":\"user\",\"content\":\"b\"}],\"model"});
}

/* With another message, the system's words are outside the list. */
static void a_message_beside_only_a_system_message_arrives(void **state)
{
    (void)state;
    edit_arrives("openai-chat", "anthropic",
                 "{\"messages\":[{\"role\":\"developer\",\"content\":\"Say hello\"}],\"n\":1}",
                 (struct change){"hello\"}]", "hello\"},{\"role\":\"user\",\"content\":\"b\"}]"},
                 (struct change){"hello\"}]", "hello\"},{\"role\":\"user\",\"content\":\"b\"}]"});
    edit_arrives(
        "gemini", "anthropic",
        "{\"contents\":[],\"systemInstruction\":{\"parts\":[{\"text\":\"Be kind\"}],\"own\":1}}",
        (struct change){"}]}]", "}]},{\"role\":\"user\",\"content\":\"b\"}]"},
        (struct change){"[]", "[{\"role\":\"user\",\"parts\":[{\"text\":\"b\"}]}]"});
}

static void half_a_surrogate_pair_arrives_as_it_is(void **state)
{
    (void)state;
    change_arrives(
        "openai-chat", "anthropic",
        "{\"seed\":1,\"messages\":[{\"role\":\"user\",\"name\":\"ann\",\"content\":\"one \"}]}",
        "one ", "t\\ud800wo ");
}

/* The last one counts; the text of the first is in no comparison. */
static void a_member_that_is_there_twice_is_reported(void **state)
{
    (void)state;
    struct pl_converted
        there = pl_test_convert_kept(
            "openai-chat", "anthropic", PL_KIND_REQUEST, PL_MODE_CONVERT,
            "{\"messages\":[{\"role\":\"user\",\"content\":\"a\"}],\"tools\":[{\"type\":"
            "\"function\",\"function\":{\"name\":\"f\",\"parameters\":{\"type\":\"object\","
            "\"title\":\"t\",\"title\":\"u\"}}}]}"),
        back;
    PL_CLEANUP_BUF struct pl_buf edited;
    pl_buf_init(&edited, 0);
    pl_converted_init(&back);
    struct pl_str text = pl_buf_str(&there.out), was = PL_STR("\"content\":");
    size_t at = pl_str_find(text, was);
    assert_true(at != SIZE_MAX);
    pl_buf_add(&edited, pl_str_slice(text, 0, at));
    pl_buf_adds(&edited, "\"content\":\"lost\",");
    pl_buf_add(&edited, pl_str_slice(text, at, text.len));
    struct pl_convert_opts opts = {.from = pl_format_find(PL_STR("anthropic")),
                                   .to = pl_format_find(PL_STR("openai-chat")),
                                   .way_home = &pl_carry_way,
                                   .carry = pl_buf_str(&there.carry)};
    assert_int_equal(pl_convert(pl_buf_str(&edited), &opts, &back, NULL), PL_OK);
    assert_true(pl_test_has_loss(&back, "dropped", "/messages/0/content"));
    assert_false(pl_test_has_loss(&back, "dropped", "/tools/0/input_schema/title"));
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

/* A text that was removed from the target is not in the source either. */
static void a_reference_that_leads_nowhere_makes_no_text_up(void **state)
{
    (void)state;
    struct pl_converted there = pl_test_convert_kept("openai-chat", "anthropic", PL_KIND_REQUEST,
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

/* The source of a carry says what its target does not, although nobody edited the target. */
static void a_carry_that_was_changed_is_reported_for_an_unchanged_target(void **state)
{
    (void)state;
    struct pl_converted there = pl_test_convert_kept("openai-chat", "anthropic", PL_KIND_REQUEST,
                                                     PL_MODE_CONVERT, CHAT("Why?")),
                        back;
    struct pl_str carry = pl_buf_str(&there.carry);
    char *word = memmem(there.carry.ptr, carry.len, "Why?", 4);
    assert_non_null(word);
    memcpy(word, "Who?", 4);
    pl_converted_init(&back);
    assert_int_equal(go_home(pl_buf_str(&there.out), carry, &back, NULL), PL_OK);
    assert_non_null(memmem(back.out.ptr, back.out.len, "Who?", 4));
    assert_true(pl_test_has_loss(&back, "approximated", "/messages/0/content"));
    assert_true(pl_test_has_loss(&back, "approximated", ""));
    pl_converted_deinit(&back);
    pl_converted_deinit(&there);
}

/* Without its only text, a conversation is too small to be compared. */
static void an_emptied_target_comes_home_without_the_source(void **state)
{
    (void)state;
    struct pl_converted there = pl_test_convert_kept(
        "harmony", "envelope", PL_KIND_REQUEST, PL_MODE_CONVERT,
        "[{\"id\":\"a\",\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"" LONG
        "\"}]}]");
    struct pl_convert_opts opts = {.from = pl_format_find(PL_STR("envelope")),
                                   .to = pl_format_find(PL_STR("harmony")),
                                   .way_home = &pl_carry_way,
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
    PL_CLEANUP_BUF struct pl_buf source;
    pl_buf_init(&source, 0);
    pl_buf_init(&target, 0);
    pl_buf_init(&carry, 0);
    pl_buf_init(&word, 0);
    pl_arena_init(&arena, 0);
    for (size_t i = 0; i < BYTES; i++)
        pl_buf_addc(&word, 'w');
    uint64_t hash = pl_carry_hash(pl_buf_str(&word));
    char digits[PL_CARRY_HASH_CHARS + 1] = {0};
    for (size_t i = 0; i < PL_CARRY_HASH_CHARS; i++, hash >>= 6)
        digits[i] = PL_CARRY_DIGITS[hash & 63];
    pl_buf_adds(&target, "{\"messages\":[{\"role\":\"user\",\"content\":\"");
    pl_buf_add(&target, pl_buf_str(&word));
    pl_buf_adds(&target, "\"}]}");
    pl_buf_adds(&carry, HEAD "{'x':'");
    for (size_t i = 0; i < REFERENCES; i++)
        pl_buf_addf(&carry, "~%s", digits);
    pl_buf_adds(&carry, "'}\"}");
    assert_int_equal(pl_json_parse(&arena, pl_buf_str(&target), NULL, &doc, NULL), PL_OK);
    assert_int_equal(pl_carry_read(&read, &source, &arena, pl_buf_str(&carry), &doc, &err), PL_OK);
    assert_true(read.has_missing);
    size_t most = carry.len + 2 * target.len + (64 << 10) + REFERENCES * pl_carry_missing().len;
    assert_true(read.source.len > BYTES && read.source.len <= most);
}

/* A character may mean twenty bytes; a million of them must not exceed the maximum size of a
 * source. */
static void many_words_make_no_gigabytes(void **state)
{
    (void)state;
    enum { WORDS = 8 << 20 };
    PL_CLEANUP_BUF struct pl_buf carry;
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_carry read;
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf source;
    pl_buf_init(&source, 0);
    pl_buf_init(&carry, 0);
    pl_arena_init(&arena, 0);
    pl_buf_adds(&carry, HEAD "{");
    pl_buf_fill(&carry, 'A', WORDS);
    pl_buf_adds(&carry, "1}\"}");
    assert_int_equal(pl_json_parse(&arena, PL_STR("{}"), NULL, &doc, NULL), PL_OK);
    assert_int_equal(pl_carry_read(&read, &source, &arena, pl_buf_str(&carry), &doc, &err),
                     PL_LIMIT);
    assert_non_null(strstr(err.message, "more than"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_member_that_is_wrong_is_named),
        cmocka_unit_test(a_member_that_is_missing_is_named),
        cmocka_unit_test(a_source_that_is_damaged_is_named_with_the_place),
        cmocka_unit_test(other_versions_are_refused_with_advice),
        cmocka_unit_test(words_and_strings_are_short_and_what_is_unusual_is_as_it_is),
        cmocka_unit_test(every_word_is_found_by_its_character_and_back),
        cmocka_unit_test(a_carry_of_other_formats_is_refused),
        cmocka_unit_test(a_long_text_stands_in_the_target_only),
        cmocka_unit_test(odd_escapes_and_lone_surrogates_come_home),
        cmocka_unit_test(comments_of_a_lenient_source_come_home),
        cmocka_unit_test(the_usual_spelling_has_the_fewest_escapes),
        cmocka_unit_test(texts_of_one_string_are_told_apart),
        cmocka_unit_test(half_a_surrogate_pair_arrives_as_it_is),
        cmocka_unit_test(a_member_that_is_there_twice_is_reported),
        cmocka_unit_test(a_message_that_is_added_to_nothing_keeps_what_was_there),
        cmocka_unit_test(a_message_beside_only_a_system_message_arrives),
        cmocka_unit_test(data_of_a_data_url_is_changed_in_its_place),
        cmocka_unit_test(a_reference_that_leads_nowhere_makes_no_text_up),
        cmocka_unit_test(a_carry_that_was_changed_is_reported_for_an_unchanged_target),
        cmocka_unit_test(an_emptied_target_comes_home_without_the_source),
        cmocka_unit_test(many_references_to_one_text_make_no_gigabytes),
        cmocka_unit_test(many_words_make_no_gigabytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
