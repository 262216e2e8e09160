/* The metadata of an answer (seed 001, A.6): cost, duration, model, finish reason, session and
 * trace, ratings of a filter, citations.
 *
 * Usage and timing are the turn's, under the seed's names; the rest comes with the model's answer.
 * Unknown members are kept after the others. */
#include "session/turn/turn_int.h"

#include "json/json.h"
#include "json/text.h"

/* A JSON object in an arena of its own; empty if the value is not an object. */
struct object {
    struct pl_json_doc doc;
    bool is_set;
};

static struct object parse(struct pl_turn *turn, struct pl_arena *arena, struct pl_str json)
{
    struct object o = {0};
    if (!json.ptr)
        return o;
    enum pl_status status = pl_json_parse(arena, json, &pl_json_own, &o.doc, NULL);
    turn->is_oom |= status == PL_NOMEM;
    o.is_set = status == PL_OK && pl_json_is(o.doc.root, PL_JSON_OBJECT);
    return o;
}

static const struct pl_json_node *member(const struct object *o, const char *key)
{
    const struct pl_json_node *n =
        o->is_set ? pl_json_get(&o->doc, o->doc.root, pl_str_of(key)) : NULL;
    return n && !pl_json_is(n, PL_JSON_NULL) ? n : NULL;
}

static void put(struct pl_json_out *out, const char *key, const struct object *from,
                const char *name)
{
    const struct pl_json_node *n = member(from, name);
    if (n)
        pl_out_json(out, key, pl_json_span(&from->doc, n));
}

static void put_usage(struct pl_json_out *out, const struct object *usage,
                      const struct object *timing)
{
    if (!usage->is_set && !member(timing, "cost_usd"))
        return;
    pl_json_out_key(out, "token_usage");
    pl_json_out_open(out, '{');
    put(out, "prompt_tokens", usage, "input_tokens");
    put(out, "completion_tokens", usage, "output_tokens");
    put(out, "total_cost_usd", timing, "cost_usd");
    const struct pl_json_node *root = usage->is_set ? usage->doc.root : NULL;
    for (const struct pl_json_node *k = root ? pl_json_first_member(root) : NULL;
         root && k < pl_json_end(root); k = pl_json_next_member(k)) {
        if (pl_json_text_is(&usage->doc, k, PL_STR("input_tokens")) ||
            pl_json_text_is(&usage->doc, k, PL_STR("output_tokens")))
            continue;
        pl_json_out_raw(out, pl_json_span(&usage->doc, k));
        pl_buf_addc(out->buf, ':');
        pl_buf_add(out->buf, pl_json_span(&usage->doc, k + 1));
    }
    pl_json_out_close(out, '}');
}

static void put_latency(struct pl_json_out *out, const struct object *timing)
{
    if (!member(timing, "ttft_ms") && !member(timing, "total_ms"))
        return;
    pl_json_out_key(out, "latency_ms");
    pl_json_out_open(out, '{');
    put(out, "ttft", timing, "ttft_ms");
    put(out, "total_time", timing, "total_ms");
    pl_json_out_close(out, '}');
}

static const char *const said_names[] = {
    "model_version", "system_fingerprint", "finish_reason", "safety_check", "citation_map", NULL,
};

static bool is_said_name(const struct object *said, const struct pl_json_node *key)
{
    for (int i = 0; said_names[i]; i++)
        if (pl_json_text_is(&said->doc, key, pl_str_of(said_names[i])))
            return true;
    return false;
}

static void put_rest(struct pl_json_out *out, const struct object *said)
{
    const struct pl_json_node *root = said->is_set ? said->doc.root : NULL;
    for (const struct pl_json_node *k = root ? pl_json_first_member(root) : NULL;
         root && k < pl_json_end(root); k = pl_json_next_member(k)) {
        if (is_said_name(said, k))
            continue;
        pl_json_out_raw(out, pl_json_span(&said->doc, k));
        pl_buf_addc(out->buf, ':');
        pl_buf_add(out->buf, pl_json_span(&said->doc, k + 1));
    }
}

static void put_all(struct pl_json_out *out, const struct pl_turn *turn, struct pl_str session_id,
                    const struct object objects[3])
{
    const struct object *usage = &objects[0], *timing = &objects[1], *said = &objects[2];
    pl_json_out_open(out, '{');
    put_usage(out, usage, timing);
    put_latency(out, timing);
    if (member(said, "model_version"))
        put(out, "model_version", said, "model_version");
    else if (turn->model.len)
        pl_out_member(out, "model_version", turn->model);
    put(out, "system_fingerprint", said, "system_fingerprint");
    put(out, "finish_reason", said, "finish_reason");
    if (session_id.len)
        pl_out_member(out, "session_id", session_id);
    if (turn->trace_id.len)
        pl_out_member(out, "trace_id", turn->trace_id);
    put(out, "safety_check", said, "safety_check");
    put(out, "citation_map", said, "citation_map");
    put_rest(out, said);
    pl_json_out_close(out, '}');
}

void pl_turn_set_metadata(struct pl_turn *turn, struct pl_str session_id)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_arena_init(&arena, 0);
    pl_buf_init(&text, 0);
    const struct object objects[3] = {
        parse(turn, &arena, turn->usage),
        parse(turn, &arena, turn->timing),
        parse(turn, &arena, turn->end.metadata),
    };
    struct pl_json_out out = pl_json_out(&text);
    put_all(&out, turn, session_id, objects);
    turn->is_oom |= text.status != PL_OK;
    if (!turn->is_oom)
        turn->metadata = pl_turn_keep(turn, pl_buf_str(&text));
}

void pl_turn_reduce_metadata(struct pl_turn *turn)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    PL_CLEANUP_BUF struct pl_buf text;
    pl_arena_init(&arena, 0);
    pl_buf_init(&text, 0);
    struct object whole = parse(turn, &arena, turn->metadata);
    turn->metadata = (struct pl_str){0};
    if (!member(&whole, "citation_map"))
        return;
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '{');
    put(&out, "citation_map", &whole, "citation_map");
    pl_json_out_close(&out, '}');
    turn->is_oom |= text.status != PL_OK;
    if (!turn->is_oom)
        turn->metadata = pl_turn_keep(turn, pl_buf_str(&text));
}
