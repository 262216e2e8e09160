/* Members in either spelling (camelCase and snake_case), and functionCall, which comes whole or in
 * pieces: see gemini.c. */
#include "stream/gemini/gemini_int.h"

#include "json/text.h"
#include "stream/pick.h"

/* ---- members ---- */

/* Most names differ in length or in the first letter. */
static inline bool is_name(struct pl_str key, struct pl_str name)
{
    return key.len == name.len && key.ptr[0] == name.ptr[0] &&
           memcmp(key.ptr, name.ptr, key.len) == 0;
}

static inline bool names(const struct pl_json_doc *doc, const struct pl_json_node *key,
                         const struct pl_gemini_field *field)
{
    if (__builtin_expect(key->tag & PL_JSON_ESCAPED, 0))
        return pl_json_text_is(doc, key, field->name) || pl_json_text_is(doc, key, field->snake);
    struct pl_str name = pl_json_raw(doc, key);
    return is_name(name, field->name) || is_name(name, field->snake);
}

void pl_gemini_get(const struct pl_json_doc *doc, const struct pl_json_node *object,
                   const struct pl_gemini_field fields[], size_t n,
                   const struct pl_json_node *ret[])
{
    for (size_t i = 0; i < n; i++)
        ret[i] = NULL;
    if (!pl_json_is(object, PL_JSON_OBJECT))
        return;
    for (const struct pl_json_node *key = pl_json_first_member(object); key < pl_json_end(object);
         key = pl_json_next_member(key))
        for (size_t i = 0; i < n; i++)
            if (names(doc, key, &fields[i])) {
                ret[i] = pl_json_kind(key + 1) == PL_JSON_NULL ? NULL : key + 1;
                break;
            }
}

void pl_gemini_keep(struct pl_stream *s, struct pl_buf *buf, struct pl_str text)
{
    pl_buf_clear(buf);
    pl_buf_add(buf, text);
    if (buf->status != PL_OK)
        s->status = buf->status;
}

/* ---- calls ---- */

/* Escapes JSON text as the contents of a string. */
static struct pl_str quoted(struct pl_stream *s, struct pl_str json)
{
    PL_CLEANUP_BUF struct pl_buf buf;
    pl_buf_init(&buf, 0);
    pl_json_quote(&buf, json);
    if (buf.status != PL_OK) {
        s->status = buf.status;
        return (struct pl_str){0};
    }
    struct pl_str raw = pl_arena_dup(&s->arena, pl_str_slice(pl_buf_str(&buf), 1, buf.len - 1));
    if (!raw.ptr)
        s->status = PL_NOMEM;
    return raw;
}

static void open_call(const struct pl_gemini_reading *x, uint32_t choice, uint32_t key,
                      struct pl_str id, struct pl_str name)
{
    char made[32];
    struct pl_buf made_id = {.ptr = made, .cap = sizeof made - 1, .max = sizeof made - 1};
    if (!id.len) {
        pl_buf_addf(&made_id, "call_%u", (unsigned)++x->r->n_made);
        id = pl_buf_str(&made_id);
    }
    pl_stream_open(x->s, choice, key,
                   &(struct pl_delta){.part_kind = PL_PART_CALL, .id = id, .name = name});
}

/* Emits arguments (JSON text), the signature, and the end of an open call. */
static void end_call(struct pl_stream *s, uint32_t choice, uint32_t key, struct pl_str args,
                     struct pl_str signature)
{
    const struct pl_open_part *part = pl_stream_find(s, choice, key);
    if (!part)
        return;
    struct pl_delta delta = {.kind = PL_DELTA_FRAGMENT,
                             .choice = choice,
                             .part = part->part,
                             .part_kind = PL_PART_CALL,
                             .raw = quoted(s, args.len ? args : PL_STR("{}"))};
    pl_stream_emit(s, &delta);
    if (signature.len) {
        delta.kind = PL_DELTA_SIGNATURE;
        delta.raw = signature;
        pl_stream_emit(s, &delta);
    }
    pl_stream_close(s, choice, key);
}

void pl_gemini_end_call(struct pl_stream *s, struct pl_gemini_reader *r, uint32_t choice)
{
    struct pl_gemini_call *call = &r->choices[choice].call;
    if (!call->is_open)
        return;
    call->is_open = false;
    if (!call->whole.len)
        pl_gemini_args_write(&call->args, &call->whole);
    if (call->whole.status != PL_OK)
        s->status = call->whole.status;
    end_call(s, choice, call->key, pl_buf_str(&call->whole), pl_buf_str(&call->signature));
    pl_gemini_args_deinit(&call->args);
}

