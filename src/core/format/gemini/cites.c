/* Reads Google's grounding, citations and safety ratings. They are beside the content of a
 * candidate: chunks are the sources; supports map byte ranges of the text to chunks;
 * citationMetadata has sources with their place in the text. */
#include "format/format.h"
#include "format/gemini/gemini_int.h"
#include "format/gemini/words.h"
#include "format/pieces/citation.h"
#include "json/number.h"

static const struct pl_json_node *either(const struct pl_json_doc *doc,
                                         const struct pl_json_node *object, const char *camel,
                                         const char *snake, enum pl_json_kind kind)
{
    const struct pl_json_node *n = pl_json_member(doc, object, camel, kind);
    return n ? n : pl_json_member(doc, object, snake, kind);
}

/* Reads a chunk {"web"|"retrievedContext"|"maps": {uri, title, text}}, its inner object, or a
 * citation source {uri, title, …}. */
bool pl_gemini_cite(const struct pl_json_doc *doc, const struct pl_json_node *citation,
                    struct pl_cited *ret)
{
    static const struct {
        const char *camel, *snake, *type;
    } kinds[] = {{"web", "web", "web_search"},
                 {"retrievedContext", "retrieved_context", "document"},
                 {"maps", "maps", "map"}};
    const struct pl_json_node *body = citation;
    const char *type = "web_search";
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct pl_json_node *n =
            either(doc, citation, kinds[i].camel, kinds[i].snake, PL_JSON_OBJECT);
        if (!n)
            continue;
        body = n;
        type = kinds[i].type;
    }
    *ret = (struct pl_cited){
        .source_type = type,
        .body = body,
        .source_id = either(doc, body, "documentName", "document_name", PL_JSON_STRING),
        .source_name = pl_json_member(doc, body, "title", PL_JSON_STRING),
        .url = pl_json_member(doc, body, "uri", PL_JSON_STRING),
        .snippet = pl_json_member(doc, body, "text", PL_JSON_STRING),
    };
    return ret->url || ret->source_name || ret->source_id;
}

bool pl_gemini_judge(const struct pl_json_doc *doc, const struct pl_json_node *ratings,
                     struct pl_json_out *categories)
{
    bool is_flagged = false;
    if (pl_json_is(ratings, PL_JSON_OBJECT)) {
        /* promptFeedback {blockReason, safetyRatings} */
        const struct pl_json_node *list =
            either(doc, ratings, "safetyRatings", "safety_ratings", PL_JSON_ARRAY);
        is_flagged = either(doc, ratings, "blockReason", "block_reason", PL_JSON_STRING);
        ratings = list;
    }
    if (!pl_json_is(ratings, PL_JSON_ARRAY))
        return is_flagged;
    for (const struct pl_json_node *n = pl_json_first(ratings); n < pl_json_end(ratings);
         n = pl_json_next(n)) {
        const struct pl_json_node *category = pl_json_member(doc, n, "category", PL_JSON_STRING);
        if (!pl_json_member(doc, n, "blocked", PL_JSON_TRUE))
            continue;
        if (category)
            pl_json_out_raw(categories, pl_json_span(doc, category));
        is_flagged = true;
    }
    return is_flagged;
}

/* ---- citations of a candidate ---- */

struct listing {
    struct pl_conv *conv;
    struct pl_cites_list *list;
    size_t message;
    size_t first_entry; /* of the chunks */
    size_t n_chunks;
};

/* The n-th part of the content; the last text if the index is missing. */
static size_t part_of(const struct listing *l, const struct pl_json_node *index)
{
    const struct pl_conv *conv = l->conv;
    const struct pl_message *m = &conv->messages.ptr[l->message];
    int64_t wanted = -1, n = -1;
    size_t last = SIZE_MAX;
    if (index)
        (void)pl_json_number_int64(pl_json_span(conv->doc, index), &wanted);
    for (uint32_t i = 0; i < m->n_parts; i++) {
        const struct pl_part *part = &pl_conv_parts(conv, m)[i];
        n++;
        if (part->kind != PL_PART_TEXT)
            continue;
        last = m->parts + i;
        if (n == wanted)
            return last;
    }
    return last;
}

static size_t place_in(const struct listing *l, size_t part, const struct pl_json_node *end)
{
    struct pl_str text = pl_conv_text(l->conv, l->conv->parts.ptr[part].text);
    int64_t at;
    if (!end || !pl_json_number_int64(pl_json_span(l->conv->doc, end), &at) || at < 0 ||
        (uint64_t)at > text.len)
        return text.len;
    /* Never inside a character. */
    while ((size_t)at < text.len && ((unsigned char)text.ptr[at] & 0xC0) == 0x80)
        at++;
    return (size_t)at;
}

static const struct pl_json_node *next_of(const struct pl_json_node *list,
                                          const struct pl_json_node *n)
{
    n = n ? pl_json_next(n) : NULL;
    return n && n < pl_json_end(list) ? n : NULL;
}

