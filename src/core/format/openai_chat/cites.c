/* Reads OpenAI's annotations and filters, in both of its APIs. Chat nests a url_citation in a
 * member of that name; Responses does not. */
#include "format/openai_chat/words.h"
#include "format/pieces/citation.h"

bool pl_openai_cite(const struct pl_json_doc *doc, const struct pl_json_node *annotation,
                    struct pl_cited *ret)
{
    const struct pl_json_node *type = pl_json_member(doc, annotation, "type", PL_JSON_STRING);
    const struct pl_json_node *nested =
        pl_json_member(doc, annotation, "url_citation", PL_JSON_OBJECT);
    const struct pl_json_node *body = nested ? nested : annotation;
    if (!type && !nested)
        return false;
    bool is_url = nested || pl_json_text_is(doc, type, PL_STR("url_citation"));
    *ret = (struct pl_cited){
        .source_type = is_url ? "web_search" : "file",
        .body = body,
        .source_id = pl_json_member(doc, body, "file_id", PL_JSON_STRING),
        .source_name = pl_json_member(doc, body, is_url ? "title" : "filename", PL_JSON_STRING),
        .url = pl_json_member(doc, body, "url", PL_JSON_STRING),
        .end = pl_json_member(doc, body, is_url ? "end_index" : "index", PL_JSON_NUMBER),
    };
    if (!is_url && pl_json_member(doc, body, "end_index", PL_JSON_NUMBER))
        ret->end = pl_json_member(doc, body, "end_index", PL_JSON_NUMBER);
    return true;
}

/* content_filter_results:
 * {"hate":{"filtered":false,"severity":"safe"},"jailbreak":{"detected":…}}. */
bool pl_openai_judge(const struct pl_json_doc *doc, const struct pl_json_node *ratings,
                     struct pl_json_out *categories)
{
    bool is_flagged = false;
    if (!pl_json_is(ratings, PL_JSON_OBJECT))
        return false;
    for (const struct pl_json_node *k = pl_json_first_member(ratings); k < pl_json_end(ratings);
         k = pl_json_next_member(k)) {
        bool is_filtered = pl_json_member(doc, k + 1, "filtered", PL_JSON_TRUE) ||
                           pl_json_member(doc, k + 1, "detected", PL_JSON_TRUE);
        if (is_filtered)
            pl_json_out_raw(categories, pl_json_span(doc, k));
        is_flagged |= is_filtered;
    }
    return is_flagged;
}
