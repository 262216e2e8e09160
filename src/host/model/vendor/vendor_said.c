/* The report about a complete answer of a vendor: which model answered, its cost and duration, why
 * it ended, and the verdict of a filter. */
#include "model/vendor/vendor_said_int.h"

#include "format/format.h"
#include "json/text.h"

static void add_count(struct pl_buf *to, const char *key, int64_t n)
{
    if (n >= 0)
        pl_buf_addf(to, "%s\"%s\":%lld", to->len > 1 ? "," : "", key, (long long)n);
}

void pl_vendor_said_usage(struct pl_buf *to, const struct pl_vendor_said *said)
{
    const struct pl_counts *counts = &said->end.counts;
    if (counts->input < 0 && counts->output < 0)
        return;
    pl_buf_addc(to, '{');
    add_count(to, "input_tokens", counts->input);
    add_count(to, "output_tokens", counts->output);
    add_count(to, "cache_read_tokens", counts->cache_read);
    add_count(to, "cache_write_tokens", counts->cache_write);
    add_count(to, "reasoning_tokens", counts->reasoning);
    pl_buf_addc(to, '}');
}

void pl_vendor_said_timing(struct pl_buf *to, const struct pl_vendor_said *said, int64_t now_ms)
{
    int64_t cost = pl_target_cost(said->target, &said->end.counts);
    int64_t first_ms = said->has_told ? said->first_ms : now_ms;
    pl_buf_addf(to, "{\"ttft_ms\":%lld,\"total_ms\":%lld", (long long)(first_ms - said->started_ms),
                (long long)(now_ms - said->started_ms));
    /* An unknown price is left out. */
    if (cost >= 0)
        pl_buf_addf(to, ",\"cost_usd\":%lld.%06lld", (long long)(cost / 1000000),
                    (long long)(cost % 1000000));
    pl_buf_addc(to, '}');
}

void pl_vendor_said_model(struct pl_buf *to, const struct pl_vendor_said *said)
{
    struct pl_str model = said->end.model.len ? said->end.model : said->target->model;
    pl_buf_adds(to, said->target->vendor->name);
    pl_buf_addc(to, '/');
    pl_buf_add(to, model);
}

void pl_vendor_said_notice(struct pl_buf *to, const struct pl_vendor_said *said)
{
    const struct pl_heard_end *end = &said->end;
    const char *vendor = said->target->vendor->name;
    bool is_refusal = said->has_refused || pl_str_eq(end->word, PL_STR("refusal"));
    struct pl_str word = pl_str_slice(end->word, 0, 80), detail = pl_str_slice(end->detail, 0, 400);
    if (is_refusal)
        pl_buf_addf(to, "The model refused to answer.");
    else if (end->finish == PL_FINISH_LENGTH)
        pl_buf_addf(to, "The answer is incomplete: it reached the model's limit (%.*s).",
                    PL_STR_ARG(word));
    else if (end->finish == PL_FINISH_FILTER)
        pl_buf_addf(to, "A filter of %s stopped the answer (%.*s).", vendor, PL_STR_ARG(word));
    else if (end->finish == PL_FINISH_OTHER && word.len)
        pl_buf_addf(to, "The model stopped for its own reason (%.*s).", PL_STR_ARG(word));
    if (to->len && detail.len && !pl_str_eq(detail, word))
        pl_buf_addf(to, " %s says: %.*s", vendor, PL_STR_ARG(detail));
}

static void add_member(struct pl_buf *to, const char *key, struct pl_str json)
{
    pl_buf_addf(to, "%s\"%s\":", to->len > 1 ? "," : "", key);
    pl_buf_add(to, json);
}

static void add_text_member(struct pl_buf *to, const char *key, struct pl_str text)
{
    if (!text.len)
        return;
    pl_buf_addf(to, "%s\"%s\":", to->len > 1 ? "," : "", key);
    pl_json_quote(to, text);
}

/* Writes {"flagged","categories","ratings"?}. A refusal or a filter always flags, whatever the
 * ratings say. */
static void write_safety(struct pl_buf *to, const struct pl_vendor_said *said,
                         struct pl_arena *arena)
{
    const struct pl_format *format = said->target->format;
    struct pl_str ratings = said->end.ratings;
    PL_CLEANUP_BUF struct pl_buf categories;
    pl_buf_init(&categories, 0);
    struct pl_json_doc doc;
    struct pl_json_out out = pl_json_out(&categories);
    bool is_flagged = said->has_refused || said->end.finish == PL_FINISH_FILTER;
    bool is_rated = ratings.len && format->judge &&
                    pl_json_parse(arena, ratings, &pl_json_own, &doc, NULL) == PL_OK;
    pl_json_out_open(&out, '[');
    if (is_rated)
        is_flagged |= format->judge(&doc, doc.root, &out);
    pl_json_out_close(&out, ']');
    pl_buf_addf(to, "{\"flagged\":%s,\"categories\":", is_flagged ? "true" : "false");
    pl_buf_add(to, pl_buf_str(&categories));
    if (is_rated)
        add_member(to, "ratings", ratings);
    pl_buf_addc(to, '}');
    if (categories.status != PL_OK)
        to->status = PL_NOMEM;
}

void pl_vendor_said_about(struct pl_buf *to, const struct pl_vendor_said *said,
                          struct pl_arena *arena, struct pl_str cites)
{
    PL_CLEANUP_BUF struct pl_buf safety;
    pl_buf_init(&safety, 0);
    pl_buf_addc(to, '{');
    add_text_member(to, "model_version",
                    said->end.model.len ? said->end.model : said->target->model);
    add_text_member(to, "system_fingerprint", said->end.fingerprint);
    add_text_member(to, "finish_reason", said->end.word);
    write_safety(&safety, said, arena);
    add_member(to, "safety_check", pl_buf_str(&safety));
    if (cites.len) {
        pl_buf_adds(to, ",\"citation_map\":{");
        pl_buf_add(to, cites);
        pl_buf_addc(to, '}');
    }
    pl_buf_addc(to, '}');
    if (safety.status != PL_OK)
        to->status = PL_NOMEM;
}
