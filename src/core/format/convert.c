/* One function per step of a conversion: parse, read, fit, write, report, carry. `struct trip`
 * holds their shared state. */
#include "format/convert.h"

#include "format/adapt/fit.h"
#include "format/gpt_oss/gpt_oss.h"
#include "format/mend.h"
#include "format/model_name.h"
#include "format/profile.h"
#include "format/loss_report.h"
#include "format/rules.h"
#include "format/source.h"
#include "json/pointer.h"
#include "json/text.h"

#include <assert.h>

void pl_converted_init(struct pl_converted *c)
{
    *c = (struct pl_converted){0};
    pl_buf_init(&c->out, 0);
    pl_buf_init(&c->report, 0);
    pl_buf_init(&c->carry, 0);
}

void pl_converted_deinit(struct pl_converted *c)
{
    pl_buf_deinit(&c->out);
    pl_buf_deinit(&c->report);
    pl_buf_deinit(&c->carry);
}

/* Field by field: the rest is large, and set before it is read. */
void pl_workspace_init(struct pl_workspace *space)
{
    pl_arena_init(&space->arena, 0);
    pl_conv_init_lists(&space->conv);
    pl_writer_init(&space->writer, &space->conv, NULL);
    space->way_home = NULL;
    space->home = NULL;
}

static void forget_home(struct pl_workspace *space)
{
    if (space->home)
        space->way_home->forget(space->home);
    space->way_home = NULL;
    space->home = NULL;
}

void pl_workspace_deinit(struct pl_workspace *space)
{
    forget_home(space);
    pl_writer_deinit(&space->writer);
    pl_conv_deinit(&space->conv);
    pl_arena_deinit(&space->arena);
}

/* The state of a conversion. */
struct trip {
    struct pl_str text;
    const struct pl_convert_opts *opts;
    struct pl_conversion conversion;
    struct pl_workspace *space;
    struct pl_arena *arena;   /* these three are of the workspace */
    struct pl_conv *conv;     /* … empty until the source is read */
    struct pl_writer *writer; /* … */
    struct pl_json_doc doc;
    struct pl_converted made;
    struct pl_error *err;
};

static enum pl_status parse(struct trip *t)
{
    if (t->opts->doc) {
        t->doc = *t->opts->doc;
        return PL_OK;
    }
    if (t->opts->is_own) {
        struct pl_json_opts opts = pl_json_any;
        opts.max_depth = pl_json_own.max_depth;
        opts.max_nodes = pl_json_own.max_nodes;
        return pl_json_parse(t->arena, t->text, &opts, &t->doc, t->err);
    }
    /* The JSON of gpt-oss text is our own: its source is not JSON. */
    bool is_strict = t->opts->is_strict && t->conversion.from != &pl_format_gpt_oss;
    return (is_strict ? pl_source_parse_strict : pl_source_parse)(t->arena, t->text, &t->doc,
                                                                  t->err);
}

static enum pl_status read_source(struct trip *t)
{
    enum pl_status status = pl_conv_renew(t->conv, t->arena, &t->doc);
    pl_conv_limit(t->conv, t->opts->max_items);
    if (status == PL_OK)
        status = t->conversion.from->read(t->conv, t->conversion.kind, t->err);
    return status == PL_OK || t->conv->status == PL_LIMIT ? pl_conv_check(t->conv, t->err) : status;
}

static void replace(struct pl_conv *conv, struct pl_val *at, struct pl_str text)
{
    pl_conv_know(conv, at->node);
    *at = text.len ? pl_val_text(text) : (struct pl_val){0};
}

/* A model name may begin with a provider of a Parley server, which no vendor knows. OpenRouter
 * itself has names of this form. */
static void take_provider_off(struct trip *t)
{
    struct pl_settings *settings = &t->conv->settings;
    const struct pl_profile *profile = pl_format_profile(&t->conversion);
    struct pl_str name;
    if (t->opts->keeps_provider || t->conversion.from->is_vendor || !t->conversion.to->is_vendor ||
        settings->model.kind != PL_VAL_NODE ||
        pl_json_kind(settings->model.node) != PL_JSON_STRING ||
        (profile && profile->takes_reasoning_details))
        return;
    if (pl_json_text(t->arena, t->conv->doc, settings->model.node, &name) != PL_OK) {
        t->conv->status = PL_NOMEM;
        return;
    }
    struct pl_str bare = pl_model_bare_name(name);
    if (bare.len != name.len)
        replace(t->conv, &settings->model, bare);
}

