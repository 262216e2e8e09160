/* From the client's body to what a target is sent. The same dialect: the client's bytes, with the
 * model's name changed where it must be. Another: converted, and made legal for the target. */
#include "server/gateway/call.h"
#include "server/wishes.h"

#include "json/edit.h"
#include "json/text.h"
#include "model/model.h"

enum { MAX_LOSS_HEADER = 1000 };

static const struct pl_json_node *member(const struct pl_call *call, const char *name)
{
    return pl_json_get(&call->doc, call->doc.root, pl_str_of(name));
}

struct pl_str pl_call_text(struct pl_call *call, const char *name)
{
    const struct pl_json_node *node = member(call, name);
    struct pl_str text = {0};
    if (!node || pl_json_kind(node) != PL_JSON_STRING ||
        pl_json_text(&call->x->arena, &call->doc, node, &text) != PL_OK)
        return (struct pl_str){0};
    return text;
}

static bool parse(struct pl_call *call)
{
    struct pl_error err = {0};
    enum pl_status status =
        pl_json_parse(&call->x->arena, call->text, &pl_json_any, &call->doc, &err);
    if (status == PL_NOMEM || status == PL_LIMIT) {
        pl_call_fail(call, status == PL_NOMEM ? 503 : 413, NULL, "The body: %s.", err.message);
        return false;
    }
    if (status != PL_OK || pl_json_kind(call->doc.root) != PL_JSON_OBJECT) {
        pl_call_fail(call, 400, NULL, "The body is not a JSON object: %s.",
                     status == PL_OK ? "it is another value" : err.message);
        return false;
    }
    return true;
}

static bool find_model(struct pl_call *call)
{
    struct pl_error err = {0};
    struct pl_str model =
        call->wish.is_model_in_path ? call->wish.model : pl_call_text(call, "model");
    /* Targets refer to it, and its place in the body is used for the target's name. */
    call->model = pl_arena_dup(&call->x->arena, model);
    if (model.len && !call->model.ptr) {
        pl_call_fail(call, 503, NULL, "There was no memory for this request.");
        return false;
    }
    if (!call->model.len) {
        pl_call_fail(call, 400, NULL, "The request must name a model; GET /v1/models lists them.");
        return false;
    }
    call->n_targets = pl_model_targets(call->x->setup->models, call->model, call->targets);
    if (call->n_targets)
        return true;
    (void)pl_model_missing(call->x->setup->models, call->model, &err);
    pl_call_fail(call, 404, "model_not_found", "%s", err.message);
    return false;
}

bool pl_call_read(struct pl_call *call)
{
    if (!parse(call))
        return false;
    const struct pl_json_node *stream = member(call, "stream");
    call->is_stream = call->wish.is_model_in_path ? call->wish.is_stream_in_path
                                                  : stream && pl_json_kind(stream) == PL_JSON_TRUE;
    /* A prompt of the library may name the model. */
    return pl_call_refers(call) || find_model(call);
}

/* --- the same dialect ------------------------------------------------------------------------ */

/* Gemini has the model in the address. */
static bool has_right_name(const struct pl_call *call)
{
    return call->wish.is_model_in_path || pl_str_eq(call->model, pl_call_target(call)->model);
}

static enum pl_status rename_model(struct pl_call *call, struct pl_json_edit *edit,
                                   struct pl_error *err)
{
    const struct pl_json_node *model = member(call, "model");
    PL_CLEANUP_BUF struct pl_buf name;
    pl_buf_init(&name, 0);
    pl_json_quote(&name, pl_call_target(call)->model);
    if (name.status != PL_OK)
        return name.status;
    if (model)
        return pl_json_edit_set_node(edit, model, pl_buf_str(&name), err);
    return pl_json_edit_insert_before(edit, call->doc.root, NULL, PL_STR("model"),
                                      pl_buf_str(&name), err);
}

/* The client's bytes, changed where they must be. */
static enum pl_status copy_body(struct pl_call *call, struct pl_error *err)
{
    if (has_right_name(call)) {
        pl_buf_add(&call->body, call->text);
        return call->body.status;
    }
    struct pl_json_edit edit;
    pl_json_edit_init(&edit, &call->x->arena, &call->doc);
    enum pl_status status = rename_model(call, &edit, err);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, &call->body);
    pl_json_edit_deinit(&edit);
    return status;
}

/* --- another dialect ------------------------------------------------------------------------- */

static void ask_for_stream(struct pl_call *call)
{
    const struct pl_format *to = pl_call_target(call)->format;
    bool is_said = call->wish.speech->format != &pl_format_gemini || to == &pl_format_gemini;
    if (!call->is_stream || is_said || !call->body.len)
        return;
    call->body.len--;
    pl_buf_adds(&call->body, ",\"stream\":true");
    if (to == &pl_format_openai_chat)
        pl_buf_adds(&call->body, ",\"stream_options\":{\"include_usage\":true}");
    pl_buf_addc(&call->body, '}');
}

