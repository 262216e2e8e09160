/* The gateway's routes: the paths of OpenAI, Anthropic and Google, with their own shapes, including
 * errors. */
#include "gateway/gateway.h"
#include "service/request_options.h"

#include "document/count.h"
#include "gateway/routes.h"

#include <stdio.h>

/* --- asking ---------------------------------------------------------------------------------- */

static void ask_chat(struct pl_exchange *x)
{
    pl_gateway_run(x, &(struct pl_gateway_options){.speech = &pl_speech_openai_chat});
}

static void ask_responses(struct pl_exchange *x)
{
    pl_gateway_run(x, &(struct pl_gateway_options){.speech = &pl_speech_openai_responses});
}

static void ask_messages(struct pl_exchange *x)
{
    pl_gateway_run(x, &(struct pl_gateway_options){.speech = &pl_speech_anthropic});
}

static void ask_embeddings(struct pl_exchange *x)
{
    pl_gateway_run(
        x, &(struct pl_gateway_options){.speech = &pl_speech_openai_chat, .is_embedding = true});
}

/* --- counting -------------------------------------------------------------------------------- */

static void count(struct pl_exchange *x, const struct pl_speech *speech, const char *member,
                  struct pl_str model)
{
    struct pl_counted counted;
    struct pl_error err = {0};
    struct pl_count_choice choice = {.model = model, .max_items = PL_MAX_ITEMS};
    enum pl_status status =
        pl_count_document(x->body_text, speech->format, &choice, &counted, &err);
    if (status != PL_OK)
        pl_speech_fail(speech, x, status == PL_NOMEM ? 503 : 400, NULL, "The request: %s",
                       err.message[0] ? err.message : pl_status_info(status)->text);
    else
        pl_buf_addf(&x->reply, "{\"%s\":%llu}", member, (unsigned long long)counted.n_tokens);
}

static void count_messages_work(struct pl_exchange *x)
{
    count(x, &pl_speech_anthropic, "input_tokens", (struct pl_str){0});
}

static void count_messages(struct pl_exchange *x)
{
    pl_exchange_compute(x, count_messages_work, NULL);
}

/* --- Gemini: the model and the action are one segment ---------------------------------------- */

struct gemini_call {
    struct pl_str model, action;
};

/* "vendor/model:action", possibly in several segments; a client's "models/" is in the path. */
static bool read_gemini(struct pl_exchange *x, struct gemini_call *ret)
{
    struct pl_str whole = pl_gateway_model_in_path(x);
    const char *colon = whole.len ? memrchr(whole.ptr, ':', whole.len) : NULL;
    size_t n = colon ? (size_t)(colon - whole.ptr) : whole.len;
    *ret = (struct gemini_call){pl_str_slice(whole, 0, n), pl_str_slice(whole, n + 1, whole.len)};
    return whole.ptr;
}

static void count_gemini_work(struct pl_exchange *x)
{
    const struct gemini_call *call = x->state;
    count(x, &pl_speech_gemini, "totalTokens", call->model);
}

static void ask_gemini(struct pl_exchange *x)
{
    struct gemini_call *call = pl_arena_zalloc(&x->arena, 1, sizeof *call);
    if (!call || !read_gemini(x, call)) {
        pl_speech_fail(&pl_speech_gemini, x, 503, NULL,
                       "There is not enough memory for this "
                       "request.");
        pl_exchange_finish(x);
        return;
    }
    bool is_stream = pl_str_eq(call->action, PL_STR("streamGenerateContent"));
    if (is_stream || pl_str_eq(call->action, PL_STR("generateContent"))) {
        bool is_sse = pl_str_eq(pl_target_param(&x->target, "alt"), PL_STR("sse"));
        pl_gateway_run(x, &(struct pl_gateway_options){.speech = &pl_speech_gemini,
                                                       .model = call->model,
                                                       .is_model_in_path = true,
                                                       .is_stream_in_path = is_stream,
                                                       .is_array = is_stream && !is_sse});
        return;
    }
    if (pl_str_eq(call->action, PL_STR("countTokens"))) {
        x->state = call;
        pl_exchange_compute(x, count_gemini_work, NULL);
        return;
    }
    pl_speech_fail(&pl_speech_gemini, x, 404, NULL,
                   "This server does not offer the method \"%.*s\" of a model: it offers "
                   "generateContent, streamGenerateContent and countTokens, and embeddings at POST "
                   "/v1/embeddings.",
                   (int)(call->action.len < 80 ? call->action.len : 80), call->action.ptr);
    pl_exchange_finish(x);
}

