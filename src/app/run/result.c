/* Applies checks, and prints the results for people and programs. */
#include "app/run/result.h"

#include <stdio.h>

static enum pl_exit apply_all(struct pl_deed *deed, struct pl_str text,
                              const struct pl_run_checks *checks, struct pl_run_result *result)
{
    for (size_t i = 0; checks && i < checks->list.len; i++) {
        PL_CLEANUP_BUF struct pl_buf why;
        pl_buf_init(&why, 0);
        enum pl_exit code = pl_run_check_apply(checks, i, deed, text, &why);
        if (code > PL_EXIT_NO)
            return code;
        struct pl_run_verdict verdict = {.check = pl_run_check_text(checks, i),
                                         .is_passed = code == PL_EXIT_OK};
        if (why.len)
            verdict.why = pl_arena_dup(&deed->api.texts.arena, pl_buf_str(&why));
        if (why.len && !verdict.why.ptr)
            return pl_deed_stop(deed, PL_NOMEM);
        result->is_passed = result->is_passed && verdict.is_passed;
        result->verdicts[result->n_verdicts++] = verdict;
    }
    return PL_EXIT_OK;
}

enum pl_exit pl_run_judge(struct pl_deed *deed, const struct pl_run_answer *answer,
                          const struct pl_run_checks *common, const struct pl_run_checks *own,
                          struct pl_run_result *ret_result)
{
    struct pl_run_result result = {.answer = *answer, .is_passed = answer->is_complete};
    size_t n = common->list.len + (own ? own->list.len : 0);
    result.verdicts = pl_arena_alloc(&deed->api.texts.arena, n + 1, sizeof *result.verdicts);
    if (!result.verdicts)
        return pl_deed_stop(deed, PL_NOMEM);
    enum pl_exit code = PL_EXIT_OK;
    if (answer->is_complete)
        code = apply_all(deed, answer->text, common, &result);
    if (answer->is_complete && code == PL_EXIT_OK)
        code = apply_all(deed, answer->text, own, &result);
    if (code == PL_EXIT_OK)
        *ret_result = result;
    return code;
}

static void say_lines(struct pl_deed *deed, const char *place, const char *model,
                      struct pl_str lines)
{
    while (lines.len) {
        const char *end = memchr(lines.ptr, '\n', lines.len);
        size_t n = end ? (size_t)(end - lines.ptr) : lines.len;
        pl_console_say(deed->console, "%s%s%s%s%.*s", place ? place : "", place ? ": " : "",
                       model ? model : "", model ? ": " : "", (int)n, lines.ptr);
        lines = pl_str_slice(lines, n + 1, lines.len);
    }
}

void pl_run_result_explain(struct pl_deed *deed, const char *place,
                           const struct pl_run_result *result)
{
    const char *model = result->answer.model;
    if (!result->answer.is_complete)
        say_lines(deed, place, model, pl_str_of(result->answer.why));
    for (size_t i = 0; i < result->n_verdicts; i++)
        say_lines(deed, place, model, result->verdicts[i].why);
}

static void out_text(struct pl_json_out *out, const char *key, const char *text)
{
    pl_json_out_key(out, key);
    if (text)
        pl_json_out_text(out, pl_str_of(text));
    else
        pl_json_out_null(out);
}

static void out_usage(struct pl_json_out *out, const struct pl_run_answer *answer)
{
    char cost[40];
    pl_json_out_key(out, "duration_ms");
    pl_json_out_int(out, answer->duration_ms);
    pl_json_out_key(out, "usage");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "input_tokens");
    pl_json_out_int(out, answer->input_tokens);
    pl_json_out_key(out, "output_tokens");
    pl_json_out_int(out, answer->output_tokens);
    pl_json_out_close(out, '}');
    pl_json_out_key(out, "cost_usd");
    snprintf(cost, sizeof cost, "%.9g", answer->cost_usd);
    if (answer->has_cost)
        pl_json_out_raw(out, pl_str_of(cost));
    else
        pl_json_out_null(out);
}

static void out_verdict(struct pl_json_out *out, const struct pl_run_verdict *verdict)
{
    struct pl_str why = verdict->why;
    while (why.len && why.ptr[why.len - 1] == '\n')
        why.len--;
    pl_json_out_open(out, '{');
    out_text(out, "check", verdict->check);
    pl_json_out_key(out, "passed");
    pl_json_out_bool(out, verdict->is_passed);
    pl_json_out_key(out, "why");
    if (verdict->is_passed)
        pl_json_out_null(out);
    else
        pl_json_out_text(out, why);
    pl_json_out_close(out, '}');
}

void pl_run_result_out(struct pl_json_out *out, const struct pl_run_result *result)
{
    const struct pl_run_answer *answer = &result->answer;
    pl_json_out_open(out, '{');
    out_text(out, "model", answer->model);
    out_text(out, "status", answer->is_complete ? "completed" : "failed");
    pl_json_out_key(out, "text");
    pl_json_out_text(out, answer->text);
    out_text(out, "error", answer->why);
    out_usage(out, answer);
    pl_json_out_key(out, "passed");
    pl_json_out_bool(out, result->is_passed);
    pl_json_out_key(out, "checks");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < result->n_verdicts; i++)
        out_verdict(out, &result->verdicts[i]);
    pl_json_out_close(out, ']');
    pl_json_out_close(out, '}');
}
