#include "format/writer.h"

#include "base/utf8.h"
#include "json/text.h"

void pl_writer_init(struct pl_writer *w, struct pl_conv *conv, struct pl_buf *to)
{
    *w = (struct pl_writer){.conv = conv, .out = pl_json_out(to)};
}

void pl_writer_deinit(struct pl_writer *w)
{
    pl_vec_deinit(&w->links);
}

void pl_w_open(struct pl_writer *w, char bracket)
{
    pl_json_out_open(&w->out, bracket);
}

void pl_w_close(struct pl_writer *w, char bracket)
{
    pl_json_out_close(&w->out, bracket);
}

void pl_w_key(struct pl_writer *w, const char *key)
{
    pl_json_out_key(&w->out, key);
}

void pl_w_word(struct pl_writer *w, const char *word)
{
    pl_json_out_text(&w->out, pl_str_of(word));
}

void pl_w_bool(struct pl_writer *w, bool value)
{
    pl_json_out_bool(&w->out, value);
}

void pl_w_int(struct pl_writer *w, int64_t value)
{
    pl_json_out_int(&w->out, value);
}

void pl_w_null(struct pl_writer *w)
{
    pl_json_out_null(&w->out);
}

/* The piece of the source at `span` is said by the value written last, which took n_bytes. */
static void link_last(struct pl_writer *w, struct pl_str span, size_t n_bytes,
                      const struct pl_json_node *node)
{
    struct pl_link link = {
        .off = (uint32_t)(span.ptr - w->conv->doc->text.ptr),
        .len = (uint32_t)span.len,
        .at = (uint32_t)(w->out.buf->len - n_bytes),
    };
    pl_conv_fate(w->conv, node, PL_FATE_SAID);
    if (!pl_vec_push(&w->links, link))
        w->conv->status = PL_NOMEM;
}

/* Writes JSON text and links it. pl_json_out_raw puts the comma in front, so what counts is how
 * long the value itself is. */
static void put_linked(struct pl_writer *w, struct pl_str json, struct pl_str span,
                       const struct pl_json_node *node)
{
    pl_json_out_raw(&w->out, json);
    link_last(w, span, json.len, node);
}

static void put_quoted(struct pl_writer *w, struct pl_str text, struct pl_str span,
                       const struct pl_json_node *node)
{
    PL_CLEANUP_BUF struct pl_buf quoted;
    pl_buf_init(&quoted, 0);
    pl_json_quote(&quoted, text);
    if (quoted.status != PL_OK)
        w->conv->status = quoted.status;
    else
        put_linked(w, pl_buf_str(&quoted), span, node);
}

/* A string in quotes around bytes that are escaped already. */
static void put_raw_string(struct pl_writer *w, struct pl_str head, struct pl_str raw,
                           const struct pl_json_node *node)
{
    pl_json_out_raw(&w->out, PL_STR("\""));
    pl_buf_add(w->out.buf, head);
    pl_buf_add(w->out.buf, raw);
    pl_buf_addc(w->out.buf, '"');
    link_last(w, raw, head.len + raw.len + 2, node);
}

void pl_w_string(struct pl_writer *w, struct pl_val val)
{
    const struct pl_json_doc *doc = w->conv->doc;
    switch (val.kind) {
    case PL_VAL_NODE:
        if (pl_json_kind(val.node) == PL_JSON_STRING)
            pl_w_value(w, val);
        else
            put_quoted(w, pl_json_span(doc, val.node), pl_json_span(doc, val.node), val.node);
        break;
    case PL_VAL_SPAN:
        put_raw_string(w, PL_STR(""), val.str, val.node);
        break;
    default:
        pl_json_out_text(&w->out, val.str);
    }
}

/* Links what is written last in parts; `at` is where it starts. */
static void link_parts(struct pl_writer *w, const struct pl_val texts[], size_t n_texts,
                       const char *glue, size_t at)
{
    size_t n_before = 0, n_glue = pl_utf8_count(pl_str_of(glue));
    for (size_t i = 0; i < n_texts; i++) {
        size_t n_own = pl_utf8_count(pl_conv_text(w->conv, texts[i]));
        size_t n_next = i + 1 < n_texts ? pl_utf8_count(pl_conv_text(w->conv, texts[i + 1])) : 0;
        if (texts[i].kind == PL_VAL_NODE && pl_json_kind(texts[i].node) == PL_JSON_STRING) {
            struct pl_str span = pl_json_span(w->conv->doc, texts[i].node);
            struct pl_link link = {
                .off = (uint32_t)(span.ptr - w->conv->doc->text.ptr),
                .len = (uint32_t)span.len,
                .at = (uint32_t)at,
                .n_before = (uint32_t)n_before,
                .n_own = (uint32_t)n_own,
                .n_next = (uint32_t)n_next,
                .glue = glue,
            };
            if (!pl_vec_push(&w->links, link))
                w->conv->status = PL_NOMEM;
        }
        pl_conv_fate(w->conv, texts[i].node, PL_FATE_SAID);
        n_before += n_own + n_glue;
    }
}

