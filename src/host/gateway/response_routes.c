/* Stored answers of /v1/responses, by their ids: the answer, the input it answers, and deletion.
 * Only their user finds them.
 *
 * Deleting an answer also deletes the session of its conversation: nothing of it remains. */
#include "gateway/call.h"

#include "base/table.h"
#include "base/text/decimal.h"
#include "gateway/routes.h"
#include "json/text.h"
#include "json/write.h"
#include "live/command.h"
#include "store/gateway.h"

#include <stdio.h>

enum { MAX_PAGE = 100, USUAL_PAGE = 20 };

#define SPEECH &pl_speech_openai_responses

static struct pl_str shown(struct pl_str id)
{
    return pl_str_slice(id, 0, 80);
}

static bool find(struct pl_exchange *x, struct pl_kept_response *ret)
{
    struct pl_error err = {0};
    struct pl_str id = shown(x->args[0]);
    enum pl_status status = pl_store_response_find(x->shard->server->store, &x->arena,
                                                   x->caller.user_id, x->args[0], ret, &err);
    if (status == PL_OK && ret->body.len)
        return true;
    if (status == PL_OK)
        pl_speech_fail(SPEECH, x, 404, NULL,
                       "Response with id '%.*s' was stored by an earlier version of this server, "
                       "which kept its conversation only: see GET /api/sessions/%.*s.",
                       PL_STR_ARG(id), PL_STR_ARG(ret->session_id));
    else if (status == PL_NOT_FOUND)
        pl_speech_fail(SPEECH, x, 404, NULL,
                       "Response with id '%.*s' not found: it was not made through this server "
                       "with your keys, or with store set to false.",
                       PL_STR_ARG(id));
    else
        pl_speech_fail(SPEECH, x, status == PL_NOMEM ? 503 : 500, NULL, "%s",
                       pl_status_info(status)->text);
    return false;
}

/* --- the answer ------------------------------------------------------------------------------ */

static void show_work(struct pl_exchange *x)
{
    struct pl_kept_response kept;
    if (find(x, &kept))
        pl_buf_add(&x->reply, kept.body);
}

static void show(struct pl_exchange *x)
{
    struct pl_str stream = pl_target_param(&x->target, "stream");
    if (stream.len && !pl_str_eq(stream, PL_STR("false"))) {
        pl_speech_fail(SPEECH, x, 400, NULL,
                       "This server does not stream a stored answer again: ask for it without "
                       "stream.");
        pl_exchange_finish(x);
        return;
    }
    pl_exchange_work(x, show_work, NULL);
}

/* --- what it answers ------------------------------------------------------------------------- */

struct items {
    const struct pl_json_doc *doc;
    const struct pl_json_node **nodes; /* arena; oldest first */
    size_t n;
    struct pl_str response_id;
};

static struct pl_str type_of(const struct items *items, const struct pl_json_node *item)
{
    const struct pl_json_node *type = pl_json_member(items->doc, item, "type", PL_JSON_STRING);
    return type ? pl_json_raw(items->doc, type) : PL_STR("message");
}

/* The item's own id, or one made from the answer's id and the item's index: always the same. */
static void write_id(const struct items *items, size_t i, struct pl_buf *to)
{
    static const struct {
        const char *type, *prefix;
    } prefixes[] = {{"function_call", "fc_"},
                    {"function_call_output", "fco_"},
                    {"reasoning", "rs_"},
                    {"custom_tool_call", "ctc_"},
                    {"message", "msg_"}};
    const struct pl_json_node *id =
        pl_json_member(items->doc, items->nodes[i], "id", PL_JSON_STRING);
    struct pl_str type = type_of(items, items->nodes[i]);
    const char *prefix = "item_";
    if (id) {
        pl_buf_add(to, pl_json_raw(items->doc, id));
        return;
    }
    for (size_t k = 0; k < sizeof prefixes / sizeof *prefixes; k++)
        if (pl_str_eq(type, pl_str_of(prefixes[k].type)))
            prefix = prefixes[k].prefix;
    pl_buf_adds(to, prefix);
    for (size_t k = 5; k < items->response_id.len; k++) /* after "resp_" */
        if (items->response_id.ptr[k] != '-')
            pl_buf_addc(to, items->response_id.ptr[k]);
    pl_buf_addf(to, "%04zu", i);
}

static bool is_id(struct pl_exchange *x, const struct items *items, size_t i, struct pl_str id)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    (void)x;
    write_id(items, i, &text);
    return text.status == PL_OK && pl_str_eq(pl_buf_str(&text), id);
}

