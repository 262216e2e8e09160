/* The changes between two versions of a prompt, and its variables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/buf.h"
#include "prompt/diff.h"
#include "prompt/diff_int.h"
#include "json/json.h"
#include "json/text.h"

#include <stdio.h>

static struct pl_prompt_text text_of(const char *text)
{
    return (struct pl_prompt_text){false, pl_str_of(text)};
}

static struct pl_prompt_text chat_of(const char *json)
{
    return (struct pl_prompt_text){true, pl_str_of(json)};
}

static void assert_diff(struct pl_prompt_text from, struct pl_prompt_text to, const char *expected)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf out;
    pl_arena_init(&arena, 0);
    pl_buf_init(&out, 0);
    struct pl_error err = {0};
    assert_int_equal(pl_prompt_diff(&arena, &from, &to, &out, &err), PL_OK);
    pl_buf_addc(&out, '\0');
    assert_string_equal(out.ptr, expected);
}

#define CHAT(messages) "{\"protocol\":\"structured-chat\",\"messages\":[" messages "]}"
#define A              "{\"id\":\"a\",\"role\":\"user\",\"content\":\"one\"}"
#define B              "{\"id\":\"b\",\"role\":\"assistant\",\"content\":\"two\"}"
#define C              "{\"id\":\"c\",\"role\":\"user\",\"content\":\"three\"}"
#define BLOCK(id, role, change, from, to)                                                          \
    "{\"id\":\"" id "\",\"role\":\"" role "\",\"change\":\"" change "\",\"from_index\":" from      \
    ",\"to_index\":" to "}"
#define WITH_WORDS(id, role, change, from, to, words)                                              \
    "{\"id\":\"" id "\",\"role\":\"" role "\",\"change\":\"" change "\",\"from_index\":" from      \
    ",\"to_index\":" to ",\"words\":[" words "]}"
#define WORD(op, text) "{\"op\":\"" op "\",\"text\":\"" text "\"}"
#define IS(same, blocks, members)                                                                  \
    "{\"is_same\":" same ",\"blocks\":[" blocks "],\"members\":[" members "]}"

static void the_same_is_the_same(void **state)
{
    (void)state;
    assert_diff(text_of("a b"), text_of("a b"),
                IS("true",
                   "{\"id\":\"text\",\"role\":null,\"change\":\"same\",\"from_index\":0,"
                   "\"to_index\":0}",
                   ""));
    /* Spelling and key order do not matter. */
    assert_diff(chat_of(CHAT(A)),
                chat_of("{\"messages\": [{\"content\":\"on\\u0065\",\"role\":\"user\",\"id\":"
                        "\"a\"}], \"protocol\":\"structured-chat\"} // end"),
                IS("true", BLOCK("a", "user", "same", "0", "0"), ""));
}

static void words_of_a_text_are_told_with_their_space(void **state)
{
    (void)state;
    assert_diff(
        text_of("Be brief and kind."), text_of("Be very  brief and  kind."),
        IS("false",
           "{\"id\":\"text\",\"role\":null,\"change\":\"changed\",\"from_index\":0,"
           "\"to_index\":0,\"words\":[" WORD("same", "Be ") "," WORD("added", "very  ") "," WORD(
               "same", "brief ") "," WORD("removed",
                                          "and ") "," WORD("added", "and  ") "," WORD("same",
                                                                                      "kind.") "]}",
           ""));
}

