/* Terminal bytes as keys, whole and byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "terminal/keys.h"

#include <stdio.h>

/* Texts unchanged, other keys as <number>, pastes in brackets. */
static void tell(struct pl_keys *keys, struct pl_buf *to)
{
    for (struct pl_key key; pl_keys_next(keys, &key);) {
        if (key.kind == PL_KEY_TEXT)
            pl_buf_add(to, key.text);
        else if (key.kind == PL_KEY_PASTE)
            pl_buf_addf(to, "[%.*s]", PL_STR_ARG(key.text));
        else
            pl_buf_addf(to, "<%d>", (int)key.kind);
    }
}

static void expect(struct pl_str bytes, const char *expected)
{
    for (size_t step = 1; step <= bytes.len; step += bytes.len > 1 ? bytes.len - 1 : 1) {
        PL_CLEANUP_BUF struct pl_buf told;
        struct pl_keys keys;
        pl_buf_init(&told, 0);
        pl_keys_init(&keys);
        for (size_t at = 0; at < bytes.len; at += step) {
            assert_int_equal(pl_keys_feed(&keys, pl_str_slice(bytes, at, at + step)), PL_OK);
            tell(&keys, &told);
        }
        pl_keys_settle(&keys);
        tell(&keys, &told);
        pl_keys_deinit(&keys);
        pl_buf_addc(&told, '\0');
        /* A paste that comes in pieces is reported in pieces. */
        PL_CLEANUP_BUF struct pl_buf joined;
        pl_buf_init(&joined, 0);
        for (const char *at = told.ptr; *at; at++) {
            if (at[0] == ']' && at[1] == '[')
                at++;
            else
                pl_buf_addc(&joined, *at);
        }
        pl_buf_addc(&joined, '\0');
        assert_string_equal(joined.ptr, expected);
    }
}

static const char *key(enum pl_key_kind kind)
{
    static char text[16];
    snprintf(text, sizeof text, "<%d>", (int)kind);
    return text;
}

static void letters_of_every_script_are_text(void **state)
{
    (void)state;
    expect(PL_STR("aé中🙂"), "aé中🙂");
    expect(PL_STR("a\xFFz"), "a\uFFFDz");
}

static void sequences_are_keys(void **state)
{
    static const struct {
        const char *bytes;
        enum pl_key_kind kind;
    } cases[] = {
        {"\033[A", PL_KEY_UP},        {"\033OB", PL_KEY_DOWN},    {"\033[1;5D", PL_KEY_WORD_LEFT},
        {"\033f", PL_KEY_WORD_RIGHT}, {"\033[3~", PL_KEY_DELETE}, {"\001", PL_KEY_HOME},
        {"\177", PL_KEY_BACKSPACE},   {"\033\r", PL_KEY_NEWLINE}, {"\r", PL_KEY_ENTER},
        {"\022", PL_KEY_SEARCH},      {"\033", PL_KEY_ESCAPE},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(pl_str_of(cases[i].bytes), key(cases[i].kind));
}

static void unknown_sequences_leave_no_letters(void **state)
{
    (void)state;
    expect(PL_STR("a\033[15;2~b\033[?1;2cc\033xd"), "abcd");
    expect(PL_STR("a\033[12"), "a");
}

static void a_paste_is_text_whatever_it_contains(void **state)
{
    (void)state;
    expect(PL_STR("\033[200~one\r\ntwo\rthree\n\tx\033[A\003中\033[201~y"),
           "[one\ntwo\nthree\n\tx[A中]y");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(letters_of_every_script_are_text),
        cmocka_unit_test(sequences_are_keys),
        cmocka_unit_test(unknown_sequences_leave_no_letters),
        cmocka_unit_test(a_paste_is_text_whatever_it_contains),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
