/* Parses a document, reads it into a conversation, runs the lint rules on it and on its
 * settings, and maps the findings to JSON pointers of the document. */
#include "document/edits.h"

#include "format/adapt/fit.h"
#include "format/gpt_oss/gpt_oss.h"
#include "format/profile.h"
#include "format/rules.h"
#include "format/source.h"
#include "json/parse/lenient.h"
#include "json/pointer.h"
#include "json/tour.h"
#include "json/write.h"

void pl_linted_deinit(struct pl_linted *linted)
{
    pl_findings_deinit(&linted->findings);
}

/* A text that is not JSON becomes the document with the same content, in the arena. */
static enum pl_status unwrap(struct pl_arena *arena, struct pl_str *text,
                             const struct pl_format **as, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf inner;
    pl_buf_init(&inner, 0);
    enum pl_status status = pl_source_unwrap(text, as, &inner, err);
    if (status != PL_OK || !inner.len)
        return status;
    *text = pl_arena_dup(arena, pl_buf_str(&inner));
    return text->ptr ? PL_OK : PL_NOMEM;
}

/* Parses strictly first. JSON that only the lenient reader accepts is a finding, not a failure. */
static enum pl_status parse(struct pl_arena *arena, struct pl_str text, struct pl_linted *linted,
                            struct pl_error *err)
{
    struct pl_json_opts opts = {.allows_lone_surrogates = true};
    struct pl_json_notes notes;
    struct pl_error strict = {0};
    enum pl_status status = pl_json_parse(arena, text, &opts, &linted->doc, &strict);
    if (status == PL_OK || status == PL_NOMEM)
        return status;
    opts.allows_duplicate_keys = true;
    if (pl_json_parse(arena, text, &opts, &linted->doc, err) != PL_OK) {
        status = pl_json_parse_lenient(arena, text, &opts, &linted->doc, &notes, err);
        if (status != PL_OK)
            return status;
    }
    struct pl_finding finding = {
        .code = "json.lenient",
        .severity = PL_SEVERITY_WARNING,
        .node = linted->doc.root,
        .message = pl_arena_dup(arena, pl_str_of(strict.message)),
    };
    const struct pl_json_node *node;
    if (pl_json_pointer_get(&linted->doc, pl_str_of(strict.pointer), &node, NULL) == PL_OK)
        finding.node = node;
    (void)pl_findings_admit(&linted->findings, finding.code, finding.severity);
    return finding.message.ptr && pl_vec_push(&linted->findings.list, finding) ? PL_OK : PL_NOMEM;
}

/* The context size of the model that the document or the profile names. */
static int64_t window_of(struct pl_conv *conv, const struct pl_profile *profile)
{
    struct pl_str model = pl_conv_text(conv, conv->settings.model);
    int64_t n = model.len ? pl_profile_window(model) : 0;
    if (profile && profile->models)
        n = pl_profile_window(pl_str_of(profile->models[0]));
    return n;
}

/* The settings that the profile refuses: runs a repair of the settings alone and reports its
 * losses. */
static enum pl_status look_at_settings(struct pl_conv *conv, const struct pl_lint_request *request,
                                       struct pl_linted *linted)
{
    struct pl_conversion conversion = {.kind = request->kind,
                                       .mode = PL_MODE_GATEWAY,
                                       .from = linted->as,
                                       .to = request->target ? request->target : linted->as,
                                       .profile = request->profile};
    struct pl_repair_rules all = pl_format_rules(&conversion);
    struct pl_repair_rules rules = {.refuses_sampling = all.refuses_sampling,
                                    .refuses_two_samplings = all.refuses_two_samplings,
                                    .refuses_penalties = all.refuses_penalties,
                                    .refuses_logprobs = all.refuses_logprobs,
                                    .refuses_forced_choice = all.refuses_forced_choice};
    size_t n = conv->losses.len;
    pl_format_fit(conv, &conversion, &rules);
    enum pl_status status = pl_conv_repair(conv, &rules);
    for (; n < conv->losses.len && status == PL_OK; n++) {
        const struct pl_loss *loss = &conv->losses.ptr[n];
        if (loss->code == PL_LOSS_SYNTHESISED && loss->node != conv->doc->root)
            continue; /* this is the place of the fix, not of the problem */
        struct pl_finding finding = {.code = "setting.refused",
                                     .severity = PL_SEVERITY_ERROR,
                                     .node = loss->node ? loss->node : conv->doc->root,
                                     .message = loss->detail,
                                     .has_fix = true};
        if (pl_findings_admit(&linted->findings, finding.code, finding.severity) &&
            !pl_vec_push(&linted->findings.list, finding))
            status = PL_NOMEM;
    }
    if (status == PL_OK && !pl_findings_sort(&linted->findings, conv->arena))
        status = PL_NOMEM;
    return status;
}

