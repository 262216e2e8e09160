/* Any bytes as an expression. It may be refused, with an offset inside it. An accepted expression
 * has a description, and its next occurrence is after the instant and in a minute that it
 * includes. */
#include "base/text/utf8.h"
#include "cron/explain.h"
#include "cron/next.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool is_true)
{
    if (!is_true)
        abort();
}

static void must_be_told(const struct pl_cron *cron, enum pl_cron_lang lang)
{
    PL_CLEANUP_BUF struct pl_buf words;
    pl_buf_init(&words, 0);
    pl_cron_explain(&words, cron, lang);
    must(words.status == PL_OK && words.len && pl_utf8_is_valid(pl_buf_str(&words)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int64_t start_s = 1772323200; /* March 2026 */
    struct pl_str text = {(const char *)data, size};
    struct pl_error err = {0};
    struct pl_cron cron;
    if (pl_cron_parse(text, &cron, &err) != PL_OK) {
        must(err.message[0] && (size > PL_CRON_MAX_BYTES || err.has_position));
        return 0;
    }
    must_be_told(&cron, PL_CRON_EN);
    must_be_told(&cron, PL_CRON_ZH);
    int64_t at_s = start_s, before_s = at_s;
    for (int i = 0; i < 4 && pl_cron_next(&cron, NULL, at_s, &at_s); i++) {
        struct pl_civil civil = pl_civil_of(at_s);
        must(at_s > before_s && !civil.second && pl_cron_has_minute(&cron, &civil));
        before_s = at_s;
    }
    return 0;
}
