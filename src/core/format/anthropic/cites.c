/* Reads Anthropic's citations and refusals. A citation is a member of its text block. */
#include "format/anthropic/words.h"
#include "format/pieces/citation.h"

bool pl_anthropic_cite(const struct pl_json_doc *doc, const struct pl_json_node *citation,
                       struct pl_cited *ret)
{
    const struct pl_json_node *type = pl_json_member(doc, citation, "type", PL_JSON_STRING);
    if (!type)
        return false;
    bool is_web = pl_json_text_is(doc, type, PL_STR("web_search_result_location"));
    bool is_search = pl_json_text_is(doc, type, PL_STR("search_result_location"));
    bool is_page = pl_json_text_is(doc, type, PL_STR("page_location"));
    bool is_titled = is_web || is_search;
    *ret = (struct pl_cited){
        .source_type = is_web      ? "web_search"
                       : is_search ? "search_result"
                       : is_page   ? "pdf_document"
                                   : "document",
        .body = citation,
        .source_id =
            pl_json_member(doc, citation, is_search ? "source" : "file_id", PL_JSON_STRING),
        .source_name =
            pl_json_member(doc, citation, is_titled ? "title" : "document_title", PL_JSON_STRING),
        .url = pl_json_member(doc, citation, "url", PL_JSON_STRING),
        .page = pl_json_member(doc, citation, "start_page_number", PL_JSON_NUMBER),
        .snippet = pl_json_member(doc, citation, "cited_text", PL_JSON_STRING),
    };
    return true;
}

/* stop_details of a refusal: {"type":"refusal","category","explanation"}. */
bool pl_anthropic_judge(const struct pl_json_doc *doc, const struct pl_json_node *ratings,
                        struct pl_json_out *categories)
{
    const struct pl_json_node *type = pl_json_member(doc, ratings, "type", PL_JSON_STRING);
    const struct pl_json_node *category = pl_json_member(doc, ratings, "category", PL_JSON_STRING);
    if (!type || !pl_json_text_is(doc, type, PL_STR("refusal")))
        return false;
    if (category)
        pl_json_out_raw(categories, pl_json_span(doc, category));
    return true;
}