static enum pl_status look(struct pl_conv *conv, const struct pl_lint_request *request,
                           struct pl_linted *linted, struct pl_error *err)
{
    pl_conv_limit(conv, request->max_items);
    enum pl_status status = linted->as->read(conv, request->kind, err);
    if (status == PL_OK || conv->status == PL_LIMIT)
        status = pl_conv_check(conv, err);
    if (status != PL_OK)
        return status;
    struct pl_lint_opts opts =
        pl_format_lint_opts(linted->as, request->target, request->profile, request->now_s);
    opts.lang = request->lang;
    opts.max_tokens = window_of(conv, request->profile);
    if (linted->as->lint)
        linted->as->lint(conv, &linted->findings);
    status = pl_conv_lint(conv, &opts, &linted->findings);
    return status == PL_OK && request->profile ? look_at_settings(conv, request, linted) : status;
}

/* One tour of the document finds the pointers of all findings. A key stands for its value. Pointers
 * contain keys of the document, which may be long. So their total length is limited to that of the
 * document plus LEAST; the findings after that are not listed. */
static enum pl_status find_pointers(struct pl_arena *arena, struct pl_linted *linted)
{
    enum { LEAST = 1 << 20 };
    size_t n_left = linted->doc.text.len + LEAST;
    __attribute__((cleanup(pl_json_tour_deinit))) struct pl_json_tour tour;
    pl_json_tour_init(&tour, &linted->doc);
    struct pl_finding *finding = linted->findings.list.ptr,
                      *end = finding + linted->findings.list.len;
    const struct pl_json_node *at;
    while (finding < end && (at = pl_json_tour_next(&tour)))
        for (; finding < end && finding->node <= at; finding++) {
            if (tour.path.len > n_left) {
                pl_findings_cut(&linted->findings, (size_t)(finding - linted->findings.list.ptr));
                return PL_OK;
            }
            n_left -= tour.path.len;
            finding->pointer = pl_arena_dup(arena, pl_buf_str(&tour.path));
            if (!finding->pointer.ptr)
                return PL_NOMEM;
        }
    return tour.path.status;
}

static enum pl_status close_findings(struct pl_arena *arena, const struct pl_lint_request *request,
                                     struct pl_linted *linted)
{
    enum pl_status status = find_pointers(arena, linted);
    /* Edits are of JSON, and a text has none. */
    if (status == PL_OK && request->wants_edits && linted->as != &pl_format_gpt_oss)
        status = pl_edits_find(arena, request, linted);
    if (status == PL_OK && !pl_findings_close(&linted->findings, arena, linted->doc.root))
        status = PL_NOMEM;
    if (status == PL_OK && request->lang == PL_SCHEMA_ZH &&
        !pl_findings_to_chinese(&linted->findings, arena))
        status = PL_NOMEM;
    return status;
}

enum pl_status pl_lint_document(struct pl_arena *arena, struct pl_str text,
                                const struct pl_lint_request *request, struct pl_linted *ret_linted,
                                struct pl_error *err)
{
    struct pl_linted made = {.as = request->as};
    struct pl_conv conv = {0};
    enum pl_status status = unwrap(arena, &text, &made.as, err);
    if (status == PL_OK)
        status = parse(arena, text, &made, err);
    if (status == PL_OK)
        status = pl_source_detect(&made.doc, "--as", &made.as, err);
    if (status == PL_OK)
        status = pl_conv_init(&conv, arena, &made.doc);
    if (status == PL_OK)
        status = look(&conv, request, &made, err);
    if (status == PL_OK)
        status = close_findings(arena, request, &made);
    pl_conv_deinit(&conv);
    if (status == PL_OK)
        *ret_linted = made;
    else
        pl_linted_deinit(&made);
    return status;
}

void pl_linted_write(struct pl_buf *to, const struct pl_linted *linted)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "findings");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < linted->findings.list.len; i++) {
        const struct pl_finding *finding = &linted->findings.list.ptr[i];
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "code");
        pl_json_out_text(&out, pl_str_of(finding->code));
        pl_json_out_key(&out, "severity");
        pl_json_out_text(&out, pl_str_of(pl_severity_name(finding->severity)));
        pl_json_out_key(&out, "pointer");
        pl_json_out_text(&out, finding->pointer);
        pl_json_out_key(&out, "message");
        pl_json_out_text(&out, finding->message);
        if (finding->edits.len) {
            pl_json_out_key(&out, "fix");
            pl_json_out_raw(&out, finding->edits);
        }
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    if (linted->findings.n_omitted) {
        pl_json_out_key(&out, "omitted");
        pl_json_out_int(&out, (int64_t)linted->findings.n_omitted);
    }
    pl_json_out_close(&out, '}');
}
