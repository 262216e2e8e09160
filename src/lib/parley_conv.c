/* The public API for conversations: names instead of tables, C strings instead of buffers. */
#include "lib/opts.h"
#include "lib/parley_int.h"

#include "carry/carry.h"
#include "format/convert.h"
#include "format/gpt_oss/gpt_oss.h"
#include "document/lint.h"
#include "format/profile.h"

_Static_assert((int)PARLEY_RESPONSE == (int)PL_KIND_RESPONSE, "parley_document follows its kinds");
_Static_assert((int)PARLEY_GATEWAY == (int)PL_MODE_GATEWAY, "parley_mode follows pl_mode");

const char *parley_format_name(size_t index)
{
    for (size_t i = 0; pl_formats[i]; i++)
        if (i == index)
            return pl_formats[i]->name;
    return NULL;
}

const char *parley_profile_name(size_t index)
{
    for (size_t i = 0; pl_profiles[i].name; i++)
        if (i == index)
            return pl_profiles[i].name;
    return NULL;
}

enum pl_status pl_import_format(const char *name, const struct pl_format **ret_format,
                                struct pl_error *err)
{
    const struct pl_format *format = name ? pl_format_find(pl_str_of(name)) : NULL;
    if (name && !format)
        return pl_fail(err, PL_NOT_FOUND,
                       "there is no format \"%s\"; parley_format_name() lists the names", name);
    *ret_format = format;
    return PL_OK;
}

static enum pl_status find_profile(const char *name, const struct pl_profile **ret_profile,
                                   struct pl_error *err)
{
    const struct pl_profile *profile = name ? pl_profile_find(pl_str_of(name)) : NULL;
    if (name && !profile)
        return pl_fail(err, PL_NOT_FOUND,
                       "there is no profile \"%s\"; parley_profile_name() lists the names", name);
    *ret_profile = profile;
    return PL_OK;
}

static enum pl_status detect(struct pl_str text, const struct pl_format **ret_format,
                             struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_json_notes notes;
    struct pl_json_doc doc;
    pl_arena_init(&arena, 0);
    if (pl_gpt_oss_is_text(text)) {
        *ret_format = &pl_format_gpt_oss;
        return PL_OK;
    }
    enum pl_status status = pl_json_parse_lenient(&arena, text, &pl_json_any, &doc, &notes, err);
    if (status != PL_OK)
        return status;
    const struct pl_format *format = pl_format_detect(&doc);
    if (!format)
        return pl_fail(err, PL_NOT_FOUND, "this is not a conversation in a known format");
    *ret_format = format;
    return PL_OK;
}

enum parley_status parley_detect(const char *text, size_t size, const char **ret_format,
                                 struct parley_error *err)
{
    struct pl_error detail = {0};
    const struct pl_format *format;
    enum pl_status status = detect((struct pl_str){text, size}, &format, &detail);
    if (status == PL_OK)
        *ret_format = format->name;
    return pl_export_error(status, &detail, err);
}

/* NULL if no carry is wanted or used. */
static const struct pl_way_home *way_home(const struct parley_convert_opts *opts, bool wants_carry)
{
    return wants_carry || opts->carry ? &pl_carry_way : NULL;
}

static size_t carry_size(const struct parley_convert_opts *opts)
{
    return !opts->carry ? 0 : opts->carry_size ? opts->carry_size : strlen(opts->carry);
}

static enum pl_status import_convert(const struct parley_convert_opts *from,
                                     struct pl_convert_opts *to, struct pl_error *err)
{
    to->kind = (enum pl_format_kind)from->document;
    to->mode = (enum pl_mode)from->mode;
    to->is_strict = from->is_strict != 0;
    to->carry = (struct pl_str){from->carry, carry_size(from)};
    to->refuses_wrong_types = pl_mode_refuses_wrong_types(to->mode, to->kind);
    if (!from->to || to->kind > PL_KIND_RESPONSE || to->mode > PL_MODE_GATEWAY)
        return pl_fail(err, PL_USAGE,
                       from->to ? "unknown kind of document, or unknown mode"
                                : "no target format; set `to`");
    if (from->carry && !to->carry.len)
        return pl_fail(err, PL_USAGE, "this is not a carry: it is empty");
    enum pl_status status = pl_import_format(from->from, &to->from, err);
    if (status == PL_OK)
        status = pl_import_format(from->to, &to->to, err);
    if (status == PL_OK)
        status = find_profile(from->profile, &to->profile, err);
    if (status == PL_OK && to->profile && strcmp(to->profile->format, from->to) != 0)
        status = pl_fail(err, PL_USAGE, "the profile %s is for %s, not for %s", from->profile,
                         to->profile->format, from->to);
    return status;
}

struct parley_workspace {
    struct pl_workspace space;
};