void pl_w_joined(struct pl_writer *w, const struct pl_val texts[], size_t n_texts, const char *glue)
{
    PL_CLEANUP_BUF struct pl_buf text, quoted;
    pl_buf_init(&text, 0);
    pl_buf_init(&quoted, 0);
    for (size_t i = 0; i < n_texts; i++) {
        pl_buf_adds(&text, i ? glue : "");
        pl_buf_add(&text, pl_conv_text(w->conv, texts[i]));
    }
    pl_json_quote(&quoted, pl_buf_str(&text));
    if (text.status != PL_OK || quoted.status != PL_OK) {
        w->conv->status = PL_NOMEM;
        return;
    }
    pl_json_out_raw(&w->out, pl_buf_str(&quoted));
    link_parts(w, texts, n_texts, glue, w->out.buf->len - quoted.len);
}

void pl_w_value(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_NODE)
        put_linked(w, pl_json_span(w->conv->doc, val.node), pl_json_span(w->conv->doc, val.node),
                   val.node);
    else if (val.kind == PL_VAL_JSON)
        pl_json_out_raw(&w->out, val.str);
    else
        pl_w_string(w, val);
}

static struct pl_str trimmed(struct pl_str s)
{
    while (s.len && strchr(" \t\r\n", s.ptr[0]))
        s = pl_str_slice(s, 1, s.len);
    while (s.len && strchr(" \t\r\n", s.ptr[s.len - 1]))
        s.len--;
    return s;
}

bool pl_w_holds_object(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_NODE && pl_json_kind(val.node) != PL_JSON_STRING)
        return pl_json_kind(val.node) == PL_JSON_OBJECT;
    struct pl_str text = trimmed(pl_conv_text(w->conv, val));
    if (!text.len)
        return true;
    if (text.ptr[0] != '{')
        return false;
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    struct pl_json_opts opts = {.allows_lone_surrogates = true};
    enum pl_status status = pl_json_parse(&arena, text, &opts, &doc, NULL);
    if (status == PL_NOMEM)
        w->conv->status = PL_NOMEM;
    return status == PL_OK;
}

void pl_w_json(struct pl_writer *w, struct pl_val val)
{
    if (val.kind == PL_VAL_NONE || val.kind == PL_VAL_JSON ||
        (val.kind == PL_VAL_NODE && pl_json_kind(val.node) != PL_JSON_STRING)) {
        pl_w_value(w, val.kind == PL_VAL_NONE ? pl_val_json(PL_STR("{}")) : val);
        return;
    }
    struct pl_str text = trimmed(pl_conv_text(w->conv, val));
    if (!text.len) {
        pl_json_out_raw(&w->out, PL_STR("{}"));
        pl_w_mapped(w, val);
    } else if (val.kind == PL_VAL_NODE) {
        put_linked(w, text, pl_json_span(w->conv->doc, val.node), val.node);
    } else {
        pl_json_out_raw(&w->out, text);
    }
}

void pl_w_data_url(struct pl_writer *w, struct pl_val mime, struct pl_val data)
{
    struct pl_str type =
        pl_val_is_set(mime) ? pl_conv_text(w->conv, mime) : PL_STR("application/octet-stream");
    struct pl_str head = pl_conv_printf(w->conv, "data:%.*s;base64,", PL_STR_ARG(type));
    if (mime.kind == PL_VAL_NODE)
        pl_conv_fate(w->conv, mime.node, PL_FATE_SAID);
    struct pl_str raw = data.str;
    if (data.kind == PL_VAL_NODE)
        raw = pl_json_raw(w->conv->doc, data.node);
    if (data.kind == PL_VAL_NODE || data.kind == PL_VAL_SPAN)
        put_raw_string(w, head, raw, data.node);
    else
        pl_json_out_text(&w->out,
                         pl_conv_printf(w->conv, "%.*s%.*s", PL_STR_ARG(head), PL_STR_ARG(raw)));
}

void pl_w_opt_string(struct pl_writer *w, const char *key, struct pl_val val)
{
    if (!pl_val_is_set(val))
        return;
    pl_w_key(w, key);
    pl_w_string(w, val);
}

void pl_w_opt_value(struct pl_writer *w, const char *key, struct pl_val val)
{
    if (!pl_val_is_set(val))
        return;
    pl_w_key(w, key);
    pl_w_value(w, val);
}

void pl_w_mapped(struct pl_writer *w, struct pl_val val)
{
    pl_conv_fate(w->conv, val.node, PL_FATE_KNOWN);
}

void pl_w_loss(struct pl_writer *w, enum pl_loss_code code, struct pl_val val, const char *detail)
{
    pl_conv_loss(w->conv, code, val.node, "%s", detail);
}
