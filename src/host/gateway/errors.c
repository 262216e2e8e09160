/* Errors in the shapes of the vendors, so that their clients raise the usual exceptions. */
#include "gateway/gateway.h"

#include "json/write.h"

#include <stdarg.h>
#include <stdio.h>

/* The names of a status. A status that is not listed uses the last entry of its class. */
static const struct words {
    int status;
    const char *openai_type, *openai_code; /* the code may be NULL */
    const char *anthropic_type;
    const char *gemini_status; /* google.rpc.Code */
} table[] = {
    {400, "invalid_request_error", NULL, "invalid_request_error", "INVALID_ARGUMENT"},
    {401, "invalid_request_error", "invalid_api_key", "authentication_error", "UNAUTHENTICATED"},
    {402, "insufficient_quota", "insufficient_quota", "billing_error", "RESOURCE_EXHAUSTED"},
    {403, "invalid_request_error", NULL, "permission_error", "PERMISSION_DENIED"},
    {404, "invalid_request_error", NULL, "not_found_error", "NOT_FOUND"},
    {408, "server_error", NULL, "timeout_error", "DEADLINE_EXCEEDED"},
    {409, "invalid_request_error", NULL, "invalid_request_error", "ABORTED"},
    {413, "invalid_request_error", NULL, "request_too_large", "INVALID_ARGUMENT"},
    {429, "requests", "rate_limit_exceeded", "rate_limit_error", "RESOURCE_EXHAUSTED"},
    {503, "server_error", NULL, "overloaded_error", "UNAVAILABLE"},
    {504, "server_error", NULL, "timeout_error", "DEADLINE_EXCEEDED"},
    {529, "server_error", NULL, "overloaded_error", "UNAVAILABLE"},
    {500, "server_error", NULL, "api_error", "INTERNAL"},
};

static const struct words *words_of(int status)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].status == status)
            return &table[i];
    return status < 500 ? &table[0] : &table[sizeof table / sizeof *table - 1];
}

static void text_member(struct pl_json_out *out, const char *key, const char *text)
{
    pl_json_out_key(out, key);
    if (text)
        pl_json_out_text(out, pl_str_of(text));
    else
        pl_json_out_null(out);
}

static void write_openai(struct pl_exchange *x, int status, const char *code, struct pl_str message)
{
    const struct words *words = words_of(status);
    struct pl_json_out out = pl_json_out(&x->reply);
    /* Only Anthropic has a special status for being overloaded. */
    x->status = status == 529 ? 503 : status;
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "error");
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "message");
    pl_json_out_text(&out, message);
    text_member(&out, "type", words->openai_type);
    text_member(&out, "param", NULL);
    text_member(&out, "code", code ? code : words->openai_code);
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, '}');
}

static void write_anthropic(struct pl_exchange *x, int status, const char *code,
                            struct pl_str message)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    (void)code;
    x->status = status;
    pl_json_out_open(&out, '{');
    text_member(&out, "type", "error");
    pl_json_out_key(&out, "error");
    pl_json_out_open(&out, '{');
    text_member(&out, "type", words_of(status)->anthropic_type);
    pl_json_out_key(&out, "message");
    pl_json_out_text(&out, message);
    pl_json_out_close(&out, '}');
    text_member(&out, "request_id", x->request_id);
    pl_json_out_close(&out, '}');
}

static void write_gemini(struct pl_exchange *x, int status, const char *code, struct pl_str message)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    (void)code;
    x->status = status == 529 ? 503 : status;
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "error");
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "code");
    pl_json_out_int(&out, x->status);
    pl_json_out_key(&out, "message");
    pl_json_out_text(&out, message);
    text_member(&out, "status", words_of(status)->gemini_status);
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, '}');
}

static void begin(struct pl_exchange *x)
{
    x->is_problem = true;
    x->problem_detail = (struct pl_str){0}; /* the vendor's text does not belong in the log */
    x->content_type = "application/json";
    pl_buf_clear(&x->reply);
}

void pl_speech_fail(const struct pl_speech *speech, struct pl_exchange *x, int status,
                    const char *code, const char *format, ...)
{
    char text[1200];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (n < 0)
        text[0] = '\0';
    begin(x);
    speech->write_error(x, status, code, pl_str_of(pl_exchange_words(x, text)));
}

static void problem_openai(struct pl_exchange *x, enum pl_problem problem, const char *detail)
{
    begin(x);
    write_openai(x, pl_problem_info(problem)->http_status, NULL, pl_str_of(detail));
}

static void problem_anthropic(struct pl_exchange *x, enum pl_problem problem, const char *detail)
{
    begin(x);
    write_anthropic(x, pl_problem_info(problem)->http_status, NULL, pl_str_of(detail));
}

static void problem_gemini(struct pl_exchange *x, enum pl_problem problem, const char *detail)
{
    begin(x);
    write_gemini(x, pl_problem_info(problem)->http_status, NULL, pl_str_of(detail));
}

const struct pl_speech pl_speech_openai_chat = {
    "openai-chat", &pl_format_openai_chat, &pl_dialect_openai_chat, write_openai, problem_openai};
const struct pl_speech pl_speech_openai_responses = {
    "openai-responses", &pl_format_openai_responses, &pl_dialect_openai_responses, write_openai,
    problem_openai};
const struct pl_speech pl_speech_anthropic = {
    "anthropic", &pl_format_anthropic, &pl_dialect_anthropic, write_anthropic, problem_anthropic};
const struct pl_speech pl_speech_gemini = {"gemini", &pl_format_gemini, &pl_dialect_gemini,
                                           write_gemini, problem_gemini};