/* --- problems, in the shape of whoever asks -------------------------------------------------- */

static void problem_chat(struct pl_exchange *x, enum pl_problem problem, const char *detail)
{
    pl_speech_openai_chat.say_problem(x, problem, detail);
}

static void problem_messages(struct pl_exchange *x, enum pl_problem problem, const char *detail)
{
    pl_speech_anthropic.say_problem(x, problem, detail);
}

static void problem_gemini(struct pl_exchange *x, enum pl_problem problem, const char *detail)
{
    pl_speech_gemini.say_problem(x, problem, detail);
}

static const struct pl_route_param alt_params[] = {
    {"alt", "{\"type\":\"string\"}", "sse: the stream as events; otherwise as one JSON array"},
    {0},
};

#define ASKS PL_ROUTE_VENDOR_KEY | PL_ROUTE_LARGE | PL_ROUTE_RAW_BODY | PL_ROUTE_ANY_REPLY

const struct pl_route pl_routes_gateway[] = {
    {PL_METHOD_POST, "/v1/chat/completions", ASKS, PL_FOR_GATEWAY, ask_chat, "gateway_chat",
     "Call any model with OpenAI's Chat Completions API", "gateway", "AnyObject", NULL, 200, NULL,
     NULL, problem_chat},
    {PL_METHOD_POST, "/v1/responses", ASKS, PL_FOR_GATEWAY, ask_responses, "gateway_responses",
     "Call any model with OpenAI's Responses API", "gateway", "AnyObject", NULL, 200, NULL, NULL,
     problem_chat},
    {PL_METHOD_POST, "/v1/embeddings", ASKS, PL_FOR_GATEWAY, ask_embeddings, "gateway_embeddings",
     "Make embeddings with OpenAI's API, by a model of any vendor that has them", "gateway",
     "AnyObject", NULL, 200, NULL, NULL, problem_chat},
    {PL_METHOD_POST, "/v1/messages", ASKS, PL_FOR_GATEWAY, ask_messages, "gateway_messages",
     "Call any model with Anthropic's Messages API", "gateway", "AnyObject", NULL, 200, NULL, NULL,
     problem_messages},
    {PL_METHOD_POST, "/v1/messages/count_tokens", ASKS, PL_FOR_GATEWAY, count_messages,
     "gateway_count_tokens", "Count the tokens of an Anthropic Messages request", "gateway",
     "AnyObject", NULL, 200, NULL, NULL, problem_messages},
    {PL_METHOD_POST, "/v1beta/models/{model}", ASKS, PL_FOR_GATEWAY, ask_gemini, "gateway_gemini",
     "Call any model with the Gemini API: MODEL:generateContent, :streamGenerateContent, "
     ":countTokens",
     "gateway", "AnyObject", NULL, 200, alt_params, NULL, problem_gemini},
    {PL_METHOD_POST, "/v1beta/models/{vendor}/{model}", ASKS, PL_FOR_GATEWAY, ask_gemini,
     "gateway_gemini_vendor", "The same, for a model with its vendor's name", "gateway",
     "AnyObject", NULL, 200, alt_params, NULL, problem_gemini},
    {PL_METHOD_POST, "/v1beta/models/{vendor}/{owner}/{model}", ASKS, PL_FOR_GATEWAY, ask_gemini,
     "gateway_gemini_owner", "The same, for a model whose own name has a slash", "gateway",
     "AnyObject", NULL, 200, alt_params, NULL, problem_gemini},
    {PL_METHOD_POST, "/v1/models/{model}", ASKS, PL_FOR_GATEWAY, ask_gemini, "gateway_gemini_v1",
     "The same, in the previous API version", "gateway", "AnyObject", NULL, 200, alt_params, NULL,
     problem_gemini},
    {PL_METHOD_POST, "/v1/models/{vendor}/{model}", ASKS, PL_FOR_GATEWAY, ask_gemini,
     "gateway_gemini_v1_vendor", "The same, for a model with its vendor's name", "gateway",
     "AnyObject", NULL, 200, alt_params, NULL, problem_gemini},
    {PL_METHOD_POST, "/v1/models/{vendor}/{owner}/{model}", ASKS, PL_FOR_GATEWAY, ask_gemini,
     "gateway_gemini_v1_owner", "The same, for a model whose own name has a slash", "gateway",
     "AnyObject", NULL, 200, alt_params, NULL, problem_gemini},
    {0},
};
