/* The gateway's routes: those that the clients of OpenAI, Anthropic and Google ask, in their own
 * shapes, errors included. */
#include "gateway/gateway.h"
#include "service/request_options.h"

#include "document/count.h"
#include "gateway/routes.h"
#include "json/write.h"
#include "model/model.h"

#include <stdio.h>

enum { MAX_MODELS = 10000 };

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

/* --- Gemini: the model and what is to be done are one segment -------------------------------- */

struct gemini_call {
    struct pl_str model, action;
};

/* "vendor/model:action", perhaps in two segments; a client's "models/" is in the path. */
static bool read_gemini(struct pl_exchange *x, struct gemini_call *ret)
{
    struct pl_str last = x->args[x->args[1].ptr ? 1 : 0], model = {0};
    const char *colon = last.len ? memrchr(last.ptr, ':', last.len) : NULL;
    size_t n = colon ? (size_t)(colon - last.ptr) : last.len;
    if (x->args[1].ptr) {
        size_t size = x->args[0].len + n + 2;
        char *joined = pl_arena_alloc(&x->arena, size, 1);
        if (!joined)
            return false;
        snprintf(joined, size, "%.*s/%.*s", PL_STR_ARG(x->args[0]), (int)n, last.ptr);
        model = (struct pl_str){joined, size - 1};
    } else {
        model = pl_str_slice(last, 0, n);
    }
    *ret = (struct gemini_call){model, pl_str_slice(last, n + 1, last.len)};
    return true;
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
                   "The methods of a model are generateContent, streamGenerateContent and "
                   "countTokens.");
    pl_exchange_finish(x);
}

/* --- the models there are -------------------------------------------------------------------- */

static void member(struct pl_json_out *out, const char *key, struct pl_str text)
{
    pl_json_out_key(out, key);
    pl_json_out_text(out, text);
}

static struct pl_str owner_of(const char *name)
{
    const char *slash = strchr(name, '/');
    return slash ? (struct pl_str){name, (size_t)(slash - name)} : PL_STR("parley");
}

static void write_openai(struct pl_json_out *out, const struct pl_model_info *info,
                         struct pl_str name)
{
    pl_json_out_open(out, '{');
    member(out, "id", name);
    member(out, "object", PL_STR("model"));
    pl_json_out_key(out, "created");
    pl_json_out_int(out, 0);
    member(out, "owned_by", owner_of(info->name));
    pl_json_out_close(out, '}');
}

static void write_anthropic(struct pl_json_out *out, const struct pl_model_info *info,
                            struct pl_str name)
{
    (void)info;
    pl_json_out_open(out, '{');
    member(out, "type", PL_STR("model"));
    member(out, "id", name);
    member(out, "display_name", name);
    member(out, "created_at", PL_STR("1970-01-01T00:00:00Z"));
    pl_json_out_close(out, '}');
}

static void write_gemini(struct pl_json_out *out, const struct pl_model_info *info,
                         struct pl_str name)
{
    char path[320];
    int n = snprintf(path, sizeof path, "models/%.*s", PL_STR_ARG(name));
    size_t len = n < 0 ? 0 : (size_t)n < sizeof path ? (size_t)n : sizeof path - 1;
    pl_json_out_open(out, '{');
    member(out, "name", (struct pl_str){path, len});
    member(out, "displayName", name);
    member(out, "description", pl_str_of(info->about));
    if (info->context_window) {
        pl_json_out_key(out, "inputTokenLimit");
        pl_json_out_int(out, info->context_window);
    }
    pl_json_out_key(out, "supportedGenerationMethods");
    pl_json_out_raw(out, PL_STR("[\"generateContent\",\"streamGenerateContent\",\"countTokens\"]"));
    pl_json_out_close(out, '}');
}

typedef void write_model_fn(struct pl_json_out *out, const struct pl_model_info *info,
                            struct pl_str name);

static void write_models(const struct pl_models *models, struct pl_json_out *out, const char *key,
                         write_model_fn *write)
{
    pl_json_out_key(out, key);
    pl_json_out_open(out, '[');
    const struct pl_model_info *info;
    for (size_t i = 0; i < MAX_MODELS && (info = pl_model_at(models, i)); i++)
        write(out, info, pl_str_of(info->name));
    pl_json_out_close(out, ']');
}

/* Anthropic's clients say which version of the API they mean. */
static bool is_anthropic(const struct pl_exchange *x)
{
    return pl_http_header_get(x->head, "anthropic-version").len > 0;
}

static void list_models(struct pl_exchange *x)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    if (is_anthropic(x)) {
        write_models(x->setup->models, &out, "data", write_anthropic);
        pl_json_out_key(&out, "has_more");
        pl_json_out_bool(&out, false);
        pl_json_out_key(&out, "first_id");
        pl_json_out_null(&out);
        pl_json_out_key(&out, "last_id");
        pl_json_out_null(&out);
    } else {
        member(&out, "object", PL_STR("list"));
        write_models(x->setup->models, &out, "data", write_openai);
    }
    pl_json_out_close(&out, '}');
    pl_exchange_finish(x);
}

