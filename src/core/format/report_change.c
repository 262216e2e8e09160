/* Adds notes to a loss report or removes notes from it, after the conversion. */
#include "format/report_change.h"

#include "format/loss_report.h"
#include "json/text.h"
#include "json/write.h"

struct changing {
    struct pl_json_doc doc;
    struct pl_json_out out;
    bool is_lossless;
};

static bool says(const struct pl_json_doc *doc, const struct pl_json_node *object, const char *key,
                 struct pl_str text)
{
    const struct pl_json_node *n = pl_json_member(doc, object, key, PL_JSON_STRING);
    return n && pl_json_text_is(doc, n, text);
}

static void copy_losses(struct changing *c, struct pl_str kept)
{
    const struct pl_json_node *losses =
        pl_json_member(&c->doc, c->doc.root, "losses", PL_JSON_ARRAY);
    for (const struct pl_json_node *n = losses ? pl_json_first(losses) : NULL;
         n && n < pl_json_end(losses); n = pl_json_next(n)) {
        if (kept.len && says(&c->doc, n, "pointer", kept))
            continue;
        pl_json_out_raw(&c->out, pl_json_span(&c->doc, n));
        c->is_lossless &= says(&c->doc, n, "code", PL_STR("moved")) ||
                          says(&c->doc, n, "code", PL_STR("synthesised"));
    }
}

static void put(struct changing *c, const char *key, struct pl_str text)
{
    pl_json_out_key(&c->out, key);
    pl_json_out_text(&c->out, text);
}

static void add_losses(struct changing *c, const struct pl_report_change *change)
{
    for (size_t i = 0; i < change->n_added; i++) {
        enum pl_loss_code code = change->added[i].code;
        pl_json_out_open(&c->out, '{');
        put(c, "code", pl_str_of(pl_loss_name(code)));
        put(c, "pointer", change->added[i].pointer);
        put(c, "detail", change->added[i].detail);
        pl_json_out_close(&c->out, '}');
        c->is_lossless &= code == PL_LOSS_MOVED || code == PL_LOSS_SYNTHESISED;
    }
}

enum pl_status pl_report_change(struct pl_buf *report, const struct pl_report_change *change)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf made;
    pl_arena_init(&arena, 0);
    pl_buf_init(&made, 0);
    struct changing c = {.out = pl_json_out(&made), .is_lossless = true};
    enum pl_status status = pl_json_parse(&arena, pl_buf_str(report), &pl_json_own, &c.doc, NULL);
    if (status != PL_OK)
        return status;
    pl_json_out_open(&c.out, '{');
    for (const char *const *key = (const char *const[]){"from", "to", NULL}; *key; key++) {
        const struct pl_json_node *n = pl_json_member(&c.doc, c.doc.root, *key, PL_JSON_STRING);
        if (!n)
            continue;
        pl_json_out_key(&c.out, *key);
        pl_json_out_raw(&c.out, pl_json_span(&c.doc, n));
    }
    pl_json_out_key(&c.out, "losses");
    pl_json_out_open(&c.out, '[');
    copy_losses(&c, change->kept);
    add_losses(&c, change);
    pl_json_out_close(&c.out, ']');
    pl_json_out_key(&c.out, "lossless");
    pl_json_out_bool(&c.out, c.is_lossless);
    pl_json_out_close(&c.out, '}');
    if (made.status != PL_OK)
        return made.status;
    pl_buf_clear(report);
    pl_buf_add(report, pl_buf_str(&made));
    return report->status;
}