/* A message that is only a text becomes a list of one part, as in OpenAI's API. */
static void write_content(const struct items *items, const struct pl_json_node *item,
                          const struct pl_json_node *content, struct pl_json_out *out)
{
    const struct pl_json_node *role = pl_json_member(items->doc, item, "role", PL_JSON_STRING);
    bool is_output = role && pl_json_text_is(items->doc, role, PL_STR("assistant"));
    if (pl_json_kind(content) != PL_JSON_STRING) {
        pl_json_out_raw(out, pl_json_span(items->doc, content));
        return;
    }
    pl_json_out_open(out, '[');
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "type");
    pl_json_out_text(out, is_output ? PL_STR("output_text") : PL_STR("input_text"));
    pl_json_out_key(out, "text");
    pl_json_out_raw(out, pl_json_span(items->doc, content));
    if (is_output) {
        pl_json_out_key(out, "annotations");
        pl_json_out_raw(out, PL_STR("[]"));
    }
    pl_json_out_close(out, '}');
    pl_json_out_close(out, ']');
}

static void write_item(const struct items *items, size_t i, struct pl_json_out *out)
{
    const struct pl_json_node *item = items->nodes[i];
    const struct pl_json_doc *doc = items->doc;
    PL_CLEANUP_BUF struct pl_buf id;
    pl_buf_init(&id, 0);
    write_id(items, i, &id);
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "id");
    pl_json_out_text(out, pl_buf_str(&id));
    pl_json_out_key(out, "type");
    pl_json_out_text(out, type_of(items, item));
    for (const struct pl_json_node *key = pl_json_first_member(item); key < pl_json_end(item);
         key = pl_json_next_member(key)) {
        if (pl_json_key_is(doc, key, PL_STR("id")) || pl_json_key_is(doc, key, PL_STR("type")))
            continue;
        pl_json_out_key_str(out, pl_json_raw(doc, key));
        if (pl_json_key_is(doc, key, PL_STR("content")))
            write_content(items, item, key + 1, out);
        else
            pl_json_out_raw(out, pl_json_span(doc, key + 1));
    }
    if (!pl_json_get(doc, item, PL_STR("status"))) {
        pl_json_out_key(out, "status");
        pl_json_out_text(out, PL_STR("completed"));
    }
    pl_json_out_close(out, '}');
}

/* A page, as OpenAI's clients request it. */
struct page {
    int64_t limit;
    bool is_oldest_first;
    struct pl_str after; /* the id of an item; empty: from the first one */
};

static bool read_page(struct pl_exchange *x, struct page *ret)
{
    struct pl_str limit = pl_target_param(&x->target, "limit");
    struct pl_str order = pl_target_param(&x->target, "order");
    *ret = (struct page){USUAL_PAGE, pl_str_eq(order, PL_STR("asc")),
                         pl_target_param(&x->target, "after")};
    if (limit.ptr &&
        (!pl_decimal_read(limit, &ret->limit) || ret->limit < 1 || ret->limit > MAX_PAGE)) {
        pl_speech_fail(SPEECH, x, 400, NULL, "limit must be a number from 1 to %d.", MAX_PAGE);
        return false;
    }
    if (order.ptr && !ret->is_oldest_first && !pl_str_eq(order, PL_STR("desc"))) {
        pl_speech_fail(SPEECH, x, 400, NULL, "order must be asc or desc.");
        return false;
    }
    return true;
}

static size_t place_of(const struct items *items, const struct page *page, size_t i)
{
    return page->is_oldest_first ? i : items->n - 1 - i;
}

static bool find_after(struct pl_exchange *x, const struct items *items, const struct page *page,
                       size_t *ret_from)
{
    *ret_from = 0;
    if (!page->after.len)
        return true;
    for (size_t i = 0; i < items->n; i++)
        if (is_id(x, items, place_of(items, page, i), page->after)) {
            *ret_from = i + 1;
            return true;
        }
    pl_speech_fail(SPEECH, x, 400, NULL, "after must be the id of an item of this list.");
    return false;
}

static void write_edge(struct pl_json_out *out, const char *key, const struct items *items,
                       const struct page *page, size_t i, bool is_there)
{
    PL_CLEANUP_BUF struct pl_buf id;
    pl_buf_init(&id, 0);
    pl_json_out_key(out, key);
    if (!is_there) {
        pl_json_out_null(out);
        return;
    }
    write_id(items, place_of(items, page, i), &id);
    pl_json_out_text(out, pl_buf_str(&id));
}

static void write_page(struct pl_exchange *x, const struct items *items, const struct page *page)
{
    struct pl_json_out out = pl_json_out(&x->reply);
    size_t from;
    if (!find_after(x, items, page, &from))
        return;
    size_t n = items->n - from < (size_t)page->limit ? items->n - from : (size_t)page->limit;
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "object");
    pl_json_out_text(&out, PL_STR("list"));
    pl_json_out_key(&out, "data");
    pl_json_out_open(&out, '[');
    for (size_t i = from; i < from + n; i++)
        write_item(items, place_of(items, page, i), &out);
    pl_json_out_close(&out, ']');
    write_edge(&out, "first_id", items, page, from, n > 0);
    write_edge(&out, "last_id", items, page, from + n - 1, n > 0);
    pl_json_out_key(&out, "has_more");
    pl_json_out_bool(&out, from + n < items->n);
    pl_json_out_close(&out, '}');
}