static void characters_of_scripts_without_spaces_are_words(void **state)
{
    (void)state;
    assert_diff(text_of("我爱北京。"), text_of("我爱上海。"),
                IS("false",
                   "{\"id\":\"text\",\"role\":null,\"change\":\"changed\",\"from_index\":0,"
                   "\"to_index\":0,\"words\":[" WORD("same", "我爱") "," WORD(
                       "removed", "北京") "," WORD("added", "上海") "," WORD("same", "。") "]}",
                   ""));
    /* A mark stays with its letter. */
    assert_diff(text_of("ที่นี่"), text_of("ที่นั่น"),
                IS("false",
                   "{\"id\":\"text\",\"role\":null,\"change\":\"changed\",\"from_index\":0,"
                   "\"to_index\":0,\"words\":[" WORD("same", "ที่") "," WORD("removed", "นี่") "," WORD(
                       "added", "นั่น") "]}",
                   ""));
    /* Scripts that are searched by character are compared by character, too: New Tai Lue. */
    assert_diff(text_of("ᦀᦁ"), text_of("ᦀᦂ"),
                IS("false",
                   "{\"id\":\"text\",\"role\":null,\"change\":\"changed\",\"from_index\":0,"
                   "\"to_index\":0,\"words\":[" WORD("same", "ᦀ") "," WORD("removed", "ᦁ") "," WORD(
                       "added", "ᦂ") "]}",
                   ""));
}

static void messages_are_known_by_their_ids(void **state)
{
    (void)state;
    assert_diff(chat_of(CHAT(A "," B)), chat_of(CHAT(A "," C "," B)),
                IS("false",
                   BLOCK("a", "user", "same", "0", "0") "," WITH_WORDS(
                       "c", "user", "added", "null", "1",
                       WORD("added", "three")) "," BLOCK("b", "assistant", "same", "1", "2"),
                   ""));
    assert_diff(chat_of(CHAT(A "," B "," C)), chat_of(CHAT(A "," C)),
                IS("false",
                   BLOCK("a", "user", "same", "0", "0") "," WITH_WORDS(
                       "b", "assistant", "removed", "1", "null",
                       WORD("removed", "two")) "," BLOCK("c", "user", "same", "2", "1"),
                   ""));
    assert_diff(chat_of(CHAT(A "," B "," C)), chat_of(CHAT(B "," C "," A)),
                IS("false",
                   BLOCK("b", "assistant", "same", "1", "0") "," BLOCK(
                       "c", "user", "same", "2", "1") "," BLOCK("a", "user", "moved", "0", "2"),
                   ""));
    assert_diff(chat_of(CHAT(A "," B "," C)),
                chat_of(CHAT(B "," C ",{\"id\":\"a\",\"role\":\"user\",\"content\":\"one more\"}")),
                IS("false",
                   BLOCK("b", "assistant", "same", "1", "0") "," BLOCK(
                       "c", "user", "same", "2",
                       "1") "," WITH_WORDS("a", "user", "moved_changed", "0", "2",
                                           WORD("removed", "one") "," WORD("added", "one more")),
                   ""));
    /* Two ids are two messages, whatever their text. */
    assert_diff(
        chat_of(CHAT(A)), chat_of(CHAT("{\"id\":\"z\",\"role\":\"user\",\"content\":\"one\"}")),
        IS("false",
           WITH_WORDS("z", "user", "added", "null", "0", WORD("added", "one")) "," WITH_WORDS(
               "a", "user", "removed", "0", "null", WORD("removed", "one")),
           ""));
}

#define USER(text) "{\"role\":\"user\",\"content\":\"" text "\"}"
#define BOT(text)  "{\"role\":\"assistant\",\"content\":\"" text "\"}"

static void messages_without_ids_are_known_by_what_they_say(void **state)
{
    (void)state;
    /* Equal messages at any place. */
    assert_diff(chat_of(CHAT(USER("one") "," BOT("two"))),
                chat_of(CHAT(BOT("two") "," USER("one"))),
                IS("false",
                   BLOCK("/messages/0", "assistant", "moved", "1",
                         "0") "," BLOCK("/messages/1", "user", "same", "0", "1"),
                   ""));
    /* Then similar ones: the second matches the old first. */
    assert_diff(
        chat_of(CHAT(USER("tell me a long story"))),
        chat_of(CHAT(USER("hello") "," USER("tell me a short story"))),
        IS("false",
           WITH_WORDS(
               "/messages/0", "user", "added", "null", "0",
               WORD("added",
                    "hello")) "," WITH_WORDS("/messages/1", "user", "changed", "0", "1",
                                             WORD("same", "tell me a ") "," WORD(
                                                 "removed",
                                                 "long ") "," WORD("added",
                                                                   "short ") "," WORD("same",
                                                                                      "story")),
           ""));
    /* Then by place. */
    assert_diff(chat_of(CHAT(USER("x") "," BOT("y"))), chat_of(CHAT(USER("x") "," BOT("z"))),
                IS("false",
                   BLOCK("/messages/0", "user", "same", "0",
                         "0") "," WITH_WORDS("/messages/1", "assistant", "changed", "1", "1",
                                             WORD("removed", "y") "," WORD("added", "z")),
                   ""));
    /* A message that got an id is still the same. */
    assert_diff(chat_of(CHAT(USER("one"))), chat_of(CHAT(A)),
                IS("true", BLOCK("a", "user", "same", "0", "0"), ""));
}