/* Applies the model name from the caller. */
static void rename_model(struct trip *t)
{
    struct pl_settings *settings = &t->conv->settings;
    if (t->opts->is_addressed) {
        replace(t->conv, &settings->model, (struct pl_str){0});
        replace(t->conv, &settings->stream, (struct pl_str){0});
    } else if (t->opts->model.len) {
        replace(t->conv, &settings->model, t->opts->model);
    } else {
        take_provider_off(t);
    }
}

/* The sweep finds values that were not written, for the report and to refuse them. A carry needs it
 * too. */
static bool needs_sweep(const struct trip *t)
{
    return !t->opts->skips_report || t->opts->is_strict || t->opts->way_home;
}

static enum pl_status write_target(struct trip *t)
{
    pl_writer_renew(t->writer, t->conv, &t->made.out);
    if (t->opts->way_home)
        pl_writer_keep_links(t->writer, PL_LINKS_LONG);
    /* Most targets are about as long as their source: growing would copy them again and again. */
    (void)pl_buf_reserve(&t->made.out, t->text.len + t->text.len / 4);
    enum pl_status status = t->conversion.to->write(t->writer, &t->conversion, t->err);
    if ((status == PL_OK || status == PL_INVALID) && needs_sweep(t))
        pl_conv_sweep(t->conv);
    if (status == PL_OK)
        status = t->conv->status != PL_OK ? t->conv->status : t->made.out.status;
    return status;
}

/* Parses the output. It is our own, so only memory can fail. */
static enum pl_status parse_target(struct trip *t, struct pl_json_doc *ret_target)
{
    enum pl_status status =
        pl_json_parse(t->arena, pl_buf_str(&t->made.out), &pl_json_made, ret_target, t->err);
    return status == PL_OK || status == PL_NOMEM || status == PL_LIMIT ? status : PL_INTERNAL;
}

static enum pl_status write_carry(struct trip *t)
{
    return t->opts->way_home->write(&t->made.carry, t->writer, t->text, pl_buf_str(&t->made.out),
                                    &t->conversion);
}

static enum pl_status write_report(struct trip *t, const struct pl_conv *conv)
{
    if (t->opts->skips_report)
        return PL_OK;
    return pl_loss_report_write(&t->made.report, t->conversion.from->name, t->conversion.to->name,
                                conv);
}

/* Refuses a conversion with losses. */
static enum pl_status refuse_losses(struct trip *t, const char *what)
{
    return pl_fail(t->err, PL_INVALID, "%s cannot express %s, and --strict refuses losses; %s",
                   t->conversion.to->name, what,
                   t->opts->skips_report ? "ask for a report to see which" : "see the report");
}

/* Writes an empty carry: none is needed. */
static enum pl_status write_no_carry(struct trip *t)
{
    pl_buf_adds(&t->made.carry, "{}");
    return t->made.carry.status;
}

/* Law one: converting a format into itself copies the bytes. */
static enum pl_status pass_through(struct trip *t)
{
    pl_buf_add(&t->made.out, t->text);
    enum pl_status status = t->made.out.status;
    if (status == PL_OK)
        status = write_no_carry(t);
    return status == PL_OK ? write_report(t, NULL) : status;
}

static enum pl_status go_home(struct trip *t)
{
    if (t->space->way_home != t->opts->way_home)
        forget_home(t->space);
    t->space->way_home = t->opts->way_home;
    struct pl_home home = {
        .arena = t->arena,
        .memory = &t->space->home,
        .carry = t->opts->carry,
        .text = t->text,
        .target = &t->doc,
        .conversion = t->conversion,
        .conv = t->conv,
        .max_items = t->opts->max_items,
    };
    enum pl_status status = pl_conv_renew(t->conv, t->arena, &t->doc);
    if (status == PL_OK)
        status = write_no_carry(t);
    if (status == PL_OK)
        status = t->opts->way_home->go(&home, &t->made.out, t->err);
    if (status == PL_OK)
        status = write_report(t, t->conv);
    if (status == PL_OK && t->opts->is_strict && !pl_loss_report_is_lossless(t->conv))
        return refuse_losses(t, "every change");
    return status;
}