/* Collects the objects in the input of the request made from the turns. */
static bool gather(struct pl_exchange *x, struct items *items)
{
    const struct pl_json_node *input =
        pl_json_member(items->doc, items->doc->root, "input", PL_JSON_ARRAY);
    size_t n = input ? pl_json_count(input) : 0;
    items->nodes = pl_arena_zalloc(&x->arena, n + 1, sizeof *items->nodes);
    if (!items->nodes)
        return false;
    for (const struct pl_json_node *item = input ? pl_json_first(input) : NULL;
         item && item < pl_json_end(input); item = pl_json_next(item))
        if (pl_json_kind(item) == PL_JSON_OBJECT)
            items->nodes[items->n++] = item;
    return true;
}

static void list_work(struct pl_exchange *x)
{
    struct pl_kept_response kept;
    struct pl_json_doc doc;
    struct pl_error err = {0};
    struct page page;
    if (!read_page(x, &page) || !find(x, &kept))
        return;
    struct items items = {.doc = &doc, .response_id = kept.id};
    enum pl_status status = pl_gateway_kept_turns(x, kept.session_id, kept.n_input, &doc, &err);
    if (status == PL_OK && !gather(x, &items))
        status = PL_NOMEM;
    if (status == PL_OK)
        write_page(x, &items, &page);
    else
        pl_speech_fail(SPEECH, x, status == PL_NOMEM ? 503 : 500, NULL, "%s",
                       pl_status_info(status)->text);
}

static void list_items(struct pl_exchange *x)
{
    pl_exchange_work(x, list_work, NULL);
}

/* --- its end --------------------------------------------------------------------------------- */

struct deleting {
    struct pl_session_command command;
    struct pl_exchange *x;
    struct pl_kept_response kept;
};

static void deleted(struct pl_session_command *command)
{
    struct deleting *deleting = PL_CONTAINER_OF(command, struct deleting, command);
    struct pl_exchange *x = deleting->x;
    /* Somebody else may have deleted it meanwhile. */
    if (command->problem == PL_PROBLEM_COUNT || command->problem == PL_PROBLEM_NOT_FOUND)
        pl_buf_addf(&x->reply, "{\"id\":\"%.*s\",\"object\":\"response\",\"deleted\":true}",
                    PL_STR_ARG(deleting->kept.id));
    else
        pl_exchange_problem(x, command->problem, &command->err, NULL);
    pl_session_command_deinit(command);
    pl_exchange_finish(x);
}

static void find_work(struct pl_exchange *x)
{
    struct deleting *deleting = x->state;
    (void)find(x, &deleting->kept);
}

static void found(struct pl_exchange *x)
{
    struct deleting *deleting = x->state;
    if (x->is_problem) {
        pl_exchange_finish(x);
        return;
    }
    pl_session_command_init(&deleting->command, PL_COMMAND_DELETE, x->shard, x->caller.user_id,
                            deleting->kept.session_id);
    deleting->command.if_version = -1;
    deleting->command.done = deleted;
    pl_session_command_send(&deleting->command);
}

static void delete (struct pl_exchange *x)
{
    struct deleting *deleting = pl_exchange_room(x, sizeof *deleting);
    if (!deleting)
        return;
    deleting->x = x;
    x->state = deleting;
    pl_exchange_work(x, find_work, found);
}

static const struct pl_route_param show_params[] = {
    {"include", "{\"type\":\"string\"}",
     "Accepted for OpenAI's clients; the answer always has everything"},
    {"include[]", "{\"type\":\"string\"}", "The same"},
    {"stream", "{\"type\":\"boolean\"}", "Only false: a stored answer is not streamed again"},
    {0},
};
static const struct pl_route_param item_params[] = {
    PL_PARAM_LIMIT,
    {"order", "{\"enum\":[\"asc\",\"desc\"]}", "The oldest or (by default) the newest item first"},
    {"after", "{\"type\":\"string\"}", "The id of an item: those that follow it"},
    {"include", "{\"type\":\"string\"}",
     "Accepted for OpenAI's clients; the items always have everything"},
    {"include[]", "{\"type\":\"string\"}", "The same"},
    {0},
};

const struct pl_route pl_routes_gateway_responses[] = {
    {PL_METHOD_GET, "/v1/responses/{id}", PL_ROUTE_VENDOR_KEY, PL_FOR_GATEWAY | PL_FOR_READ, show,
     "gateway_response_get", "Get a stored answer, as it was given", "gateway", NULL, "AnyObject",
     200, show_params, NULL, pl_gateway_problem},
    {PL_METHOD_DELETE, "/v1/responses/{id}", PL_ROUTE_VENDOR_KEY, PL_FOR_GATEWAY, delete,
     "gateway_response_delete", "Delete a stored answer and its session", "gateway", NULL,
     "AnyObject", 200, NULL, NULL, pl_gateway_problem},
    {PL_METHOD_GET, "/v1/responses/{id}/input_items", PL_ROUTE_VENDOR_KEY,
     PL_FOR_GATEWAY | PL_FOR_READ, list_items, "gateway_response_input_items",
     "List the input of a stored answer", "gateway", NULL, "AnyObject", 200, item_params, NULL,
     pl_gateway_problem},
    {0},
};