static void a_text_against_a_chat_is_one_block(void **state)
{
    (void)state;
    assert_diff(
        text_of("one"), chat_of("{\"system_prompt\":\"S\",\"messages\":[" A "],\"config\":{}}"),
        IS("false",
           WITH_WORDS("system", "system", "added", "null", "0", WORD("added", "S")) "," WITH_WORDS(
               "a", "user", "added", "null", "1",
               WORD("added", "one")) ",{\"id\":\"text\",\"role\":"
                                     "null,\"change\":\"removed\","
                                     "\"from_index\":0,\"to_"
                                     "index\":null,\"words\":[" WORD("removed", "one") "]}",
           "{\"pointer\":\"/config\",\"change\":\"added\",\"to\":{}}"));
}

static void everything_else_is_told_member_by_member(void **state)
{
    (void)state;
    assert_diff(
        chat_of("{\"system_prompt\":\"S\",\"config\":{\"model\":\"m\",\"top_p\":1,\"x\":{\"y/z\":1}"
                "},\"variables\":[{\"name\":\"a\"},{\"name\":\"b\"}],\"gone\":null}"),
        chat_of("{\"system_prompt\":\"S\",\"config\":{\"model\":\"n\",\"x\":{\"y/z\":[]},\"seed\":"
                "2},\"variables\":[{\"name\":\"0\"},{\"name\":\"a\"},{\"name\":\"b\",\"type\":"
                "\"text\"}]}"),
        IS("false", BLOCK("system", "system", "same", "0", "0"),
           "{\"pointer\":\"/config/"
           "model\",\"change\":\"changed\",\"from\":\"m\",\"to\":\"n\"},"
           "{\"pointer\":\"/config/x/y~1z\",\"change\":\"changed\",\"from\":1,\"to\":[]},"
           "{\"pointer\":\"/config/seed\",\"change\":\"added\",\"to\":2},"
           "{\"pointer\":\"/config/top_p\",\"change\":\"removed\",\"from\":1},"
           "{\"pointer\":\"/variables/0/"
           "name\",\"change\":\"changed\",\"from\":\"a\",\"to\":\"0\"},"
           "{\"pointer\":\"/variables/1/"
           "name\",\"change\":\"changed\",\"from\":\"b\",\"to\":\"a\"},"
           "{\"pointer\":\"/variables/2\",\"change\":\"added\",\"to\":{\"name\":\"b\",\"type\":"
           "\"text\"}},"
           "{\"pointer\":\"/gone\",\"change\":\"removed\",\"from\":null}"));
    /* One more element at the front is one difference. */
    assert_diff(chat_of("{\"messages\":[],\"tools\":[1,2,3]}"),
                chat_of("{\"messages\":[],\"tools\":[0,1,2,3]}"),
                IS("false", "", "{\"pointer\":\"/tools/0\",\"change\":\"added\",\"to\":0}"));
}