/* A format into itself after a repair: unchanged content keeps its bytes. Of the writer's losses
 * only the added fields count: the rest is about translating. */
static enum pl_status mend(struct trip *t)
{
    struct pl_json_doc fresh;
    struct pl_buf mended;
    pl_buf_init(&mended, t->made.out.max);
    size_t n_losses = t->conv->losses.len;
    pl_writer_renew(t->writer, t->conv, &t->made.out);
    pl_writer_keep_links(t->writer, PL_LINKS_ALL);
    enum pl_status status = t->conversion.to->write(t->writer, &t->conversion, t->err);
    if (status == PL_OK)
        status = t->conv->status != PL_OK ? t->conv->status : t->made.out.status;
    if (status == PL_OK)
        status = parse_target(t, &fresh);
    if (status == PL_OK)
        status = pl_mend_write(&mended, t->writer, t->text, &fresh, t->conversion.to, n_losses);
    if (status == PL_OK) {
        pl_conv_sweep(t->conv);
        status = t->conv->status;
    }
    pl_buf_deinit(&t->made.out);
    t->made.out = mended;
    return status == PL_OK ? write_no_carry(t) : status;
}

/* Refuses the first value of the wrong type. */
static enum pl_status refuse_misfit(struct trip *t)
{
    const struct pl_misfit *misfit = &t->conv->misfits.ptr[0];
    PL_CLEANUP_BUF struct pl_buf pointer;
    pl_buf_init(&pointer, 0);
    pl_json_pointer_of(&pointer, &t->doc, misfit->node);
    if (pointer.status != PL_OK)
        return pointer.status;
    struct pl_str detail = pl_misfit_detail(t->conv, misfit);
    enum pl_status status = pl_fail(t->err, PL_INVALID, "%.*s", PL_STR_ARG(detail));
    pl_error_locate(t->err, t->doc.text, misfit->node->off);
    pl_error_point(t->err, "%.*s", PL_STR_ARG(pl_buf_str(&pointer)));
    return status;
}

static enum pl_status read_and_repair(struct trip *t)
{
    enum pl_status status = read_source(t);
    if (status == PL_OK && t->opts->refuses_wrong_types && t->conv->misfits.len)
        status = refuse_misfit(t);
    rename_model(t);
    if (status == PL_OK)
        status = pl_format_prepare(t->conv, &t->conversion, t->err);
    /* Not a conversation, or refused: the report says so too. */
    if (status == PL_INVALID)
        pl_conv_loss(t->conv, PL_LOSS_DROPPED, t->doc.root, "%s",
                     t->err ? t->err->message : "not a conversation");
    return t->conv->status != PL_OK ? t->conv->status : status;
}

static enum pl_status translate(struct trip *t)
{
    bool is_same = t->conversion.from == t->conversion.to;
    enum pl_status status = read_and_repair(t);
    if (status == PL_OK)
        status = is_same ? mend(t) : write_target(t);
    if (status != PL_OK && status != PL_INVALID)
        return status;
    enum pl_status reported = write_report(t, t->conv);
    if (reported != PL_OK)
        return reported;
    if (status == PL_OK && t->opts->is_strict && !pl_loss_report_is_lossless(t->conv))
        return refuse_losses(t, "all of it");
    bool has_carry = status == PL_OK && !is_same && t->opts->way_home;
    return has_carry ? write_carry(t) : status;
}

static enum pl_status travel(struct trip *t)
{
    enum pl_status status = parse(t);
    if (status == PL_OK)
        status = pl_source_detect(&t->doc, "--from", &t->conversion.from, t->err);
    if (status != PL_OK)
        return status;
    if (t->conversion.from == t->conversion.to && t->conversion.mode == PL_MODE_CONVERT)
        return pass_through(t);
    if (t->opts->carry.len)
        return go_home(t);
    return translate(t);
}

static enum pl_status write_text(struct trip *t)
{
    struct pl_json_doc doc;
    struct pl_buf text;
    pl_buf_init(&text, t->made.out.max);
    enum pl_status status = parse_target(t, &doc);
    if (status == PL_OK)
        status = pl_gpt_oss_render(&doc, &text, t->err);
    pl_buf_deinit(&t->made.out);
    t->made.out = text;
    return status;
}

