/* Trims the conversation, writes it in its own format, and counts the result. If the written form
 * is still too large, it tries again with a smaller limit, a bounded number of times. */
#include "document/trim.h"

#include "format/gpt_oss/gpt_oss.h"
#include "format/loss_report.h"
#include "format/mend.h"
#include "format/rules.h"

#include <inttypes.h>

/* The output is counted by reading it again. If it has more tokens than the trimmed conversation (a
 * repair adds something), the conversation is trimmed again by the difference. More than two tries
 * have never been needed. */
enum { MAX_TRIES = 4 };

struct fitting {
    struct pl_str text;
    const struct pl_trim_request *request;
    struct pl_count_rule rule;
    struct pl_tokens *tokens;        /* owned; made when the source is first read */
    struct pl_trimmed_document made; /* owned */
    uint64_t max_tokens;             /* of this try */
    struct pl_error *err;
};

void pl_trimmed_document_init(struct pl_trimmed_document *t)
{
    *t = (struct pl_trimmed_document){0};
    pl_buf_init(&t->out, 0);
    pl_buf_init(&t->report, 0);
}

void pl_trimmed_document_deinit(struct pl_trimmed_document *t)
{
    pl_buf_deinit(&t->out);
    pl_buf_deinit(&t->report);
}

static enum pl_status parse_own(struct pl_source *source, const struct pl_buf *text,
                                struct pl_json_doc *ret_doc, struct pl_error *err)
{
    return pl_json_parse(&source->arena, pl_buf_str(text), &pl_json_made, ret_doc, err);
}

/* Writes the conversation and restores the parts that were not changed. */
static enum pl_status mend(struct fitting *f, struct pl_source *source,
                           const struct pl_conversion *conversion, struct pl_buf *to)
{
    PL_CLEANUP_BUF struct pl_buf fresh_text;
    struct pl_json_doc fresh;
    struct pl_writer writer;
    size_t n_losses = source->conv.losses.len;
    pl_buf_init(&fresh_text, 0);
    pl_writer_init(&writer, &source->conv, &fresh_text);
    pl_writer_keep_links(&writer, PL_LINKS_ALL);
    enum pl_status status = conversion->to->write(&writer, conversion, f->err);
    if (status == PL_OK)
        status = source->conv.status != PL_OK ? source->conv.status : fresh_text.status;
    if (status == PL_OK)
        status = parse_own(source, &fresh_text, &fresh, f->err);
    if (status == PL_OK)
        status = pl_mend_write(to, &writer, source->text, &fresh, conversion->to, n_losses);
    pl_writer_deinit(&writer);
    return status;
}

/* The text of a document in a format that is not JSON. */
static enum pl_status render(struct fitting *f, struct pl_source *source, struct pl_buf *out)
{
    struct pl_json_doc doc;
    struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status = parse_own(source, out, &doc, f->err);
    if (status == PL_OK)
        status = pl_gpt_oss_render(&doc, &text, f->err);
    pl_buf_deinit(out);
    *out = text;
    return status;
}

static enum pl_status write_out(struct fitting *f, struct pl_source *source)
{
    struct pl_conversion conversion = {.kind = PL_KIND_REQUEST,
                                       .mode = PL_MODE_REPAIR,
                                       .from = source->format,
                                       .to = source->format};
    struct pl_repair_rules rules = pl_format_rules(&conversion);
    enum pl_status status = pl_conv_repair(&source->conv, &rules);
    if (status == PL_OK)
        status = mend(f, source, &conversion, &f->made.out);
    if (status == PL_OK && source->format == &pl_format_gpt_oss)
        status = render(f, source, &f->made.out);
    if (status == PL_OK)
        status = pl_loss_report_write(&f->made.report, source->format->name, source->format->name,
                                      &source->conv);
    return status;
}

static enum pl_status copy_out(struct fitting *f, const struct pl_source *source)
{
    pl_buf_add(&f->made.out, f->text);
    return f->made.out.status != PL_OK ? f->made.out.status
                                       : pl_loss_report_write(&f->made.report, source->format->name,
                                                              source->format->name, NULL);
}

/* Counts the output, with the vocabulary of the source. */
static enum pl_status count_out(struct fitting *f, const struct pl_format *format,
                                uint64_t *ret_n_tokens)
{
    PL_CLEANUP_SOURCE struct pl_source out;
    struct pl_tally tally = {0};
    enum pl_status status = pl_source_open(&out, pl_buf_str(&f->made.out), format, 0, f->err);
    if (status == PL_OK)
        status = pl_count_conv(&f->rule, &out.conv, &tally);
    if (status == PL_OK)
        *ret_n_tokens = pl_tally_total(&f->rule, &tally);
    return status;
}

static enum pl_status choose_rule(struct fitting *f, struct pl_source *source)
{
    if (f->tokens)
        return PL_OK;
    f->rule.counting = pl_count_choose(&source->conv, source->format, &f->request->choice);
    enum pl_status status = pl_tokens_create(f->rule.counting.encoding, &f->tokens);
    f->rule.tokens = f->tokens;
    return status;
}

/* One try: *ret_n_over is the number of tokens over the limit. */
static enum pl_status try_once(struct fitting *f, uint64_t *ret_n_over)
{
    PL_CLEANUP_SOURCE struct pl_source source;
    struct pl_trimmed trimmed = {0};
    struct pl_trim_opts opts = {
        .rule = &f->rule, .max_tokens = f->max_tokens, .summary = f->request->summary};
    *ret_n_over = 0;
    enum pl_status status =
        pl_source_open(&source, f->text, f->request->as, f->request->choice.max_items, f->err);
    if (status == PL_OK)
        status = choose_rule(f, &source);
    if (status == PL_OK)
        status = pl_conv_trim(&source.conv, &opts, &trimmed, f->err);
    if (status != PL_OK)
        return status;
    f->made.trimmed = trimmed;
    if (trimmed.n_before <= f->request->max_tokens)
        return copy_out(f, &source);
    status = write_out(f, &source);
    if (status == PL_OK)
        status = count_out(f, source.format, &f->made.trimmed.n_after);
    if (status == PL_OK && f->made.trimmed.n_after > f->request->max_tokens)
        *ret_n_over = f->made.trimmed.n_after - f->request->max_tokens;
    return status;
}

static enum pl_status fit(struct fitting *f)
{
    uint64_t n_over = 0, n_least = 0;
    enum pl_status status = try_once(f, &n_over);
    for (int i = 1; i < MAX_TRIES && status == PL_OK && n_over > 0; i++) {
        n_least = f->made.trimmed.n_after;
        f->max_tokens -= n_over < f->max_tokens ? n_over : f->max_tokens;
        pl_buf_clear(&f->made.out);
        pl_buf_clear(&f->made.report);
        status = try_once(f, &n_over);
    }
    bool is_too_large = n_least > 0 && (status == PL_INVALID || (status == PL_OK && n_over > 0));
    if (is_too_large)
        status = pl_fail(f->err, PL_INVALID,
                         "this cannot be made smaller than %" PRIu64
                         " tokens in its written form; allow that many",
                         n_least);
    return status;
}

enum pl_status pl_trim_document(struct pl_str text, const struct pl_trim_request *request,
                                struct pl_trimmed_document *ret, struct pl_error *err)
{
    struct fitting f = {
        .text = text, .request = request, .max_tokens = request->max_tokens, .err = err};
    pl_trimmed_document_init(&f.made);
    enum pl_status status = fit(&f);
    pl_tokens_destroy(f.tokens);
    if (status == PL_OK)
        *ret = f.made;
    else
        pl_trimmed_document_deinit(&f.made);
    return status;
}