static void list_gemini(struct pl_exchange *x)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    pl_json_out_open(&out, '{');
    write_models(x->setup->models, &out, "models", write_gemini);
    pl_json_out_close(&out, '}');
    pl_exchange_finish(x);
}

static void show(struct pl_exchange *x, const struct pl_speech *speech, write_model_fn *write)
{
    struct gemini_call call = {0};
    struct pl_error err = {0};
    const struct pl_model_info *info =
        read_gemini(x, &call) ? pl_model_find(x->setup->models, call.model) : NULL;
    struct pl_json_out out = pl_json_out(&x->reply);
    if (info) {
        write(&out, info, pl_model_name(info, call.model));
    } else {
        (void)pl_model_missing(x->setup->models, call.model, &err);
        pl_speech_fail(speech, x, 404, "model_not_found", "%s", err.message);
    }
    pl_exchange_finish(x);
}

static void show_model(struct pl_exchange *x)
{
    if (is_anthropic(x))
        show(x, &pl_speech_anthropic, write_anthropic);
    else
        show(x, &pl_speech_openai_chat, write_openai);
}

static void show_gemini(struct pl_exchange *x)
{
    show(x, &pl_speech_gemini, write_gemini);
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

static void problem_models(struct pl_exchange *x, enum pl_problem problem, const char *detail)
{
    if (is_anthropic(x))
        problem_messages(x, problem, detail);
    else if (pl_http_header_get(x->head, "x-goog-api-key").len)
        problem_gemini(x, problem, detail);
    else
        problem_chat(x, problem, detail);
}

static const struct pl_route_param alt_params[] = {
    {"alt", "{\"type\":\"string\"}", "sse: the stream as events; otherwise as one JSON array"},
    {0},
};

#define ASKS  PL_ROUTE_VENDOR_KEY | PL_ROUTE_LARGE | PL_ROUTE_RAW_BODY | PL_ROUTE_ANY_REPLY
#define LISTS PL_ROUTE_VENDOR_KEY

const struct pl_route pl_routes_gateway[] = {
    {PL_METHOD_POST, "/v1/chat/completions", ASKS, PL_FOR_GATEWAY, ask_chat, "gateway_chat",
     "Call any model with OpenAI's Chat Completions API", "gateway", "AnyObject", NULL, 200, NULL,
     NULL, problem_chat},
    {PL_METHOD_POST, "/v1/responses", ASKS, PL_FOR_GATEWAY, ask_responses, "gateway_responses",
     "Call any model with OpenAI's Responses API", "gateway", "AnyObject", NULL, 200, NULL, NULL,
     problem_chat},
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
    {PL_METHOD_POST, "/v1/models/{model}", ASKS, PL_FOR_GATEWAY, ask_gemini, "gateway_gemini_v1",
     "The same, in the previous API version", "gateway", "AnyObject", NULL, 200, alt_params, NULL,
     problem_gemini},
    {PL_METHOD_POST, "/v1/models/{vendor}/{model}", ASKS, PL_FOR_GATEWAY, ask_gemini,
     "gateway_gemini_v1_vendor", "The same, for a model with its vendor's name", "gateway",
     "AnyObject", NULL, 200, alt_params, NULL, problem_gemini},
    {PL_METHOD_GET, "/v1/models", LISTS, PL_FOR_GATEWAY | PL_FOR_READ, list_models,
     "gateway_models",
     "List the models in the format of OpenAI or (with anthropic-version) Anthropic", "gateway",
     NULL, "AnyObject", 200, NULL, NULL, problem_models},
    {PL_METHOD_GET, "/v1/models/{model}", LISTS, PL_FOR_GATEWAY | PL_FOR_READ, show_model,
     "gateway_model", "A model", "gateway", NULL, "AnyObject", 200, NULL, NULL, problem_models},
    {PL_METHOD_GET, "/v1/models/{vendor}/{model}", LISTS, PL_FOR_GATEWAY | PL_FOR_READ, show_model,
     "gateway_model_vendor", "A model with its vendor's name", "gateway", NULL, "AnyObject", 200,
     NULL, NULL, problem_models},
    {PL_METHOD_GET, "/v1beta/models", LISTS, PL_FOR_GATEWAY | PL_FOR_READ, list_gemini,
     "gateway_gemini_models", "List the models in the format of Gemini", "gateway", NULL,
     "AnyObject", 200, NULL, NULL, problem_gemini},
    {PL_METHOD_GET, "/v1beta/models/{model}", LISTS, PL_FOR_GATEWAY | PL_FOR_READ, show_gemini,
     "gateway_gemini_model", "A model", "gateway", NULL, "AnyObject", 200, NULL, NULL,
     problem_gemini},
    {PL_METHOD_GET, "/v1beta/models/{vendor}/{model}", LISTS, PL_FOR_GATEWAY | PL_FOR_READ,
     show_gemini, "gateway_gemini_model_vendor", "A model with its vendor's name", "gateway", NULL,
     "AnyObject", 200, NULL, NULL, problem_gemini},
    {0},
};
