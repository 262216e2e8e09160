/* Reads options that several routes share. An invalid one makes a problem with its pointer. */
#include "service/request_options.h"

#include "agent/context/replay_source.h"
#include "base/text/decimal.h"
#include "base/text/utc.h"
#include "format/profile.h"
#include "json/text.h"
#include "model/model.h"
#include "model/vendor/vendor.h"

#include <stdarg.h>
#include <stdio.h>

void pl_option_refuse(struct pl_exchange *x, const char *says, const char *pointer, ...)
{
    struct pl_error err = {0};
    va_list args;
    (void)pl_fail(&err, PL_INVALID, "%s", says);
    va_start(args, pointer);
    vsnprintf(err.pointer, sizeof err.pointer, pointer, args);
    va_end(args);
    err.has_position = true;
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, &err, NULL);
}

bool pl_param_sequence(struct pl_exchange *x, const char *name, int64_t *sequence)
{
    struct pl_str text = pl_target_param(&x->target, name);
    if (!text.ptr || pl_decimal_read(text, sequence))
        return true;
    pl_option_refuse(x, "This must be the sequence of a turn, a number from 0.", "/%s", name);
    return false;
}

bool pl_param_after(struct pl_exchange *x, int64_t *sequence)
{
    if (!pl_str_eq(pl_target_param(&x->target, "after"), PL_STR("-1")))
        return pl_param_sequence(x, "after", sequence);
    *sequence = -1;
    return true;
}

bool pl_param_time(struct pl_exchange *x, const char *name, int64_t otherwise_ms, int64_t *ret_ms)
{
    struct pl_str text = pl_target_param(&x->target, name);
    int64_t unix_us = 0;
    if (text.ptr && !pl_utc_read(text, &unix_us)) {
        pl_option_refuse(x, "An instant must look like 2026-03-29T00:00:00Z.", "/%s", name);
        return false;
    }
    *ret_ms = text.ptr ? unix_us / 1000 : otherwise_ms;
    return true;
}

void pl_exchange_fail_name(struct pl_exchange *x, const char *member, struct pl_str name)
{
    struct pl_error err = {0};
    pl_error_point(&err, "/%s", member);
    snprintf(err.message, sizeof err.message, "there is no \"%.*s\"", PL_STR_ARG(name));
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, &err, "There is no %s \"%.*s\".", member,
                        PL_STR_ARG(name));
}

bool pl_option_model(struct pl_exchange *x, struct pl_str name, const char *pointer,
                     struct pl_str *ret_model)
{
    const struct pl_model_info *info = pl_model_find(x->setup->models, name);
    struct pl_error err = {0};
    enum pl_status status = PL_OK;
    if (!info) {
        (void)pl_model_missing(x->setup->models, name, &err);
        status = PL_INVALID;
    } else {
        status = pl_replay_check(x->shard->server->store, &x->arena, x->caller.user_id, name, &err);
    }
    if (status != PL_OK) {
        pl_error_point(&err, "%s", pointer);
        pl_exchange_fail(x, status, &err);
        return false;
    }
    *ret_model = pl_model_name(info, name);
    return true;
}

enum pl_status pl_vars_read(struct pl_arena *arena, const struct pl_json_doc *doc,
                            const struct pl_json_node *object, struct pl_render_opts *opts)
{
    bool is_object = object && pl_json_kind(object) == PL_JSON_OBJECT;
    uint32_t n = is_object ? pl_json_count(object) : 0, i = 0;
    struct pl_render_var *vars = pl_arena_zalloc(arena, n + 1, sizeof *vars);
    if (!vars)
        return PL_NOMEM;
    const struct pl_json_node *key = is_object ? pl_json_first(object) : NULL;
    for (; i < n; i++, key = pl_json_next_member(key)) {
        const struct pl_json_node *value = key + 1;
        enum pl_status status = pl_json_text(arena, doc, key, &vars[i].name);
        vars[i].value = pl_json_span(doc, value);
        if (status == PL_OK && pl_json_kind(value) == PL_JSON_STRING)
            status = pl_json_text(arena, doc, value, &vars[i].value);
        if (status != PL_OK)
            return status;
    }
    opts->vars = vars;
    opts->n_vars = n;
    opts->max_bytes = PL_MAX_RENDERED;
    return PL_OK;
}

