/* The variables of a prompt: renders it without values and lists the variables declared or
 * found. */
#include "prompt/diff.h"
#include "prompt/render_int.h"

#include "json/text.h"
#include "json/write.h"

static void put_raw(struct pl_json_out *out, const struct pl_json_doc *doc, const char *key,
                    const struct pl_json_node *value)
{
    pl_json_out_key(out, key);
    if (!value) {
        pl_json_out_null(out);
        return;
    }
    pl_json_out_raw(out, PL_STR(""));
    pl_json_write_min(out->buf, doc, value);
}

/* A variable is required if it is declared so, or if a text uses it and it has no default. A
 * default in a text comes before a declared one. */
static void put_variable(struct pl_json_out *out, const struct pl_render_run *r,
                         const struct pl_render_variable *v)
{
    const struct pl_json_node *declared = v->declared, *preset = NULL;
    bool is_required = v->missing_at != NULL;
    if (declared) {
        is_required |= pl_json_member(&r->doc, declared, "required", PL_JSON_TRUE) != NULL;
        preset = pl_json_get(&r->doc, declared, PL_STR("default"));
    }
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "name");
    pl_json_out_text(out, v->name);
    pl_json_out_key(out, "declared");
    pl_json_out_bool(out, declared != NULL);
    pl_json_out_key(out, "found");
    pl_json_out_bool(out, v->is_used);
    pl_json_out_key(out, "required");
    pl_json_out_bool(out, is_required);
    put_raw(out, &r->doc, "type",
            declared ? pl_json_member(&r->doc, declared, "type", PL_JSON_STRING) : NULL);
    if (v->has_preset) {
        pl_json_out_key(out, "default");
        pl_json_out_text(out, v->preset);
    } else {
        put_raw(out, &r->doc, "default", preset);
    }
    put_raw(out, &r->doc, "options",
            declared ? pl_json_member(&r->doc, declared, "options", PL_JSON_ARRAY) : NULL);
    pl_json_out_close(out, '}');
}

static enum pl_status put_all(struct pl_buf *to, const struct pl_render_run *r)
{
    PL_CLEANUP_BUF struct pl_buf list;
    pl_buf_init(&list, 0);
    struct pl_json_out out = pl_json_out(&list);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < r->variables.len; i++)
        put_variable(&out, r, &r->variables.ptr[i]);
    pl_json_out_close(&out, ']');
    if (list.status == PL_OK)
        pl_buf_add(to, pl_buf_str(&list));
    return list.status == PL_OK ? to->status : list.status;
}

/* Treats a text prompt as a chat of one text. */
static struct pl_str as_chat(struct pl_buf *chat, struct pl_str text)
{
    pl_buf_adds(chat, "{\"system_prompt\":");
    pl_json_quote(chat, text);
    pl_buf_addc(chat, '}');
    return pl_buf_str(chat);
}

enum pl_status pl_prompt_variables(struct pl_arena *arena, const struct pl_prompt_text *prompt,
                                   struct pl_buf *out, struct pl_error *err)
{
    (void)arena;
    PL_CLEANUP_BUF struct pl_buf chat;
    pl_buf_init(&chat, 0);
    struct pl_render_opts opts = {.is_preview = true};
    struct pl_rendered made;
    struct pl_render_run r;
    pl_rendered_init(&made);
    pl_render_begin(&r, &opts, &made);
    struct pl_str text = prompt->is_structured ? prompt->content : as_chat(&chat, prompt->content);
    enum pl_status status = chat.status;
    if (status == PL_OK)
        status = pl_render_search(&r, text, err);
    if (status == PL_OK)
        status = put_all(out, &r);
    if (status == PL_NOMEM)
        status = pl_fail(err, status, "out of memory");
    pl_render_end(&r);
    pl_rendered_deinit(&made);
    return status;
}