static void parts_are_compared_by_their_kind(void **state)
{
    (void)state;
    const char *from = CHAT("{\"id\":\"a\",\"role\":\"user\",\"content\":[{\"type\":\"text\","
                            "\"text\":\"look here\"},{\"type\":\"image\",\"url\":\"x\"}]}");
    const char *to = CHAT("{\"id\":\"a\",\"role\":\"user\",\"name\":\"n\",\"content\":[{\"type\":"
                          "\"image\",\"url\":\"y\"},{\"type\":\"text\",\"text\":\"look\"},"
                          "{\"type\":\"text\",\"text\":\"there\"}]}");
    assert_diff(chat_of(from), chat_of(to),
                IS("false",
                   WITH_WORDS("a", "user", "changed", "0", "0",
                              WORD("removed", "look here") "," WORD("added", "look\\n\\nthere")),
                   "{\"pointer\":\"/messages/0/name\",\"change\":\"added\",\"to\":\"n\"},"
                   "{\"pointer\":\"/messages/0/content/0/"
                   "url\",\"change\":\"changed\",\"from\":\"x\",\"to\":\"y\"}"));
    /* A difference that is visible nowhere else is still reported. */
    assert_diff(chat_of(CHAT(A)),
                chat_of(CHAT("{\"id\":\"a\",\"role\":\"user\",\"content\":[{\"text\":\"one\"}]}")),
                IS("false", BLOCK("a", "user", "changed", "0", "0"),
                   "{\"pointer\":\"/messages/0/content\",\"change\":\"changed\",\"from\":\"one\","
                   "\"to\":[{\"text\":\"one\"}]}"));
    assert_diff(chat_of(CHAT(A)),
                chat_of(CHAT("{\"id\":\"a\",\"role\":\"system\",\"content\":\"one\"}")),
                IS("false", BLOCK("a", "system", "changed", "0", "0"),
                   "{\"pointer\":\"/messages/0/role\",\"change\":\"changed\",\"from\":\"user\","
                   "\"to\":\"system\"}"));
}

static void what_is_no_chat_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *json;
        enum pl_status status;
    } cases[] = {
        {"{", PL_SYNTAX},
        {"[]", PL_INVALID},
        {"{}", PL_INVALID},
        {"{\"messages\":{}}", PL_INVALID},
        {"{\"system_prompt\":\"s\",\"messages\":{}}", PL_INVALID},
        {"{\"messages\":[1]}", PL_INVALID},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf out;
        pl_arena_init(&arena, 0);
        pl_buf_init(&out, 0);
        struct pl_prompt_text good = text_of("x"), bad = chat_of(cases[i].json);
        struct pl_error err = {0};
        assert_int_equal(pl_prompt_diff(&arena, &bad, &good, &out, &err), cases[i].status);
        assert_non_null(strstr(err.message, "older"));
        assert_int_equal(pl_prompt_diff(&arena, &good, &bad, &out, &err), cases[i].status);
        assert_non_null(strstr(err.message, "newer"));
        assert_int_equal(out.len, 0);
    }
}

/* Restores both texts from the words of the only block; returns the number of pieces. */
static size_t join_words(struct pl_arena *arena, struct pl_str diff, struct pl_buf *from,
                         struct pl_buf *to)
{
    struct pl_json_doc doc;
    assert_int_equal(pl_json_parse(arena, diff, NULL, &doc, NULL), PL_OK);
    const struct pl_json_node *block = pl_json_first(pl_json_get(&doc, doc.root, PL_STR("blocks")));
    const struct pl_json_node *words = pl_json_get(&doc, block, PL_STR("words"));
    if (!words)
        return 0;
    const struct pl_json_node *before = NULL;
    for (const struct pl_json_node *n = pl_json_first(words); n < pl_json_end(words);
         n = pl_json_next(n)) {
        struct pl_str text;
        const struct pl_json_node *op = pl_json_get(&doc, n, PL_STR("op"));
        assert_int_equal(pl_json_text(arena, &doc, pl_json_get(&doc, n, PL_STR("text")), &text),
                         PL_OK);
        assert_true(text.len > 0);
        assert_false(before && pl_json_text_same(&doc, before, &doc, op));
        before = op;
        if (!pl_json_text_is(&doc, op, PL_STR("added")))
            pl_buf_add(from, text);
        if (!pl_json_text_is(&doc, op, PL_STR("removed")))
            pl_buf_add(to, text);
    }
    return pl_json_count(words);
}