static enum pl_status convert_body(struct pl_call *call, struct pl_error *err)
{
    struct pl_gateway *gateway = call->x->shard->gateway;
    struct pl_converted own, *made = call->is_working ? &own : &gateway->converted;
    const struct pl_model_target *target = pl_call_target(call);
    struct pl_convert_opts convert = {
        .from = call->wish.speech->format,
        .to = target->format,
        .mode = PL_MODE_GATEWAY,
        .profile = target->profile,
        .needs_no_carry = true,
        .max_items = PL_MAX_ITEMS,
        .refuses_wrong_types = true,
        .is_addressed = target->format == &pl_format_gemini,
        .model = target->model,
        .doc = &call->doc,
        .workspace = call->is_working ? NULL : &gateway->workspace,
    };
    pl_converted_init(&own);
    enum pl_status status = pl_convert(call->text, &convert, made, err);
    if (status == PL_OK) {
        pl_call_take_out(call, &call->body, made);
        pl_call_note_losses(call, "", pl_buf_str(&made->report));
        ask_for_stream(call);
        status = call->body.status;
    }
    pl_converted_deinit(&own);
    return status;
}

void pl_call_take_out(const struct pl_call *call, struct pl_buf *to, struct pl_converted *made)
{
    if (call->is_working) {
        struct pl_buf old = *to;
        size_t max = old.max;
        *to = made->out;
        to->max = max;
        made->out = old;
    } else {
        pl_buf_clear(to);
        pl_buf_add(to, pl_buf_str(&made->out));
    }
}

void pl_call_refuse(struct pl_call *call, enum pl_status status, const struct pl_error *err)
{
    if (status == PL_NOMEM)
        pl_call_fail(call, 503, NULL, "There was no memory to convert the request.");
    else if (status == PL_LIMIT && !err->has_position)
        pl_call_fail(call, 413, NULL, "The request: %s", err->message);
    else if (err->has_position && err->pointer[0])
        pl_call_fail(call, 400, NULL, "The request at %s: %s", err->pointer, err->message);
    else
        pl_call_fail(call, 400, NULL, "The request: %s",
                     err->message[0] ? err->message : pl_status_info(status)->text);
}

bool pl_call_make_body(struct pl_call *call)
{
    struct pl_error err = {0};
    pl_buf_clear(&call->body);
    pl_buf_clear(&call->loss);
    if (!pl_call_target(call)->vendor)
        return pl_call_make_turns(call);
    enum pl_status status =
        pl_call_is_same(call) ? copy_body(call, &err) : convert_body(call, &err);
    if (status != PL_OK)
        pl_call_refuse(call, status, &err);
    return status == PL_OK;
}

/* --- losses ---------------------------------------------------------------------------------- */

/* A pointer may have anything in it, a header's value may not. */
static void add_pointer(struct pl_buf *to, struct pl_str pointer)
{
    if (!pointer.len)
        pl_buf_addc(to, '/');
    for (size_t i = 0; i < pointer.len; i++) {
        unsigned char c = (unsigned char)pointer.ptr[i];
        if (c > ' ' && c < 0x7F && c != ',' && c != '%')
            pl_buf_addc(to, (char)c);
        else
            pl_buf_addf(to, "%%%02X", c);
    }
}

/* What stands elsewhere, or was put in because the target must have it, is not lost. */
static bool is_lost(const struct pl_json_doc *doc, const struct pl_json_node *code)
{
    return !pl_json_key_is(doc, code, PL_STR("moved")) &&
           !pl_json_key_is(doc, code, PL_STR("synthesised"));
}

static bool is_full(const struct pl_buf *header)
{
    return header->len >= 3 && memcmp(header->ptr + header->len - 3, "...", 3) == 0;
}

static void add_loss(struct pl_call *call, const char *where, const struct pl_json_doc *doc,
                     const struct pl_json_node *loss)
{
    struct pl_buf *to = &call->loss;
    struct pl_str pointer = {0};
    const struct pl_json_node *code = pl_json_get(doc, loss, PL_STR("code"));
    const struct pl_json_node *at = pl_json_get(doc, loss, PL_STR("pointer"));
    size_t before = to->len;
    if (!code || !at || !is_lost(doc, code) ||
        pl_json_text(&call->x->arena, doc, at, &pointer) != PL_OK || is_full(to))
        return;
    if (to->len)
        pl_buf_add(to, PL_STR(", "));
    pl_buf_add(to, pl_json_raw(doc, code));
    pl_buf_addc(to, ' ');
    pl_buf_adds(to, where);
    add_pointer(to, pointer);
    if (to->len <= MAX_LOSS_HEADER)
        return;
    to->len = before;
    pl_buf_add(to, before ? PL_STR(", ...") : PL_STR("..."));
}

void pl_call_note_losses(struct pl_call *call, const char *where, struct pl_str report)
{
    static const char none[] = "\"lossless\":true}";
    size_t n = sizeof none - 1;
    struct pl_json_doc doc;
    if (report.len < n || memcmp(report.ptr + report.len - n, none, n) == 0)
        return;
    struct pl_str kept = pl_arena_dup(&call->x->arena, report);
    if (!kept.ptr || pl_json_parse(&call->x->arena, kept, &pl_json_own, &doc, NULL) != PL_OK)
        return;
    const struct pl_json_node *losses = pl_json_get(&doc, doc.root, PL_STR("losses"));
    if (!losses || pl_json_kind(losses) != PL_JSON_ARRAY)
        return;
    for (const struct pl_json_node *loss = pl_json_first(losses); loss < pl_json_end(losses);
         loss = pl_json_next(loss))
        add_loss(call, where, &doc, loss);
}
