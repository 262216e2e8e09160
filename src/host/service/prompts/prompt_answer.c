/* The last turn of a session as JSON and as text, and the usage of its turns. */
#include "service/prompts/prompt_answer.h"

#include "json/number.h"
#include "json/text.h"
#include "store/store.h"

enum { NEWEST_TURNS = 16 };

/* The texts of a turn, concatenated, and its error. */
static enum pl_status read_said(struct pl_arena *arena, struct pl_prompt_said *said)
{
    struct pl_json_doc doc;
    PL_CLEANUP_BUF struct pl_buf words;
    pl_buf_init(&words, 0);
    enum pl_status status = pl_json_parse(arena, said->turn, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *blocks = pl_json_get(&doc, doc.root, PL_STR("blocks"));
    const struct pl_json_node *error = pl_json_get(&doc, doc.root, PL_STR("error"));
    for (const struct pl_json_node *block = pl_json_first(blocks);
         block < pl_json_end(blocks) && status == PL_OK; block = pl_json_next(block)) {
        const struct pl_json_node *type = pl_json_get(&doc, block, PL_STR("type"));
        const struct pl_json_node *content = pl_json_get(&doc, block, PL_STR("content"));
        struct pl_str text = {0};
        if (!type || !content || pl_json_kind(content) != PL_JSON_STRING ||
            !pl_json_text_is(&doc, type, PL_STR("text")))
            continue;
        status = pl_json_text(arena, &doc, content, &text);
        pl_buf_add(&words, text);
    }
    if (status == PL_OK && error && pl_json_kind(error) == PL_JSON_STRING)
        status = pl_json_text(arena, &doc, error, &said->error);
    said->text = words.len ? pl_arena_dup(arena, pl_buf_str(&words)) : PL_STR("");
    return status == PL_OK && (words.status != PL_OK || !said->text.ptr) ? PL_NOMEM : status;
}

static void add_count(const struct pl_json_doc *doc, const struct pl_json_node *usage,
                      const char *name, int64_t *sum)
{
    const struct pl_json_node *node = pl_json_get(doc, usage, pl_str_of(name));
    int64_t n = 0;
    if (pl_json_is(node, PL_JSON_NUMBER) && pl_json_number_int64(pl_json_span(doc, node), &n))
        *sum += n;
}

/* Whether the turn is the assistant's; also adds its usage. Turns come newest first. */
static enum pl_status look_at(struct pl_arena *arena, struct pl_str turn,
                              struct pl_prompt_said *said, bool *ret_is_assistants)
{
    struct pl_json_doc doc;
    enum pl_status status = pl_json_parse(arena, turn, &pl_json_own, &doc, NULL);
    if (status != PL_OK)
        return status;
    const struct pl_json_node *role = pl_json_get(&doc, doc.root, PL_STR("role"));
    const struct pl_json_node *model = pl_json_get(&doc, doc.root, PL_STR("model"));
    const struct pl_json_node *usage = pl_json_get(&doc, doc.root, PL_STR("usage"));
    *ret_is_assistants = role && pl_json_text_is(&doc, role, PL_STR("assistant"));
    if (!said->model.len && pl_json_is(model, PL_JSON_STRING)) {
        struct pl_str name; /* may be a view of the turn, which is freed */
        status = pl_json_text(arena, &doc, model, &name);
        if (status == PL_OK)
            said->model = pl_arena_dup(arena, name);
        if (status == PL_OK && !said->model.ptr)
            status = PL_NOMEM;
    }
    if (pl_json_is(usage, PL_JSON_OBJECT)) {
        add_count(&doc, usage, "input_tokens", &said->n_input);
        add_count(&doc, usage, "output_tokens", &said->n_output);
    }
    return status;
}

enum pl_status pl_prompt_said_read(struct pl_store *store, struct pl_arena *arena,
                                   struct pl_str session_id, struct pl_prompt_said *said,
                                   struct pl_error *err)
{
    struct pl_turn_query query = {
        .session_id = session_id,
        .loop_id = PL_STR("root"),
        .before = INT64_MAX,
        .after = -1,
        .changed_after = -1,
        .limit = NEWEST_TURNS,
        .is_newest_first = true,
    };
    struct pl_turn_page page = {0};
    enum pl_status status = pl_store_turn_list(store, arena, &query, &page, err);
    for (size_t i = page.n_items; i > 0 && status == PL_OK; i--) {
        PL_CLEANUP_BUF struct pl_buf turn;
        bool is_assistants = false;
        pl_buf_init(&turn, 0);
        status = pl_turn_row_write(&page.items[i - 1], &turn);
        if (status == PL_OK)
            status = look_at(arena, pl_buf_str(&turn), said, &is_assistants);
        if (status != PL_OK || !is_assistants || said->turn.ptr)
            continue;
        said->turn = pl_arena_dup(arena, pl_buf_str(&turn));
        status = said->turn.ptr ? PL_OK : PL_NOMEM;
    }
    if (status == PL_OK && said->turn.ptr)
        status = read_said(arena, said);
    return status;
}
