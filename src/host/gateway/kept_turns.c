/* The conversation of a stored answer, as input of OpenAI's Responses: the turns of its session. */
#include "gateway/call.h"

#include "service/request_options.h"
#include "store/gateway.h"

enum { PAGE = 200 };

enum pl_status pl_gateway_to_responses(struct pl_exchange *x, const struct pl_format *from,
                                       struct pl_str text, struct pl_json_doc *ret_doc,
                                       struct pl_error *err)
{
    struct pl_converted made;
    struct pl_convert_opts opts = {.from = from,
                                   .to = &pl_format_openai_responses,
                                   .max_items = PL_MAX_ITEMS,
                                   .keeps_provider = true};
    pl_converted_init(&made);
    struct pl_str kept = {0};
    enum pl_status status = pl_convert(text, &opts, &made, err);
    if (status == PL_OK) {
        kept = pl_arena_dup(&x->arena, pl_buf_str(&made.out));
        status = kept.ptr ? PL_OK : PL_NOMEM;
    }
    if (status == PL_OK)
        status = pl_json_parse(&x->arena, kept, &pl_json_own, ret_doc, err);
    pl_converted_deinit(&made);
    return status;
}

struct writing {
    struct pl_buf turns; /* owned */
    int64_t n_left;
};

static enum pl_status write_turn(struct pl_turn_walk *walk, const struct pl_turn_row *row)
{
    struct writing *writing = walk->ctx;
    if (writing->n_left-- <= 0) {
        walk->is_over = true;
        return PL_OK;
    }
    if (writing->turns.len > 1)
        pl_buf_addc(&writing->turns, ',');
    return pl_turn_row_write(row, &writing->turns);
}

enum pl_status pl_gateway_kept_turns(struct pl_exchange *x, struct pl_str session_id,
                                     int64_t n_most, struct pl_json_doc *ret_doc,
                                     struct pl_error *err)
{
    struct writing writing = {.n_left = n_most};
    pl_buf_init(&writing.turns, 0);
    struct pl_turn_walk walk = {
        .query = {.session_id = session_id,
                  .loop_id = PL_STR("root"),
                  .before = INT64_MAX,
                  .after = -1,
                  .changed_after = -1,
                  .limit = PAGE,
                  .is_terminal_only = true},
        .each = write_turn,
        .ctx = &writing,
    };
    pl_buf_addc(&writing.turns, '[');
    enum pl_status status = pl_turn_walk(&walk, x->shard->server->store, err);
    pl_buf_addc(&writing.turns, ']');
    if (status == PL_OK)
        status = writing.turns.status;
    if (status == PL_OK)
        status =
            pl_gateway_to_responses(x, &pl_format_turns, pl_buf_str(&writing.turns), ret_doc, err);
    pl_buf_deinit(&writing.turns);
    return status;
}
