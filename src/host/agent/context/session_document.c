/* A session as a document of turns, with its settings, for a conversion to any format. */
#include "agent/context/session_document.h"

#include "agent/context/inline_media.h"
#include "agent/session_copy.h"
#include "json/text.h"
#include "json/write.h"

enum { PAGE = 1000 };

struct writing {
    struct pl_buf *to;
    size_t n;
};

static enum pl_status add_turn(struct pl_turn_walk *walk, const struct pl_turn_row *row)
{
    struct writing *w = walk->ctx;
    if (row->status == PL_TURN_STREAMING)
        return PL_OK;
    if (w->n++)
        pl_buf_addc(w->to, ',');
    return pl_turn_row_write(row, w->to);
}

enum pl_status pl_session_turns_write(struct pl_store *store, const struct pl_document_opts *opts,
                                      struct pl_buf *to, size_t *ret_n, struct pl_error *err)
{
    struct writing writing = {.to = to};
    struct pl_turn_walk walk = {
        .query =
            {
                .session_id = opts->session_id,
                .loop_id = opts->loop_id,
                .before = INT64_MAX,
                .after = -1,
                .changed_after = -1,
                .limit = PAGE,
            },
        .each = add_turn,
        .ctx = &writing,
    };
    pl_buf_addc(to, '[');
    enum pl_status status = pl_turn_walk(&walk, store, err);
    pl_buf_addc(to, ']');
    if (status == PL_OK)
        status = to->status;
    if (status == PL_OK && ret_n)
        *ret_n = writing.n;
    return status;
}

/* The members of the session's own settings, after the model. */
static enum pl_status put_settings(const struct pl_session_record *record, struct pl_str model,
                                   struct pl_json_out *out)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    pl_json_out_open(out, '{');
    if (model.len) {
        pl_json_out_key(out, "model");
        pl_json_out_text(out, model);
    }
    enum pl_status status = record->settings.len
                                ? pl_json_parse(&arena, record->settings, &pl_json_own, &doc, NULL)
                                : PL_OK;
    if (status == PL_OK && record->settings.len && pl_json_is(doc.root, PL_JSON_OBJECT))
        for (const struct pl_json_node *key = pl_json_first_member(doc.root);
             key < pl_json_end(doc.root) && status == PL_OK; key = pl_json_next_member(key)) {
            struct pl_str name;
            status = pl_json_text(&arena, &doc, key, &name);
            if (status != PL_OK || pl_str_eq(name, PL_STR("model")))
                continue;
            pl_json_out_key_str(out, name);
            pl_json_out_raw(out, pl_json_span(&doc, key + 1));
        }
    pl_json_out_close(out, '}');
    return status;
}

/* The system prompt, as a first turn: other formats have it as a message. */
static void put_system_prompt(const struct pl_session_record *record, struct pl_buf *turns,
                              size_t n_turns)
{
    PL_CLEANUP_BUF struct pl_buf rest;
    pl_buf_init(&rest, 0);
    pl_buf_add(&rest, pl_str_slice(pl_buf_str(turns), 1, turns->len));
    pl_buf_clear(turns);
    pl_buf_adds(turns, "[{\"loop_id\":\"root\",\"kind\":\"message\",\"role\":\"system\","
                       "\"status\":\"completed\",\"blocks\":[{\"type\":\"text\",\"content\":");
    pl_json_quote(turns, record->system_prompt);
    pl_buf_adds(turns, n_turns ? "}]}," : "}]}");
    pl_buf_add(turns, pl_buf_str(&rest));
    if (rest.status != PL_OK)
        turns->status = rest.status;
}

enum pl_status pl_session_document_write(struct pl_store *store,
                                         const struct pl_session_record *record,
                                         const struct pl_document_opts *opts, struct pl_str model,
                                         struct pl_buf *to, size_t *ret_n, struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf turns;
    pl_buf_init(&turns, 0);
    size_t n = 0;
    bool is_root = !opts->loop_id.len || pl_str_eq(opts->loop_id, PL_STR("root"));
    enum pl_status status = pl_session_turns_write(store, opts, &turns, &n, err);
    if (status != PL_OK)
        return status;
    if (is_root && record->system_prompt.len)
        put_system_prompt(record, &turns, n);
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_inline_opts media = {
        .user_id = record->user_id, .max_bytes = PL_INLINE_MAX_EXPORT, .max_tokens = -1};
    struct pl_inlined inlined;
    status = turns.status != PL_OK
                 ? turns.status
                 : pl_media_inline(store, &arena, &media, pl_buf_str(&turns), &inlined, err);
    if (status != PL_OK)
        return status;
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "turns");
    pl_json_out_raw(&out, inlined.turns);
    if (model.len || record->settings.len) {
        pl_json_out_key(&out, "settings");
        status = put_settings(record, model, &out);
    }
    pl_json_out_close(&out, '}');
    if (status == PL_OK)
        status = turns.status != PL_OK ? turns.status : to->status;
    if (status == PL_OK && ret_n)
        *ret_n = n;
    return status;
}