static size_t assert_words_say_both(struct pl_str from, struct pl_str to)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf out, old, new;
    pl_arena_init(&arena, 0);
    pl_buf_init(&out, 0);
    pl_buf_init(&old, 0);
    pl_buf_init(&new, 0);
    struct pl_prompt_text a = {false, from}, b = {false, to};
    assert_int_equal(pl_prompt_diff(&arena, &a, &b, &out, NULL), PL_OK);
    size_t n = join_words(&arena, pl_buf_str(&out), &old, &new);
    assert_int_equal(n == 0, pl_str_eq(from, to));
    assert_true(n == 0 || pl_str_eq(pl_buf_str(&old), from));
    assert_true(n == 0 || pl_str_eq(pl_buf_str(&new), to));
    return n;
}

static uint32_t draw(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

static void add_random_words(struct pl_buf *to, uint32_t *seed, uint32_t n)
{
    static const char *const words[] = {"a",  "b ", "c\n", " ",      "the ",  "é\t", "漢", "字。",
                                        "คำ", "นี้",  "🎉",   "\u3000", "x\r\n", "\\",  "\"", "ab"};
    while (n--)
        pl_buf_adds(to, words[draw(seed, sizeof words / sizeof *words)]);
}

static void words_give_both_texts_back_after_any_edit(void **state)
{
    (void)state;
    uint32_t seed = 7;
    for (int round = 0; round < 1500; round++) {
        PL_CLEANUP_BUF struct pl_buf from, to;
        pl_buf_init(&from, 0);
        pl_buf_init(&to, 0);
        for (uint32_t n = draw(&seed, 12); n--;) {
            PL_CLEANUP_BUF struct pl_buf piece;
            pl_buf_init(&piece, 0);
            add_random_words(&piece, &seed, draw(&seed, 12));
            uint32_t fate = draw(&seed, 6);
            if (fate != 0)
                pl_buf_add(&from, pl_buf_str(&piece));
            if (fate == 1)
                add_random_words(&to, &seed, draw(&seed, 4));
            else if (fate != 2)
                pl_buf_add(&to, pl_buf_str(&piece));
        }
        assert_words_say_both(pl_buf_str(&from), pl_buf_str(&to));
    }
}

/* The smallest number of steps, by the quadratic table. */
static size_t count_steps(const char *from, const char *to)
{
    size_t n = strlen(from), m = strlen(to), row[64];
    for (size_t k = 0; k <= m; k++)
        row[k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t corner = row[0];
        row[0] = i;
        for (size_t k = 1; k <= m; k++) {
            size_t up = row[k], less = row[k - 1] < up ? row[k - 1] : up;
            row[k] = from[i - 1] == to[k - 1] ? corner : less + 1;
            corner = up;
        }
    }
    return row[m];
}

static void no_edit_is_shorter(void **state)
{
    (void)state;
    uint32_t seed = 3;
    for (int round = 0; round < 2000; round++) {
        char from[64] = "", to[64] = "", spaced[2][128] = {"", ""};
        uint32_t n = draw(&seed, 40), m = draw(&seed, 40);
        for (uint32_t i = 0; i < n; i++)
            from[i] = (char)('a' + draw(&seed, 3));
        for (uint32_t i = 0; i < m; i++)
            to[i] = (char)('a' + draw(&seed, 3));
        for (int side = 0; side < 2; side++)
            for (size_t i = 0; (side ? to : from)[i]; i++) {
                spaced[side][2 * i] = (side ? to : from)[i];
                spaced[side][2 * i + 1] = ' ';
            }
        PL_CLEANUP_ARENA struct pl_arena arena;
        PL_CLEANUP_BUF struct pl_buf out, old, new;
        pl_arena_init(&arena, 0);
        pl_buf_init(&out, 0);
        pl_buf_init(&old, 0);
        pl_buf_init(&new, 0);
        struct pl_prompt_text a = text_of(spaced[0]), b = text_of(spaced[1]);
        assert_int_equal(pl_prompt_diff(&arena, &a, &b, &out, NULL), PL_OK);
        struct pl_json_doc doc;
        assert_int_equal(pl_json_parse(&arena, pl_buf_str(&out), NULL, &doc, NULL), PL_OK);
        const struct pl_json_node *words = pl_json_get(
            &doc, pl_json_first(pl_json_get(&doc, doc.root, PL_STR("blocks"))), PL_STR("words"));
        size_t n_steps = 0;
        for (const struct pl_json_node *w = words ? pl_json_first(words) : NULL;
             words && w < pl_json_end(words); w = pl_json_next(w))
            if (!pl_json_text_is(&doc, pl_json_get(&doc, w, PL_STR("op")), PL_STR("same")))
                n_steps += (pl_json_get(&doc, w, PL_STR("text"))->len - 2) / 2;
        assert_int_equal(n_steps, count_steps(from, to));
    }
}

/* The number of steps at the limit, and one over it: pairs of different words, then a common
 * one. */
static void texts_so_far_apart_are_told_whole(void **state)
{
    (void)state;
    for (int extra = 0; extra < 2; extra++) {
        PL_CLEANUP_BUF struct pl_buf from, to;
        pl_buf_init(&from, 0);
        pl_buf_init(&to, 0);
        pl_buf_adds(&from, "begin ");
        pl_buf_adds(&to, "begin ");
        for (int i = 0; i < PL_DIFF_MAX_STEPS / 2; i++) {
            pl_buf_addf(&from, "old%d ", i);
            pl_buf_addf(&to, "new%d ", i);
        }
        if (extra)
            pl_buf_adds(&to, "more ");
        pl_buf_adds(&from, "end");
        pl_buf_adds(&to, "end");
        size_t n = assert_words_say_both(pl_buf_str(&from), pl_buf_str(&to));
        assert_int_equal(n, extra ? 2 : 4);
    }
}

/* The same, with every word on both sides, so that it must be searched. */
static void a_long_search_ends(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf from, to;
    pl_buf_init(&from, 0);
    pl_buf_init(&to, 0);
    int n = 3 * PL_DIFF_MAX_STEPS / 5;
    for (int i = 0; i < n; i++) {
        pl_buf_addf(&from, "%d ", i);
        pl_buf_addf(&to, "%d ", n - 1 - i);
    }
    assert_int_equal(assert_words_say_both(pl_buf_str(&from), pl_buf_str(&to)), 2);
}

/* One budget for all blocks: the first uses it up, and the next has none. */
static void a_search_without_work_left_tells_texts_whole(void **state)
{
    (void)state;
    static const char *const expected[] = {
        "[" WORD("removed", "a ") "," WORD("same", "b ") "," WORD("added", "a ") "," WORD("same",
                                                                                          "c") "]",
        "[" WORD("removed", "a b c") "," WORD("added", "b a c") "]",
    };
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    int64_t n_work = 8, before = n_work;
    for (int i = 0; i < 2; i++) {
        PL_CLEANUP_BUF struct pl_buf text;
        pl_buf_init(&text, 0);
        struct pl_json_out out = pl_json_out(&text);
        assert_int_equal(pl_diff_words(&arena, PL_STR("a b c"), PL_STR("b a c"), &n_work, &out),
                         PL_OK);
        pl_buf_addc(&text, '\0');
        assert_string_equal(text.ptr, expected[i]);
        assert_true(n_work < before);
        before = n_work;
    }
}

static void a_crowd_of_members_is_told_in_bounds(void **state)
{
    (void)state;
    PL_CLEANUP_BUF struct pl_buf from, to, out;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    pl_buf_init(&from, 0);
    pl_buf_init(&to, 0);
    pl_buf_init(&out, 0);
    for (int side = 0; side < 2; side++) {
        struct pl_buf *json = side ? &to : &from;
        pl_buf_adds(json, "{\"messages\":[],\"");
        pl_buf_fill(json, 'k', 3000);
        pl_buf_adds(json, "\":{\"in\":[");
        for (int i = 0; i < 3000; i++)
            pl_buf_addf(json, "%s%d", i ? "," : "", i * (side + 1) + 1);
        pl_buf_adds(json, "]}}");
    }
    struct pl_prompt_text a = {true, pl_buf_str(&from)}, b = {true, pl_buf_str(&to)};
    assert_int_equal(pl_prompt_diff(&arena, &a, &b, &out, NULL), PL_OK);
    assert_true(out.len < from.len + to.len + 4000);
}

static void assert_variables(struct pl_prompt_text prompt, const char *expected)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf out;
    pl_arena_init(&arena, 0);
    pl_buf_init(&out, 0);
    assert_int_equal(pl_prompt_variables(&arena, &prompt, &out, NULL), PL_OK);
    pl_buf_addc(&out, '\0');
    assert_string_equal(out.ptr, expected);
}

