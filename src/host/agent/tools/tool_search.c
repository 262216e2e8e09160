/* Deferred tools. If the definitions take more than a tenth of the model's window, those of
 * deferred tools are left out, and one tool finds them: tool_search. The tools that it finds are in
 * the conversation, and are offered from then on. */
#include "agent/tools/ext_tool.h"
#include "agent/tools/tool_int.h"
#include "base/ascii.h"
#include "json/text.h"
#include "json/write.h"

enum { BYTES_PER_TOKEN = 4, MAX_FOUND = 10 };

static const char definition[] =
    "{\"name\":\"tool_search\",\"description\":\"Find further tools by words of their names and "
    "descriptions. There are more tools than those you see; search before you say that "
    "something cannot be done. A tool that was found can be called from the next turn on.\","
    "\"input_schema\":{\"type\":\"object\",\"properties\":{\"query\":{\"type\":\"string\","
    "\"minLength\":1,\"maxLength\":500}},\"required\":[\"query\"],\"additionalProperties\":false}}";

/* A name in the conversation was found or called before. */
static bool is_found(struct pl_str turns, struct pl_str name)
{
    return turns.len && memmem(turns.ptr, turns.len, name.ptr, name.len);
}

static bool is_hidden(const struct pl_ext_offered *tools, size_t n, struct pl_str name,
                      struct pl_str turns)
{
    for (size_t i = 0; i < n; i++)
        if (pl_str_eq(tools[i].name, name))
            return tools[i].is_deferred && !is_found(turns, name);
    return false;
}

enum pl_status pl_tools_defer(struct pl_arena *arena, struct pl_ext_server *ext,
                              struct pl_str user_id, int64_t window, struct pl_str turns,
                              struct pl_str *tools)
{
    struct pl_ext_offered *offered = NULL;
    size_t n = 0, n_hidden = 0;
    struct pl_json_doc doc;
    PL_CLEANUP_BUF struct pl_buf text;
    if (!pl_ext_server_has_any(ext) || window <= 0 ||
        (int64_t)(tools->len / BYTES_PER_TOKEN) <= window / 10)
        return PL_OK;
    pl_buf_init(&text, 0);
    enum pl_status status = pl_ext_tools_of(ext, arena, user_id, &offered, &n);
    if (status == PL_OK)
        status = pl_json_parse(arena, *tools, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '[');
    for (const struct pl_json_node *one = pl_json_first(doc.root); one < pl_json_end(doc.root);
         one = pl_json_next(one)) {
        struct pl_str name = {0};
        const struct pl_json_node *key = pl_json_member(&doc, one, "name", PL_JSON_STRING);
        if (key && pl_json_text(arena, &doc, key, &name) != PL_OK)
            return PL_NOMEM;
        if (is_hidden(offered, n, name, turns))
            n_hidden++;
        else
            pl_json_out_raw(&out, pl_json_span(&doc, one));
    }
    if (n_hidden)
        pl_json_out_raw(&out, PL_STR(definition));
    pl_json_out_close(&out, ']');
    struct pl_str kept = n_hidden ? pl_arena_dup(arena, pl_buf_str(&text)) : *tools;
    if (text.status != PL_OK || !kept.ptr)
        return PL_NOMEM;
    *tools = kept;
    return PL_OK;
}

/* --- searching -------------------------------------------------------------------------------- */

static bool has_word(struct pl_str text, struct pl_str word)
{
    for (size_t i = 0; i + word.len <= text.len; i++) {
        size_t k = 0;
        while (k < word.len && pl_ascii_lower(text.ptr[i + k]) == pl_ascii_lower(word.ptr[k]))
            k++;
        if (k == word.len)
            return true;
    }
    return false;
}

/* The number of words of the query that a tool has; a word in its name counts twice. */
static size_t score_of(const struct pl_ext_offered *tool, struct pl_str query)
{
    size_t score = 0;
    for (size_t from = 0; from < query.len;) {
        size_t n = 0;
        while (from + n < query.len && !pl_ascii_is_space(query.ptr[from + n]))
            n++;
        struct pl_str word = pl_str_slice(query, from, from + n);
        if (word.len > 1)
            score += has_word(tool->name, word) * 2u + has_word(tool->description, word);
        from += n + 1;
    }
    return score;
}

static enum pl_status search(struct pl_activity *activity, const struct pl_json_doc *arguments)
{
    struct pl_ext_offered *tools = NULL;
    struct pl_str query;
    size_t n = 0, n_found = 0;
    enum pl_status status = pl_tool_text(activity, arguments, "query", &query);
    if (status == PL_OK)
        status =
            pl_ext_tools_of(activity->server->ext, &activity->arena, activity->user_id, &tools, &n);
    if (status != PL_OK)
        return status;
    struct pl_json_out out = pl_json_out(&activity->text);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "tools");
    pl_json_out_open(&out, '[');
    for (size_t least = 2 * n + 8; least > 0 && n_found < MAX_FOUND; least--)
        for (size_t i = 0; i < n && n_found < MAX_FOUND; i++)
            if (score_of(&tools[i], query) == least) {
                pl_ext_tool_define(&out, &tools[i]);
                n_found++;
            }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    return activity->text.status;
}

bool pl_tool_search_run(struct pl_activity *activity)
{
    if (!pl_str_eq(activity->effect.tool_name, PL_STR(PL_TOOL_SEARCH)) ||
        !pl_ext_server_has_any(activity->server->ext))
        return false;
    pl_tool_work(activity, search);
    return true;
}