size_t pl_convert_most(size_t n_bytes)
{
    const size_t least = (size_t)16 << 20, most = (size_t)1 << 30, times = 16;
    return n_bytes < (most - least) / times ? least + times * n_bytes : most;
}

/* Limits every output buffer to `max` bytes. */
static void limit(struct pl_converted *c, size_t max)
{
    c->out.max = c->report.max = c->carry.max = max;
}

/* Names the buffer that was too long, if that was the reason. */
static enum pl_status explain_limit(const struct trip *t, size_t max)
{
    const struct pl_converted *c = &t->made;
    const char *what = c->report.status == PL_LIMIT  ? "report"
                       : c->carry.status == PL_LIMIT ? "carry"
                                                     : "result";
    if (!t->err || t->err->message[0] || t->writer->out.depth >= PL_W_MAX_DEPTH)
        return PL_LIMIT;
    return pl_fail(t->err, PL_LIMIT,
                   "the %s of this conversion would have more than %zu bytes; convert the "
                   "conversation in parts",
                   what, max);
}

static void empty(struct pl_converted *c)
{
    pl_buf_clear(&c->out);
    pl_buf_clear(&c->report);
    pl_buf_clear(&c->carry);
    c->from = NULL;
    c->n_called = 0;
}

static enum pl_status convert_in(struct pl_workspace *space, struct pl_str text,
                                 const struct pl_convert_opts *opts, struct pl_converted *ret,
                                 struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf document;
    pl_buf_init(&document, 0);
    /* Field by field: the document is set when it is parsed. */
    __attribute__((uninitialized)) struct trip t;
    t.text = text;
    t.opts = opts;
    t.conversion = (struct pl_conversion){.kind = opts->kind,
                                          .mode = opts->mode,
                                          .from = opts->from,
                                          .to = opts->to,
                                          .profile = opts->profile,
                                          .is_own = opts->is_own,
                                          .n_called_before = opts->n_called_before,
                                          .made_s = opts->made_s};
    t.space = space;
    t.arena = &space->arena;
    t.conv = &space->conv;
    t.writer = &space->writer;
    t.made = *ret;
    t.err = err;
    empty(&t.made);
    size_t max = opts->max_bytes ? opts->max_bytes : pl_convert_most(text.len);
    limit(&t.made, max);
    pl_writer_renew(t.writer, t.conv, &t.made.out);
    enum pl_status status = pl_source_unwrap(&t.text, &t.conversion.from, &document, err);
    if (status == PL_OK)
        status = travel(&t);
    if (status == PL_OK && opts->to == &pl_format_gpt_oss)
        status = write_text(&t);
    t.made.from = t.conversion.from;
    t.made.n_called = status == PL_OK ? t.conv->n_called : 0;
    if (status == PL_LIMIT)
        status = explain_limit(&t, max);
    limit(&t.made, SIZE_MAX);
    if (status != PL_OK) {
        pl_buf_clear(&t.made.out);
        pl_buf_clear(&t.made.carry);
        if (t.made.report.status != PL_OK)
            pl_buf_clear(&t.made.report);
    }
    *ret = t.made;
    return status;
}

/* Enough for the tree of a request of a few kilobytes. */
enum { SPACE_BYTES = 16 << 10 };

enum pl_status pl_convert(struct pl_str text, const struct pl_convert_opts *opts,
                          struct pl_converted *ret, struct pl_error *err)
{
    assert(opts->to && opts->mode <= PL_MODE_GATEWAY && opts->kind <= PL_KIND_RESPONSE);
    assert(!opts->doc || !opts->is_strict);
    assert(!opts->carry.len || opts->way_home);
    if (opts->workspace) {
        pl_arena_reset(&opts->workspace->arena);
        return convert_in(opts->workspace, text, opts, ret, err);
    }
    __attribute__((uninitialized)) _Alignas(16) char space[SPACE_BYTES];
    __attribute__((uninitialized)) struct pl_workspace own;
    pl_workspace_init(&own);
    pl_arena_init_in(&own.arena, 0, space, sizeof space);
    enum pl_status status = convert_in(&own, text, opts, ret, err);
    pl_workspace_deinit(&own);
    return status;
}
