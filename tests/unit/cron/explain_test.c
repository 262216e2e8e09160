/* Expressions in plain language. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cron/explain.h"

static const struct {
    const char *expression, *words[PL_CRON_N_LANGS];
} cases[] = {
    {"* * * * *", {"Every minute", "每分钟"}},
    {"*/15 * * * *", {"Every 15 minutes", "每15分钟"}},
    {"@hourly", {"Every hour, on the hour", "每小时整点"}},
    {"5 * * * *", {"At minute 5 of every hour", "每小时第5分"}},
    {"7 */2 * * *", {"At minute 7, every 2 hours", "每2小时第7分"}},
    {"@daily", {"At 00:00 every day", "每天 00:00"}},
    {"0 9 * * MON-FRI", {"At 09:00, on Monday to Friday", "每周一至周五，09:00"}},
    {"0 9,17 * * SAT,SUN",
     {"At 09:00 and 17:00, on Saturday and Sunday", "每周六和周日，09:00和17:00"}},
    {"0 0 1,15 * *", {"At 00:00, on days 1 and 15 of the month", "每月1和15日，00:00"}},
    {"0 0 L * *", {"At 00:00, on the last day of the month", "每月最后一天，00:00"}},
    {"0 0 * * 5L", {"At 00:00, on the last Friday of the month", "每月最后一个周五，00:00"}},
    {"0 0 * * MON#2", {"At 00:00, on the second Monday of the month", "每月第二个周一，00:00"}},
    {"0 0 13 * FRI",
     {"At 00:00, on day 13 of the month, or on Friday", "每月13日，或每周五，00:00"}},
    {"@yearly", {"At 00:00, on day 1 of the month, in January", "1月，1日，00:00"}},
    {"*/5 9-17 * * *", {"Every 5 minutes in hours 9 to 17", "9至17点每5分钟"}},
    {"3-31/7 * * * *",
     {"At minutes 3 to 31 (in steps of 7) of every hour", "每小时第3至31（步长7）分"}},
};

static void expressions_are_told_in_both_languages(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int lang = 0; lang < PL_CRON_N_LANGS; lang++) {
            struct pl_cron cron;
            PL_CLEANUP_BUF struct pl_buf words;
            pl_buf_init(&words, 0);
            assert_int_equal(pl_cron_parse(pl_str_of(cases[i].expression), &cron, NULL), PL_OK);
            pl_cron_explain(&words, &cron, (enum pl_cron_lang)lang);
            if (!pl_str_eq(pl_buf_str(&words), pl_str_of(cases[i].words[lang])))
                fail_msg("%s: %.*s", cases[i].expression, PL_STR_ARG(pl_buf_str(&words)));
        }
}

static void a_full_buffer_is_told_by_its_status(void **state)
{
    (void)state;
    struct pl_cron cron;
    PL_CLEANUP_BUF struct pl_buf words;
    pl_buf_init(&words, 10);
    assert_int_equal(pl_cron_parse(PL_STR("0 9 * * MON"), &cron, NULL), PL_OK);
    pl_cron_explain(&words, &cron, PL_CRON_EN);
    assert_int_equal(words.status, PL_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_are_told_in_both_languages),
        cmocka_unit_test(a_full_buffer_is_told_by_its_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
