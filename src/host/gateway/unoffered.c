/* The vendors' paths that this server does not have: clients get an error that says so, in the
 * shape of their vendor. */
#include "gateway/gateway.h"

#include "gateway/routes.h"

#include <stdio.h>

/* Anthropic's clients send the version of the API; Google's send their own header or have another
 * version in the path. */
static const struct pl_speech *speech_of(const struct pl_exchange *x)
{
    if (pl_http_header_get(x->head, "anthropic-version").len)
        return &pl_speech_anthropic;
    if (pl_http_header_get(x->head, "x-goog-api-key").len ||
        pl_str_starts(x->target.path, PL_STR("/v1beta/")))
        return &pl_speech_gemini;
    return &pl_speech_openai_chat;
}

void pl_gateway_problem(struct pl_exchange *x, enum pl_problem problem, const char *detail)
{
    speech_of(x)->say_problem(x, problem, detail);
}

static const struct offer {
    const struct pl_speech *speech;
    const char *vendor, *paths;
} offers[] = {
    {&pl_speech_anthropic, "Anthropic",
     "POST /v1/messages, POST /v1/messages/count_tokens and GET /v1/models"},
    {&pl_speech_gemini, "Gemini",
     "POST /v1beta/models/MODEL:generateContent, :streamGenerateContent and :countTokens, and GET "
     "/v1beta/models"},
    {&pl_speech_openai_chat, "OpenAI",
     "POST /v1/chat/completions, /v1/responses and /v1/embeddings, and GET /v1/models"},
};

static void describe_lack(const struct pl_exchange *x, char *to, size_t n)
{
    const struct pl_speech *speech = speech_of(x);
    struct pl_str path = {x->target.path.ptr, 0};
    while (path.len < 100 && path.len < x->target.path.len && path.ptr[path.len] > ' ' &&
           path.ptr[path.len] < 0x7F)
        path.len++;
    for (size_t i = 0; i < sizeof offers / sizeof *offers; i++)
        if (offers[i].speech == speech)
            snprintf(to, n,
                     "This server does not offer %s %.*s. Of the API of %s it offers %s; "
                     "/openapi.json lists all paths.",
                     pl_method_text(x->method), PL_STR_ARG(path), offers[i].vendor,
                     offers[i].paths);
}

const struct pl_route_family pl_gateway_families[] = {
    {"/v1/", pl_gateway_problem, describe_lack},
    {"/v1beta/", pl_gateway_problem, describe_lack},
    {0},
};
