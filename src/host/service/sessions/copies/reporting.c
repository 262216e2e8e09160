#include "service/sessions/copies/reporting.h"

#include "base/text/suggest.h"
#include "service/loss_header.h"
#include "service/request_options.h"

bool pl_param_word(struct pl_exchange *x, const char *name, const char *const *words,
                   size_t *ret_word)
{
    struct pl_str given = pl_target_param(&x->target, name);
    if (!given.ptr)
        return true;
    struct pl_suggest suggest = pl_suggest(given);
    for (size_t i = 0; words[i]; i++) {
        if (pl_str_eq(given, pl_str_of(words[i]))) {
            *ret_word = i;
            return true;
        }
        pl_suggest_offer(&suggest, words[i]);
    }
    char says[200];
    int n = snprintf(says, sizeof says, "%s must be ", name);
    for (size_t i = 0; words[i] && n > 0 && (size_t)n < sizeof says; i++)
        n += snprintf(says + n, sizeof says - (size_t)n, "%s%s",
                      i == 0         ? ""
                      : words[i + 1] ? ", "
                                     : " or ",
                      words[i]);
    if (suggest.best && n > 0 && (size_t)n < sizeof says)
        snprintf(says + n, sizeof says - (size_t)n, "; did you mean \"%s\"?", suggest.best);
    pl_option_refuse(x, says, "/%s", name);
    return false;
}

bool pl_reporting_read(struct pl_exchange *x, struct pl_reporting *ret)
{
    static const char *const places[] = {"header", "body", NULL};
    static const char *const truths[] = {"false", "true", NULL};
    size_t place = 0, is_strict = 0;
    if (!pl_param_word(x, "report", places, &place) ||
        !pl_param_word(x, "strict", truths, &is_strict))
        return false;
    *ret = (struct pl_reporting){.is_in_body = place == 1, .is_strict = is_strict == 1};
    return true;
}

void pl_report_header(struct pl_exchange *x, struct pl_str report)
{
    PL_CLEANUP_BUF struct pl_buf value;
    pl_buf_init(&value, 0);
    pl_loss_header_add(&value, &x->arena, "", report);
    if (value.len && value.status == PL_OK)
        pl_exchange_header(x, "Parley-Loss", "%.*s", (int)value.len, value.ptr);
}

void pl_report_fail(struct pl_exchange *x, enum pl_status status, const struct pl_error *err,
                    struct pl_str report)
{
    pl_exchange_fail(x, status, err);
    if (!report.len || x->reply.status != PL_OK || !x->reply.len)
        return;
    x->reply.len--; /* the closing brace, added again below */
    pl_buf_adds(&x->reply, ",\"report\":");
    pl_buf_add(&x->reply, report);
    pl_buf_addc(&x->reply, '}');
}
