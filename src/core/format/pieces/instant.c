/* Instants as microseconds since 1970, between two spellings. */
#include "format/pieces/instant.h"

#include "base/text/utc.h"
#include "json/number.h"

static const int64_t us_per_second = 1000000;

bool pl_instant_parse(struct pl_str text, int64_t *ret_us)
{
    return pl_utc_read(text, ret_us);
}

static bool read_instant(struct pl_conv *conv, const struct pl_json_node *node,
                         enum pl_instant_unit unit, int64_t *ret_us)
{
    if (pl_json_kind(node) == PL_JSON_STRING)
        return pl_instant_parse(pl_conv_text(conv, pl_val_node(node)), ret_us);
    if (pl_json_kind(node) != PL_JSON_NUMBER)
        return false;
    double us = pl_json_number_double(pl_json_span(conv->doc, node)) *
                (unit == PL_INSTANT_MILLISECONDS ? 1e3 : 1e6);
    /* From 1970 to the year 9999; in that range a double is exact to about a microsecond. */
    if (!(us >= 0 && us < 253402300800e6))
        return false;
    *ret_us = (int64_t)(us + 0.5);
    return true;
}

/* us / 10^n_digits with as many decimals as it takes. */
static void write_decimal(struct pl_writer *w, int64_t us, int n_digits)
{
    int64_t unit = 1;
    for (int i = 0; i < n_digits; i++)
        unit *= 10;
    int64_t rest = us % unit;
    if (!rest) {
        pl_w_int(w, us / unit);
        return;
    }
    for (; rest % 10 == 0; rest /= 10)
        n_digits--;
    pl_w_value(w, pl_val_json(pl_conv_printf(w->conv, "%lld.%0*lld", (long long)(us / unit),
                                             n_digits, (long long)rest)));
}

static void write_rfc3339(struct pl_writer *w, int64_t us)
{
    struct pl_civil civil = pl_civil_of(us / us_per_second);
    int64_t rest = us % us_per_second;
    int n_digits = 6;
    struct pl_str decimals = {0};
    if (rest) {
        for (; rest % 10 == 0; rest /= 10)
            n_digits--;
        decimals = pl_conv_printf(w->conv, ".%0*lld", n_digits, (long long)rest);
    }
    struct pl_str text =
        pl_conv_printf(w->conv, "%04d-%02d-%02dT%02d:%02d:%02d%.*sZ", civil.year, civil.month,
                       civil.day, civil.hour, civil.minute, civil.second, (int)decimals.len,
                       decimals.len ? decimals.ptr : "");
    pl_w_string(w, pl_val_text(text));
}

bool pl_instant_write(struct pl_writer *w, const char *key, struct pl_val when,
                      const struct pl_conversion *conversion, enum pl_instant_unit unit)
{
    if (when.kind != PL_VAL_NODE)
        return false;
    enum pl_instant_unit source = PL_INSTANT_SECONDS;
    if (pl_json_kind(when.node) == PL_JSON_STRING)
        source = PL_INSTANT_RFC3339;
    else if (conversion->from == &pl_format_envelope)
        source = PL_INSTANT_MILLISECONDS;
    int64_t us;
    if (!read_instant(w->conv, when.node, source, &us) || us < 0)
        return false;
    pl_w_key(w, key);
    if (source == unit) {
        pl_w_value(w, when);
        return true;
    }
    if (unit == PL_INSTANT_RFC3339) {
        write_rfc3339(w, us);
    } else if (unit == PL_INSTANT_SECONDS) {
        pl_w_int(w, us / us_per_second);
        if (us % us_per_second)
            pl_w_loss(w, PL_LOSS_APPROXIMATED, when, "the time is written in whole seconds");
    } else {
        write_decimal(w, us, 3);
    }
    pl_w_mapped(w, when);
    return true;
}