enum parley_status parley_workspace_create(struct parley_workspace **ret_workspace)
{
    struct parley_workspace *workspace = pl_mem_alloc(1, sizeof *workspace);
    if (!workspace)
        return PARLEY_NOMEM;
    pl_workspace_init(&workspace->space);
    *ret_workspace = workspace;
    return PARLEY_OK;
}

void parley_workspace_destroy(struct parley_workspace *workspace)
{
    if (!workspace)
        return;
    pl_workspace_deinit(&workspace->space);
    pl_mem_free(workspace);
}

/* The results, until all of them are complete. */
struct texts {
    char *out, *report, *carry;
    size_t size;
};

/* If the conversion is refused, only the report is returned. */
static enum pl_status export_texts(struct pl_converted *made, bool is_done, bool wants_carry,
                                   struct texts *to)
{
    enum pl_status status = PL_OK;
    if (made->report.len)
        status = pl_export_text(&made->report, &to->report, NULL);
    if (is_done && wants_carry && status == PL_OK)
        status = pl_export_text(&made->carry, &to->carry, NULL);
    if (is_done && status == PL_OK)
        status = pl_export_text(&made->out, &to->out, &to->size);
    if (status != PL_OK) {
        pl_mem_free(PL_TAKE(to->report));
        pl_mem_free(PL_TAKE(to->carry));
    }
    return status;
}

static enum pl_status convert(struct pl_str text, const struct parley_convert_opts *from,
                              struct pl_convert_opts *opts, struct texts *to, struct pl_error *err)
{
    struct parley_convert_opts said = PARLEY_CONVERT_OPTS_INIT;
    bool wants_carry = opts->way_home != NULL;
    struct pl_converted made;
    enum pl_status status = pl_import_opts(from, &said, sizeof said, "convert_opts", err);
    if (status == PL_OK)
        status = import_convert(&said, opts, err);
    if (status != PL_OK)
        return status;
    opts->way_home = way_home(&said, wants_carry);
    opts->workspace = said.workspace ? &said.workspace->space : NULL;
    pl_converted_init(&made);
    status = pl_convert(text, opts, &made, err);
    if (status == PL_OK || status == PL_INVALID) {
        enum pl_status exported = export_texts(&made, status == PL_OK, wants_carry, to);
        status = exported != PL_OK ? exported : status;
    }
    pl_converted_deinit(&made);
    return status;
}

enum parley_status parley_convert(const char *text, size_t size,
                                  const struct parley_convert_opts *opts, char **ret_text,
                                  size_t *ret_size, char **ret_report, char **ret_carry,
                                  struct parley_error *err)
{
    struct pl_error detail = {0};
    struct texts made = {0};
    struct pl_convert_opts own = {
        .skips_report = !ret_report,
        .way_home = ret_carry ? &pl_carry_way : NULL,
    };
    enum pl_status status = convert((struct pl_str){text, size}, opts, &own, &made, &detail);
    if (ret_report && (status == PL_OK || status == PL_INVALID))
        *ret_report = made.report;
    if (status == PL_OK) {
        *ret_text = made.out;
        if (ret_size)
            *ret_size = made.size;
        if (ret_carry)
            *ret_carry = made.carry;
    }
    return pl_export_error(status, &detail, err);
}

/* A target is a format or a profile of a format. */
static enum pl_status import_lint(const struct parley_lint_opts *from, struct pl_lint_request *to,
                                  struct pl_error *err)
{
    to->kind = (enum pl_format_kind)from->document;
    to->now_s = from->now_s;
    if (to->kind > PL_KIND_RESPONSE)
        return pl_fail(err, PL_USAGE, "unknown kind of document");
    enum pl_status status = pl_import_format(from->as, &to->as, err);
    if (status != PL_OK || !from->target)
        return status;
    to->profile = pl_profile_find(pl_str_of(from->target));
    return pl_import_format(to->profile ? to->profile->format : from->target, &to->target, err);
}

enum parley_status parley_lint(const char *text, size_t size, const struct parley_lint_opts *opts,
                               char **ret_text, size_t *ret_size, struct parley_error *err)
{
    struct pl_error detail = {0};
    struct pl_lint_request request = {0};
    struct pl_linted linted = {0};
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_arena_init(&arena, 0);
    pl_buf_init(&buf, 0);
    struct parley_lint_opts said = PARLEY_LINT_OPTS_INIT;
    enum pl_status status =
        opts ? pl_import_opts(opts, &said, sizeof said, "lint_opts", &detail) : PL_OK;
    if (status == PL_OK)
        status = import_lint(&said, &request, &detail);
    if (status == PL_OK)
        status = pl_lint_document(&arena, (struct pl_str){text, size}, &request, &linted, &detail);
    if (status == PL_OK) {
        pl_linted_write(&buf, &linted);
        status = pl_export_text(&buf, ret_text, ret_size);
    }
    pl_linted_deinit(&linted);
    return pl_export_error(status, &detail, err);
}