#define VARIABLE(name, declared, found, required, rest)                                            \
    "{\"name\":\"" name "\",\"declared\":" declared ",\"found\":" found ",\"required\":" required  \
    "," rest "}"
#define NOTHING "\"type\":null,\"default\":null,\"options\":null"

static void variables_of_a_text_are_found(void **state)
{
    (void)state;
    assert_variables(text_of("no {{ one} \\{{ nor {{this one}}"), "[]");
    assert_variables(
        text_of("{{b}} {{ a }} {{b}} {{名:x y}} \\{{c}}"),
        "[" VARIABLE("b", "false", "true", "true", NOTHING) "," VARIABLE(
            "a", "false", "true", "true",
            NOTHING) "," VARIABLE("名", "false", "true", "false",
                                  "\"type\":null,\"default\":\"x y\",\"options\":null") "]");
}

static void declared_variables_come_first(void **state)
{
    (void)state;
    assert_variables(
        chat_of("{\"system_prompt\":\"{{x}} {{s}}\",\"messages\":[{\"role\":\"tool\",\"content\":"
                "\"{{no}}\"},{\"role\":\"user\",\"content\":[{\"text\":\"{{n:3}}\"}]}],"
                "\"variables\":[{\"name\":\"n\",\"type\":\"number\",\"default\":5},{\"name\":"
                "\"s\",\"type\":\"select\",\"options\":[\"u\",\"v\"],\"default\":\"u\"},{\"name\":"
                "\"idle\",\"required\":true}]}"),
        "[" VARIABLE("n", "true", "true", "false", "\"type\":\"number\",\"default\":\"3\",\"options\":null") "," VARIABLE(
            "s", "true", "true", "false",
            "\"type\":\"select\",\"default\":\"u\",\"options\":[\"u\",\"v\"]") "," VARIABLE("idle",
                                                                                            "true",
                                                                                            "false",
                                                                                            "true",
                                                                                            NOTHING) "," VARIABLE("x",
                                                                                                                  "false",
                                                                                                                  "true",
                                                                                                                  "true",
                                                                                                                  NOTHING) "]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_is_the_same),
        cmocka_unit_test(words_of_a_text_are_told_with_their_space),
        cmocka_unit_test(characters_of_scripts_without_spaces_are_words),
        cmocka_unit_test(messages_are_known_by_their_ids),
        cmocka_unit_test(messages_without_ids_are_known_by_what_they_say),
        cmocka_unit_test(a_text_against_a_chat_is_one_block),
        cmocka_unit_test(everything_else_is_told_member_by_member),
        cmocka_unit_test(parts_are_compared_by_their_kind),
        cmocka_unit_test(what_is_no_chat_is_refused),
        cmocka_unit_test(words_give_both_texts_back_after_any_edit),
        cmocka_unit_test(no_edit_is_shorter),
        cmocka_unit_test(texts_so_far_apart_are_told_whole),
        cmocka_unit_test(a_long_search_ends),
        cmocka_unit_test(a_search_without_work_left_tells_texts_whole),
        cmocka_unit_test(a_crowd_of_members_is_told_in_bounds),
        cmocka_unit_test(variables_of_a_text_are_found),
        cmocka_unit_test(declared_variables_come_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
