/* To whom a task may go. A handoff is like a call: the holder gives the task to an agent that never
 * had it, or gives it back. So an agent receives a task once, and may get it back as often as it
 * gives it away. Going around (a -> b -> c -> a) and to and fro (a -> b -> a -> b) are circles. */
#include "handoff/handoff_int.h"

#include "base/vec.h"

/* The holders of the task as a stack: the last one has it, the one below gave it to that one. */
struct journey {
    PL_VEC(struct pl_str) chain; /* owned */
};

static enum pl_status arrive(struct journey *j, struct pl_str agent)
{
    size_t n = j->chain.len;
    if (n && pl_str_eq(j->chain.ptr[n - 1], agent))
        return PL_OK;
    if (n > 1 && pl_str_eq(j->chain.ptr[n - 2], agent)) {
        j->chain.len--;
        return PL_OK;
    }
    return pl_vec_push(&j->chain, agent) ? PL_OK : PL_NOMEM;
}

static enum pl_status travel(struct journey *j, struct pl_arena *arena,
                             const struct pl_json_doc *doc, const struct pl_json_node *visited)
{
    enum pl_status status = PL_OK;
    if (!visited || pl_json_kind(visited) != PL_JSON_ARRAY)
        return PL_OK;
    for (const struct pl_json_node *n = pl_json_first(visited);
         n < pl_json_end(visited) && status == PL_OK; n = pl_json_next(n)) {
        struct pl_str agent;
        if (pl_json_kind(n) != PL_JSON_STRING)
            continue;
        status = pl_json_text(arena, doc, n, &agent);
        if (status == PL_OK)
            status = arrive(j, agent);
    }
    return status;
}

bool pl_handoff_is_circle(struct pl_arena *arena, const struct pl_json_doc *doc,
                          struct pl_str source, struct pl_str target, enum pl_status *status)
{
    struct journey j = {0};
    const struct pl_json_node *visited = doc ? pl_handoff_node(doc, "visited", NULL) : NULL;
    enum pl_status failed = travel(&j, arena, doc, visited);
    if (failed == PL_OK)
        failed = arrive(&j, source);
    size_t n = j.chain.len;
    bool is_back = failed == PL_OK && n > 1 && pl_str_eq(j.chain.ptr[n - 2], target);
    pl_vec_deinit(&j.chain);
    if (failed != PL_OK)
        *status = failed;
    return pl_str_eq(source, target) || (!is_back && pl_handoff_has(doc, visited, target));
}