bool pl_body_vars(struct pl_exchange *x, struct pl_render_opts *opts)
{
    const struct pl_json_node *object =
        x->body.root ? pl_json_get(&x->body, x->body.root, PL_STR("variables")) : NULL;
    enum pl_status status = pl_vars_read(&x->arena, &x->body, object, opts);
    if (status != PL_OK)
        pl_exchange_fail(x, status, NULL);
    for (size_t i = 0; i < opts->n_vars && !x->is_problem; i++) {
        status = pl_render_check_name(opts->vars[i].name);
        if (status == PL_INVALID)
            pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                                "\"%.*s\" is not a variable name; a name has letters, digits, _ . "
                                "and -.",
                                PL_STR_ARG(opts->vars[i].name));
        else if (status != PL_OK)
            pl_exchange_fail(x, status, NULL);
    }
    return !x->is_problem;
}

/* Returns the first line; *lines becomes the rest. */
static struct pl_str take_line(struct pl_str *lines)
{
    const char *end = memchr(lines->ptr, '\n', lines->len);
    size_t n = end ? (size_t)(end - lines->ptr) : lines->len;
    struct pl_str line = pl_str_slice(*lines, 0, n);
    *lines = pl_str_slice(*lines, n + 1, lines->len);
    return line;
}

bool pl_exchange_fail_vars(struct pl_exchange *x, enum pl_status status,
                           const struct pl_rendered *made)
{
    struct pl_str rest = pl_buf_str(&made->problems), lines = rest;
    if (status != PL_INVALID || !rest.len)
        return false;
    struct pl_str first = take_line(&lines);
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL, "%.*s", PL_STR_ARG(first));
    if (x->reply.status == PL_OK)
        x->reply.len--; /* the closing brace, added again below */
    pl_buf_adds(&x->reply, ",\"errors\":[");
    for (bool is_first = true; rest.len; is_first = false) {
        pl_buf_adds(&x->reply, is_first ? "{\"pointer\":\"/variables\",\"detail\":"
                                        : ",{\"pointer\":\"/variables\",\"detail\":");
        pl_json_quote(&x->reply, take_line(&rest));
        pl_buf_addc(&x->reply, '}');
    }
    pl_buf_adds(&x->reply, "]}");
    return true;
}

/* For a configured model: the format and the profile of its first server. A model without a
 * server has no rules. */
static void find_model_target(struct pl_exchange *x, struct pl_str name,
                              struct pl_lint_request *request)
{
    struct pl_model_target targets[PL_VENDOR_MAX_CHAIN];
    size_t n = pl_model_targets(x->setup->models, name, targets);
    if (!n)
        return;
    request->target = targets[0].format ? targets[0].format : &pl_format_turns;
    request->profile = targets[0].profile;
}

bool pl_body_lint_target(struct pl_exchange *x, struct pl_lint_request *request)
{
    struct pl_str target = pl_body_text(x, "for");
    if (!target.ptr)
        return true;
    request->profile = pl_profile_find(target);
    request->target = request->profile ? pl_format_find(pl_str_of(request->profile->format))
                                       : pl_format_find(target);
    if (!request->target)
        find_model_target(x, target, request);
    if (!request->target) /* a model that is not configured here has rules too */
        request->profile = pl_profile_of_model((struct pl_str){0}, target);
    if (!request->target && request->profile)
        request->target = pl_format_find(pl_str_of(request->profile->format));
    if (!request->target)
        pl_exchange_fail_name(x, "for", target);
    return !x->is_problem;
}

void pl_lines_write(struct pl_json_out *out, struct pl_str lines)
{
    pl_json_out_open(out, '[');
    while (lines.len)
        pl_json_out_text(out, take_line(&lines));
    pl_json_out_close(out, ']');
}