static void list_support(struct listing *l, const struct pl_json_node *support, bool *ret_is_said)
{
    const struct pl_json_doc *doc = l->conv->doc;
    const struct pl_json_node *segment = pl_json_member(doc, support, "segment", PL_JSON_OBJECT);
    const struct pl_json_node *indices =
        either(doc, support, "groundingChunkIndices", "grounding_chunk_indices", PL_JSON_ARRAY);
    size_t part = part_of(l, either(doc, segment, "partIndex", "part_index", PL_JSON_NUMBER));
    if (part == SIZE_MAX || !indices)
        return;
    size_t at = place_in(l, part, either(doc, segment, "endIndex", "end_index", PL_JSON_NUMBER));
    const struct pl_json_node *scores =
        either(doc, support, "confidenceScores", "confidence_scores", PL_JSON_ARRAY);
    const struct pl_json_node *score =
        scores && pl_json_count(scores) ? pl_json_first(scores) : NULL;
    for (const struct pl_json_node *n = pl_json_first(indices); n < pl_json_end(indices);
         n = pl_json_next(n), score = next_of(scores, score)) {
        int64_t chunk;
        if (!pl_json_is(n, PL_JSON_NUMBER) || !pl_json_number_int64(pl_json_span(doc, n), &chunk) ||
            chunk < 0 || (uint64_t)chunk >= l->n_chunks)
            continue;
        struct pl_cite_entry *entry = &l->list->entries.ptr[l->first_entry + (size_t)chunk];
        if (!entry->cited.score && pl_json_is(score, PL_JSON_NUMBER))
            entry->cited.score = score;
        pl_cites_anchor(l->conv, l->list, part, l->first_entry + (size_t)chunk, at);
        *ret_is_said = true;
    }
}

static void list_chunks(struct listing *l, const struct pl_json_node *grounding)
{
    struct pl_conv *conv = l->conv;
    const struct pl_json_node *chunks =
        either(conv->doc, grounding, "groundingChunks", "grounding_chunks", PL_JSON_ARRAY);
    const struct pl_json_node *supports =
        either(conv->doc, grounding, "groundingSupports", "grounding_supports", PL_JSON_ARRAY);
    l->first_entry = l->list->entries.len;
    size_t part = part_of(l, NULL);
    if (!chunks || part == SIZE_MAX)
        return;
    for (const struct pl_json_node *n = pl_json_first(chunks); n < pl_json_end(chunks);
         n = pl_json_next(n), l->n_chunks++) {
        struct pl_cited cited = {0};
        if (!pl_gemini_cite(conv->doc, n, &cited))
            cited = (struct pl_cited){.source_type = "other", .body = n};
        (void)pl_cites_add(conv, l->list, n, &cited, l->message);
    }
    bool is_said = false;
    if (supports && !l->list->has_pages_only)
        for (const struct pl_json_node *n = pl_json_first(supports); n < pl_json_end(supports);
             n = pl_json_next(n))
            list_support(l, n, &is_said);
    if (is_said) {
        pl_conv_loss(conv, PL_LOSS_DROPPED, supports,
                     "an anchor at the end of the segment says on which sources it rests, and a "
                     "source has its first score; the rest has no place");
    }
    /* Without supports, the chunks apply to the whole text. */
    for (size_t i = 0; i < l->n_chunks && !is_said; i++)
        pl_cites_anchor(conv, l->list, part, l->first_entry + i,
                        pl_conv_text(conv, conv->parts.ptr[part].text).len);
}

static void list_sources(struct listing *l, const struct pl_json_node *metadata)
{
    struct pl_conv *conv = l->conv;
    const struct pl_json_node *sources =
        pl_json_member(conv->doc, metadata, "citations", PL_JSON_ARRAY);
    if (!sources)
        sources = either(conv->doc, metadata, "citationSources", "citation_sources", PL_JSON_ARRAY);
    size_t part = part_of(l, NULL);
    if (!sources || part == SIZE_MAX)
        return;
    for (const struct pl_json_node *n = pl_json_first(sources); n < pl_json_end(sources);
         n = pl_json_next(n)) {
        struct pl_cited cited = {0};
        if (!pl_gemini_cite(conv->doc, n, &cited))
            continue;
        size_t entry = pl_cites_add(conv, l->list, n, &cited, l->message);
        const struct pl_json_node *end =
            either(conv->doc, n, "endIndex", "end_index", PL_JSON_NUMBER);
        pl_cites_anchor(conv, l->list, part, entry, place_in(l, part, end));
    }
}

void pl_gemini_list_cites(struct pl_conv *conv, struct pl_cites_list *list)
{
    const struct pl_json_node *root = conv->doc->root;
    const struct pl_json_node *candidates =
        conv->answer.is_set ? pl_json_member(conv->doc, root, "candidates", PL_JSON_ARRAY) : NULL;
    if (!candidates || !pl_json_count(candidates))
        return;
    struct listing l = {.conv = conv, .list = list};
    while (l.message < conv->messages.len &&
           conv->messages.ptr[l.message].role != PL_ROLE_ASSISTANT)
        l.message++;
    if (l.message == conv->messages.len)
        return;
    const struct pl_json_node *first = pl_json_first(candidates);
    list_sources(&l,
                 either(conv->doc, first, "citationMetadata", "citation_metadata", PL_JSON_OBJECT));
    list_chunks(
        &l, either(conv->doc, first, "groundingMetadata", "grounding_metadata", PL_JSON_OBJECT));
}
