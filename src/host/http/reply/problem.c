/* The table of problems, and their JSON. Maps statuses of functions to problems. */
#include "http/reply/problem.h"

#include "json/write.h"
#include "words/words.h"

static const struct pl_problem_info infos[] = {
#define X(name, code, http, retry, title) {code, http, retry, title},
    PL_PROBLEM_TABLE(X)
#undef X
};

const struct pl_problem_info *pl_problem_info(enum pl_problem problem)
{
    return &infos[problem < PL_PROBLEM_COUNT ? problem : PL_PROBLEM_INTERNAL];
}

int pl_problem_retry_after_s(int http_status)
{
    switch (http_status) {
    case 429:
    case 503:
        return 1;
    case 507: /* an operator must free space */
        return 60;
    default:
        return 0;
    }
}

enum pl_problem pl_problem_of(enum pl_status status)
{
    switch (status) {
    case PL_SYNTAX:
    case PL_INVALID:
    case PL_USAGE:
    case PL_UNREADABLE:
        return PL_PROBLEM_INVALID_REQUEST;
    case PL_NOT_FOUND:
        return PL_PROBLEM_NOT_FOUND;
    case PL_CONFLICT:
        return PL_PROBLEM_CONFLICT;
    case PL_LIMIT:
        return PL_PROBLEM_PAYLOAD_TOO_LARGE;
    case PL_NOMEM:
    case PL_IO:
        return PL_PROBLEM_OVERLOADED;
    default:
        return PL_PROBLEM_INTERNAL;
    }
}

/* Writes text for people. Without memory for the Chinese it stays English; the answer's own buffer
 * reports its own lack of memory. */
static void out_words(struct pl_json_out *out, const char *name, const char *text, bool is_chinese)
{
    PL_CLEANUP_BUF struct pl_buf chinese;
    pl_buf_init(&chinese, 0);
    if (is_chinese)
        (void)pl_words_add(&chinese, pl_str_of(text));
    pl_json_out_key(out, name);
    pl_json_out_text(out, chinese.len && chinese.status == PL_OK ? pl_buf_str(&chinese)
                                                                 : pl_str_of(text));
}

void pl_problem_write(enum pl_problem problem, const char *detail, const struct pl_error *err,
                      const char *request_id, bool is_chinese, struct pl_buf *to)
{
    const struct pl_problem_info *info = pl_problem_info(problem);
    bool has_place = err && err->has_position;
    if (!detail)
        detail = err && err->message[0] ? err->message : info->title;
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "type");
    pl_json_out_text(&out, PL_STR("about:blank"));
    out_words(&out, "title", info->title, is_chinese);
    pl_json_out_key(&out, "status");
    pl_json_out_int(&out, info->http_status);
    pl_json_out_key(&out, "code");
    pl_json_out_text(&out, pl_str_of(info->code));
    out_words(&out, "detail", detail, is_chinese);
    pl_json_out_key(&out, "request_id");
    pl_json_out_text(&out, pl_str_of(request_id));
    pl_json_out_key(&out, "retryable");
    pl_json_out_bool(&out, info->is_retryable);
    if (has_place) {
        pl_json_out_key(&out, "errors");
        pl_json_out_open(&out, '[');
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "pointer");
        pl_json_out_text(&out, pl_str_of(err->pointer));
        out_words(&out, "detail", err->message, is_chinese);
        if (err->line) {
            pl_json_out_key(&out, "line");
            pl_json_out_int(&out, (int64_t)err->line);
            pl_json_out_key(&out, "column");
            pl_json_out_int(&out, (int64_t)err->column);
        }
        pl_json_out_close(&out, '}');
        pl_json_out_close(&out, ']');
    }
    pl_json_out_close(&out, '}');
}