void pl_gemini_finish_call(struct pl_stream *s, struct pl_gemini_reader *r, uint32_t choice)
{
    if (!choice)
        pl_gemini_release_calls(s, r);
    if (s->passes_through)
        pl_gemini_end_call(s, r, choice);
    else
        r->is_torn |= r->choices[choice].call.is_open;
}

static void begin_call(const struct pl_gemini_reading *x, uint32_t choice, struct pl_str id,
                       struct pl_str name)
{
    struct pl_gemini_call *call = &x->r->choices[choice].call;
    pl_gemini_finish_call(x->s, x->r, choice);
    pl_gemini_end_text(x->s, x->r, choice);
    call->is_open = true;
    call->key = PL_GEMINI_KEY_CALL + x->r->n_calls++;
    pl_gemini_args_init(&call->args);
    pl_buf_clear(&call->whole);
    pl_buf_clear(&call->signature);
    pl_gemini_keep(x->s, &call->id, id);
    x->r->choices[choice].has_call = true;
    open_call(x, choice, call->key, id, name);
}

static enum pl_status add_pieces(const struct pl_gemini_reading *x, struct pl_gemini_call *call,
                                 const struct pl_json_node *partials)
{
    enum pl_status status = PL_OK;
    if (!partials)
        return PL_OK;
    if (!pl_json_is(partials, PL_JSON_ARRAY))
        return pl_fail(x->err, PL_INVALID, "the partialArgs of a call must be an array");
    for (const struct pl_json_node *n = pl_json_first(partials);
         n < pl_json_end(partials) && status == PL_OK; n = pl_json_next(n))
        status = pl_gemini_args_add(&call->args, x->doc, n, x->err);
    return status;
}

/* Some servers give the arguments as JSON text. */
static enum pl_status add_whole(const struct pl_gemini_reading *x, struct pl_gemini_call *call,
                                const struct pl_json_node *args)
{
    struct pl_str text;
    if (!args || (pl_json_is(args, PL_JSON_OBJECT) && !pl_json_count(args)))
        return PL_OK;
    if (pl_json_is(args, PL_JSON_OBJECT))
        text = pl_json_span(x->doc, args);
    else if (!pl_json_is(args, PL_JSON_STRING))
        return pl_fail(x->err, PL_INVALID, "the args of a call must be an object");
    else if (pl_json_text(&x->s->arena, x->doc, args, &text) != PL_OK)
        return PL_NOMEM;
    pl_gemini_keep(x->s, &call->whole, text);
    return PL_OK;
}

static bool has_content(const struct pl_json_node *container)
{
    return container && !(pl_json_is_container(container) && !pl_json_count(container));
}

enum pl_status pl_gemini_read_call(const struct pl_gemini_reading *x, uint32_t choice,
                                   const struct pl_json_node *node, struct pl_str signature)
{
    enum { ID, NAME, ARGS, PARTIAL, CONTINUES, N };
    static const struct pl_gemini_field fields[N] = {
        PL_GEMINI_FIELD("id", "id"),
        PL_GEMINI_FIELD("name", "name"),
        PL_GEMINI_FIELD("args", "args"),
        PL_GEMINI_FIELD("partialArgs", "partial_args"),
        PL_GEMINI_FIELD("willContinue", "will_continue"),
    };
    const struct pl_json_node *f[N];
    struct pl_gemini_call *call = &x->r->choices[choice].call;
    pl_gemini_get(x->doc, node, fields, N, f);
    struct pl_str id = pl_pick_raw(x->doc, f[ID]), name = pl_pick_raw(x->doc, f[NAME]);
    /* Only the first piece of a call has its name; some servers repeat it, together with the id. */
    bool is_more = call->is_open && (!name.len || (id.len && pl_str_eq(id, pl_buf_str(&call->id))));
    if (!is_more && !name.len && (has_content(f[ARGS]) || has_content(f[PARTIAL])))
        return pl_fail(x->err, PL_INVALID, "arguments come without the name of their call");
    if (!is_more && !name.len)
        return PL_OK;
    if (!is_more)
        begin_call(x, choice, id, name);
    if (signature.len)
        pl_gemini_keep(x->s, &call->signature, signature);
    enum pl_status status = add_whole(x, call, f[ARGS]);
    if (status == PL_OK)
        status = add_pieces(x, call, f[PARTIAL]);
    if (status == PL_OK && !pl_json_is(f[CONTINUES], PL_JSON_TRUE))
        pl_gemini_end_call(x->s, x->r, choice);
    return status;
}
