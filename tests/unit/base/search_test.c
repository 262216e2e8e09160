/* Every instruction set finds a word at the same place as the plain search. */
#include "base/text/search.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

static void check(struct pl_str text, struct pl_str part)
{
    size_t wanted = pl_str_find(text, part);
    assert_int_equal(pl_str_search(text, part), wanted);
    for (int cpu = 0; cpu < PL_CPU_COUNT; cpu++)
        if (pl_cpu_has((enum pl_cpu)cpu))
            assert_int_equal(pl_str_search_with((enum pl_cpu)cpu, text, part), wanted);
}

static void a_word_is_found_wherever_it_stands(void **state)
{
    (void)state;
    struct pl_str part = PL_STR("/api/blobs/");
    for (size_t n = 0; n < 140; n++) {
        char *text = malloc(n + 1); /* exact size: detects reads beyond it */
        for (size_t at = 0; at + part.len <= n; at++) {
            memset(text, '/', n);
            memcpy(text + at, part.ptr, part.len);
            check((struct pl_str){text, n}, part);
        }
        memset(text, '/', n);
        check((struct pl_str){text, n}, part);
        free(text);
    }
}

static void the_first_of_several_is_found(void **state)
{
    (void)state;
    check(PL_STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab aab aab"), PL_STR("aab"));
    check(PL_STR("xyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxyxz"), PL_STR("z"));
    check(PL_STR("a text that is shorter"), PL_STR("a text that is shorter than the word"));
    check((struct pl_str){0}, PL_STR("word"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_word_is_found_wherever_it_stands),
        cmocka_unit_test(the_first_of_several_is_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
