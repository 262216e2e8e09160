/* The table of exports, and the report of a conversion that ends in one. */
#include "promptfile/export.h"

#include "json/edit/edit.h"
#include "json/parse/lenient.h"
#include "json/text.h"
#include "json/write.h"

const struct pl_export *const pl_exports[] = {
    &pl_export_yaml,
    &pl_export_markdown,
    &pl_export_curl,
    &pl_export_claude,
    &pl_export_claude_command,
    &pl_export_claude_skill,
    NULL,
};

const struct pl_export *pl_export_find(struct pl_str name)
{
    for (const struct pl_export *const *e = pl_exports; *e; e++)
        if (pl_str_eq(pl_str_of((*e)->name), name))
            return *e;
    return NULL;
}

/* Whether the objects have a code that --strict refuses: all but moved and synthesised. */
static bool has_loss(const struct pl_json_doc *doc, const struct pl_json_node *list)
{
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        struct pl_str code = pl_json_raw(doc, pl_json_get(doc, n, PL_STR("code")));
        if (!pl_str_eq(code, PL_STR("moved")) && !pl_str_eq(code, PL_STR("synthesised")))
            return true;
    }
    return false;
}

/* Pointers into the chat mean nothing in a source of another format: there they point to the whole
 * document. */
static void add_losses(struct pl_json_out *out, const struct pl_json_doc *doc,
                       const struct pl_json_node *list, bool has_pointers)
{
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        pl_json_out_open(out, '{');
        for (const struct pl_json_node *k = pl_json_first_member(n); k < pl_json_end(n);
             k = pl_json_next_member(k)) {
            bool is_pointer = pl_str_eq(pl_json_raw(doc, k), PL_STR("pointer"));
            pl_json_out_key_str(out, pl_json_raw(doc, k));
            pl_json_out_raw(out, is_pointer && !has_pointers ? PL_STR("\"\"")
                                                             : pl_json_span(doc, k + 1));
        }
        pl_json_out_close(out, '}');
    }
}

/* Joins the reports: the conversion, its target, and the losses of the export. */
static enum pl_status join_reports(const struct pl_export *export, struct pl_converted *made,
                                   const struct pl_buf *losses, bool *ret_is_lossless)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf text, whole;
    struct pl_json_doc before, added;
    pl_arena_init(&arena, 0);
    pl_buf_init(&text, 0);
    pl_buf_init(&whole, 0);
    pl_buf_addf(&text, "[%.*s]", (int)losses->len, losses->len ? losses->ptr : "");
    enum pl_status status = text.status;
    if (status == PL_OK)
        status = pl_json_parse(&arena, pl_buf_str(&text), &pl_json_made, &added, NULL);
    if (status == PL_OK)
        status = pl_json_parse(&arena, pl_buf_str(&made->report), &pl_json_made, &before, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *list = pl_json_get(&before, before.root, PL_STR("losses"));
    struct pl_json_out out = pl_json_out(&whole);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "from");
    pl_json_out_raw(&out, pl_json_span(&before, pl_json_get(&before, before.root, PL_STR("from"))));
    pl_json_out_key(&out, "to");
    pl_json_out_text(&out, pl_str_of(export->name));
    pl_json_out_key(&out, "losses");
    pl_json_out_open(&out, '[');
    add_losses(&out, &before, list, true);
    add_losses(&out, &added, added.root, made->from == &pl_format_structured_chat);
    pl_json_out_close(&out, ']');
    *ret_is_lossless = !has_loss(&before, list) && !has_loss(&added, added.root);
    pl_json_out_key(&out, "lossless");
    pl_json_out_bool(&out, *ret_is_lossless);
    pl_json_out_close(&out, '}');
    pl_buf_clear(&made->report);
    pl_buf_add(&made->report, pl_buf_str(&whole));
    return whole.status == PL_OK ? made->report.status : whole.status;
}

enum pl_status pl_export_converted(const struct pl_export *export, const struct pl_export_how *how,
                                   bool is_strict, struct pl_converted *made, struct pl_buf *to,
                                   struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf losses;
    pl_buf_init(&losses, 0);
    bool is_lossless = true;
    struct pl_export_how with_losses = *how;
    with_losses.losses = &losses;
    enum pl_status status = export->write(to, pl_buf_str(&made->out), &with_losses, err);
    if (status == PL_OK)
        status = losses.status;
    if (status == PL_OK && made->report.len)
        status = join_reports(export, made, &losses, &is_lossless);
    if (status == PL_OK && is_strict && !is_lossless)
        return pl_fail(err, PL_INVALID,
                       "%s cannot say everything that is in this prompt; the report lists what",
                       export->name);
    return status;
}

enum pl_status pl_export_set_model(struct pl_str chat, struct pl_str model, struct pl_buf *to,
                                   struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf value;
    struct pl_json_notes notes;
    struct pl_json_doc doc;
    struct pl_json_edit edit;
    pl_arena_init(&arena, 0);
    pl_buf_init(&value, 0);
    enum pl_status status = pl_json_parse_lenient(&arena, chat, &pl_json_any, &doc, &notes, err);
    if (status != PL_OK)
        return status;
    bool has_config = pl_json_member(&doc, doc.root, "config", PL_JSON_OBJECT);
    pl_buf_adds(&value, has_config ? "" : "{\"model\":");
    pl_json_quote(&value, model);
    pl_buf_adds(&value, has_config ? "" : "}");
    pl_json_edit_init(&edit, &arena, &doc);
    status = value.status;
    if (status == PL_OK)
        status = pl_json_edit_set(&edit, has_config ? PL_STR("/config/model") : PL_STR("/config"),
                                  pl_buf_str(&value), err);
    if (status == PL_OK)
        status = pl_json_edit_write(&edit, to);
    pl_json_edit_deinit(&edit);
    return status;
}
