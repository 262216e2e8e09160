/* A response, or the body of an error. Members that echo the request get the defaults of a request
 * without them. */
#include "format/openai_responses/openai_responses_int.h"

#include "format/pieces/instant.h"
#include "format/pieces/usage.h"

/* ---- errors ---- */

/* Google's RPC status words, for errors without a type. */
static const char *type_of_status(struct pl_responses_out *o, struct pl_val status)
{
    static const struct {
        const char *status, *type;
    } types[] = {
        {"INVALID_ARGUMENT", "invalid_request_error"},
        {"FAILED_PRECONDITION", "invalid_request_error"},
        {"UNAUTHENTICATED", "authentication_error"},
        {"PERMISSION_DENIED", "permission_error"},
        {"NOT_FOUND", "not_found_error"},
        {"RESOURCE_EXHAUSTED", "rate_limit_error"},
        {"DEADLINE_EXCEEDED", "timeout_error"},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (pl_conv_says(o->conv, status.node, types[i].status))
            return types[i].type;
    return "server_error";
}

static void put_string_or_null(struct pl_responses_out *o, const char *key, struct pl_val val)
{
    pl_w_key(o->w, key);
    if (pl_val_is_set(val))
        pl_w_string(o->w, val);
    else
        pl_w_null(o->w);
}

static void put_error(struct pl_responses_out *o)
{
    const struct pl_answer *a = &o->conv->answer;
    bool has_type = pl_val_is_set(a->error_type);
    pl_w_open(o->w, '{');
    pl_w_key(o->w, "error");
    pl_w_open(o->w, '{');
    put_string_or_null(o, "message", a->error_message);
    pl_w_key(o->w, "type");
    if (has_type)
        pl_w_string(o->w, a->error_type);
    else
        pl_w_word(o->w, type_of_status(o, a->error_status));
    put_string_or_null(o, "param", a->error_param);
    /* A status is the better code: if it is a number, it is the HTTP status. */
    if (!has_type && pl_val_is_set(a->error_status)) {
        put_string_or_null(o, "code", a->error_status);
        pl_responses_know_scalar(o, a->error_code);
    } else {
        put_string_or_null(o, "code", a->error_code);
    }
    pl_w_close(o->w, '}');
    pl_w_close(o->w, '}');
}

/* ---- responses ---- */

static void put_id(struct pl_responses_out *o)
{
    pl_w_key(o->w, "id");
    if (pl_val_is_set(o->conv->answer.id)) {
        pl_w_string(o->w, o->conv->answer.id);
        return;
    }
    pl_w_word(o->w, "resp_1");
    pl_conv_loss(o->conv, PL_LOSS_SYNTHESISED, o->conv->doc->root,
                 "a response needs an id here; it is resp_1");
}

static void put_created(struct pl_responses_out *o)
{
    struct pl_val created = o->conv->answer.created;
    if (pl_instant_write(o->w, "created_at", created, o->conversion, PL_INSTANT_SECONDS))
        return;
    pl_w_key(o->w, "created_at");
    pl_w_int(o->w, o->conversion->made_s);
    pl_conv_loss(o->conv, PL_LOSS_SYNTHESISED, o->conv->doc->root,
                 "a response needs its creation time here; it is unknown, so created_at is %lld",
                 (long long)o->conversion->made_s);
}

static void put_status(struct pl_responses_out *o)
{
    const struct pl_answer *a = &o->conv->answer;
    const char *reason = a->finish == PL_FINISH_LENGTH   ? "max_output_tokens"
                         : a->finish == PL_FINISH_FILTER ? "content_filter"
                                                         : NULL;
    pl_w_key_word(o->w, "status", reason ? "incomplete" : "completed");
    pl_w_key(o->w, "error");
    pl_w_null(o->w);
    pl_w_key(o->w, "incomplete_details");
    if (reason) {
        pl_w_open(o->w, '{');
        pl_w_key_word(o->w, "reason", reason);
        pl_w_close(o->w, '}');
    } else {
        pl_w_null(o->w);
    }
    if (a->finish == PL_FINISH_OTHER)
        pl_w_loss(o->w, PL_LOSS_APPROXIMATED, a->finish_val,
                  "Responses has no such stop reason; it is completed");
    else
        pl_responses_know_scalar(o, a->finish_val);
}

static void put_usage(struct pl_responses_out *o)
{
    if (!o->conv->answer.usage.node)
        return;
    pl_w_key(o->w, "usage");
    pl_w_open(o->w, '{');
    pl_usage_write(o->w, "input_tokens", PL_COUNT_INPUT, true);
    pl_w_key(o->w, "input_tokens_details");
    pl_w_open(o->w, '{');
    pl_usage_write(o->w, "cached_tokens", PL_COUNT_CACHE_READ, true);
    pl_usage_write(o->w, "cache_write_tokens", PL_COUNT_CACHE_WRITE, false);
    pl_w_close(o->w, '}');
    pl_usage_write(o->w, "output_tokens", PL_COUNT_OUTPUT, true);
    pl_w_key(o->w, "output_tokens_details");
    pl_w_open(o->w, '{');
    pl_usage_write(o->w, "reasoning_tokens", PL_COUNT_REASONING, true);
    pl_w_close(o->w, '}');
    pl_usage_write(o->w, "total_tokens", PL_COUNT_TOTAL, true);
    pl_w_close(o->w, '}');
}

/* The part of the echo that clients read without checking its presence. */
static void put_echo(struct pl_responses_out *o)
{
    static const struct {
        const char *key, *json;
    } echo[] = {
        {"instructions", "null"},
        {"metadata", "{}"},
        {"temperature", "null"},
        {"top_p", "null"},
        {"tools", "[]"},
        {"tool_choice", "\"auto\""},
        {"parallel_tool_calls", "true"},
    };
    for (size_t i = 0; i < sizeof echo / sizeof *echo; i++) {
        pl_w_key(o->w, echo[i].key);
        pl_w_value(o->w, pl_val_json(pl_str_of(echo[i].json)));
    }
    pl_tier_write(o->w, PL_TIER_RESPONSES, "service_tier", o->conv->answer.service_tier);
}

/* The same format again: the items may have been repaired, the rest is copied. */
static void put_again(struct pl_responses_out *o)
{
    static const char *const known[] = {"output", NULL};
    pl_w_open(o->w, '{');
    pl_responses_put_extras(o, o->conv->doc->root, known);
    if (o->conv->list) {
        pl_w_key(o->w, "output");
        pl_responses_put_items(o, 0);
    }
    pl_w_close(o->w, '}');
}

void pl_responses_put_answer(struct pl_responses_out *o)
{
    struct pl_val model = o->conv->answer.model;
    if (o->is_own) {
        put_again(o);
        return;
    }
    if (o->conv->answer.is_error) {
        put_error(o);
        return;
    }
    pl_w_open(o->w, '{');
    put_id(o);
    pl_w_key_word(o->w, "object", "response");
    put_created(o);
    put_status(o);
    pl_w_opt_string(o->w, "model", pl_val_is_set(model) ? model : o->conv->settings.model);
    pl_w_key(o->w, "output");
    pl_responses_put_items(o, 0);
    put_echo(o);
    put_usage(o);
    pl_w_close(o->w, '}');
}
