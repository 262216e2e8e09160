/* The sources of Google's texts. citationMetadata comes in pieces, in any event; groundingMetadata is
 * repeated, and only the last one is complete. A citation ends its text in every other dialect, so
 * citations wait until another part begins, and the grounding until the answer ends: then no text
 * is divided. */
#include "stream/gemini/gemini_int.h"

#include "format/gemini/words.h"
#include "format/pieces/citation.h"
#include "stream/pick.h"

/* The list of that name, if it has elements. */
static const struct pl_json_node *list_of(const struct pl_json_doc *doc,
                                          const struct pl_json_node *metadata,
                                          const struct pl_gemini_field *name)
{
    const struct pl_json_node *list;
    pl_gemini_get(doc, metadata, name, 1, &list);
    return pl_json_is(list, PL_JSON_ARRAY) && pl_json_count(list) ? list : NULL;
}

void pl_gemini_keep_sources(const struct pl_gemini_reading *x, uint32_t choice,
                            const struct pl_json_node *citations,
                            const struct pl_json_node *grounding)
{
    static const struct pl_gemini_field names[] = {
        PL_GEMINI_FIELD("citations", "citations"),
        PL_GEMINI_FIELD("citationSources", "citation_sources"),
        PL_GEMINI_FIELD("groundingChunks", "grounding_chunks")};
    struct pl_gemini_choice *c = &x->r->choices[choice];
    if (x->s->passes_through)
        return;
    const struct pl_json_node *chunks = list_of(x->doc, grounding, &names[2]);
    const struct pl_json_node *list = list_of(x->doc, citations, &names[0]);
    if (!list)
        list = list_of(x->doc, citations, &names[1]);
    if (chunks || list)
        pl_repeat_spoil(&x->s->repeat);
    if (chunks)
        pl_gemini_keep(x->s, &c->chunks, pl_json_span(x->doc, chunks));
    if (!list)
        return;
    struct pl_str all = pl_json_span(x->doc, list);
    if (c->citations.len)
        pl_buf_addc(&c->citations, ',');
    pl_buf_add(&c->citations, pl_str_slice(all, 1, all.len - 1));
    if (c->citations.status != PL_OK)
        x->s->status = c->citations.status;
}

static void emit(struct pl_stream *s, const struct pl_json_doc *doc, uint32_t choice,
                 const struct pl_json_node *list)
{
    /* If another part has already ended the text, the citations get an empty text. */
    uint32_t part = pl_stream_open(s, choice, PL_GEMINI_KEY_TEXT,
                                   &(struct pl_delta){.part_kind = PL_PART_TEXT});
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        struct pl_cited cited = {0};
        if (!pl_json_is(n, PL_JSON_OBJECT) || !pl_gemini_cite(doc, n, &cited))
            continue;
        pl_stream_emit(s, &(struct pl_delta){.kind = PL_DELTA_CITATION,
                                             .choice = choice,
                                             .part = part,
                                             .part_kind = PL_PART_TEXT,
                                             .json = pl_json_span(doc, n),
                                             .url = pl_pick_raw(doc, cited.url),
                                             .title = pl_pick_raw(doc, cited.source_name)});
    }
}

/* Parses what was kept, in the event's arena. */
static bool parse(struct pl_stream *s, const char *before, struct pl_buf *kept, const char *after,
                  struct pl_json_doc *ret_doc)
{
    PL_CLEANUP_BUF struct pl_buf text;
    if (!kept->len || s->status != PL_OK)
        return false;
    pl_buf_init(&text, 0);
    pl_buf_adds(&text, before);
    pl_buf_add(&text, pl_buf_str(kept));
    pl_buf_adds(&text, after);
    pl_buf_clear(kept);
    struct pl_str copy = pl_arena_dup(&s->arena, pl_buf_str(&text));
    if (text.status == PL_OK && copy.ptr && pl_stream_json(s, copy, ret_doc, NULL) == PL_OK)
        return true;
    s->status = PL_NOMEM; /* it parsed before: memory ran out */
    return false;
}

static void emit_citations(struct pl_stream *s, struct pl_gemini_reader *r, uint32_t choice)
{
    struct pl_json_doc doc;
    if (parse(s, "[", &r->choices[choice].citations, "]", &doc))
        emit(s, &doc, choice, doc.root);
}

void pl_gemini_end_text(struct pl_stream *s, struct pl_gemini_reader *r, uint32_t choice)
{
    if (r->choices[choice].citations.len && pl_stream_find(s, choice, PL_GEMINI_KEY_TEXT))
        emit_citations(s, r, choice);
}

void pl_gemini_end_sources(struct pl_stream *s, struct pl_gemini_reader *r, uint32_t choice)
{
    struct pl_json_doc doc;
    emit_citations(s, r, choice);
    if (parse(s, "", &r->choices[choice].chunks, "", &doc))
        emit(s, &doc, choice, doc.root);
}

void pl_gemini_stream_release(struct pl_stream *s, void *state)
{
    struct pl_gemini_reader *r = state;
    pl_gemini_release_calls(s, r);
    for (uint32_t i = 0; r->is_ready && i < PL_GEMINI_MAX_CHOICES; i++)
        pl_gemini_end_text(s, r, i);
}
