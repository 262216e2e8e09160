#include "format/pieces/utterance.h"

/* Whether part `k` of a message begins an utterance of its own. */
static bool is_cut(const struct pl_part *parts, uint32_t k)
{
    return parts[k].kind == PL_PART_RESULT || (k > 0 && parts[k - 1].kind == PL_PART_RESULT);
}

static bool joins(const struct pl_conv *conv, const struct pl_message *m,
                  const struct pl_utterance *last)
{
    return m->is_phase_split && last && last->role == m->role && last->role != PL_ROLE_TOOL &&
           !(m->n_parts && pl_conv_parts(conv, m)[0].kind == PL_PART_RESULT);
}

enum pl_status pl_utterances_make(struct pl_conv *conv, struct pl_utterances *ret)
{
    size_t most = 0;
    for (size_t i = 0; i < conv->messages.len; i++)
        most += 1 + (size_t)conv->messages.ptr[i].n_parts;
    struct pl_utterance *list = pl_arena_alloc(conv->arena, most + 1, sizeof *list);
    const struct pl_part **parts = pl_arena_alloc(conv->arena, most + 1, sizeof *parts);
    if (!list || !parts)
        return conv->status = PL_NOMEM;
    size_t n = 0, n_parts = 0;
    for (size_t i = 0; i < conv->messages.len; i++) {
        const struct pl_message *m = &conv->messages.ptr[i];
        const struct pl_part *of_m = pl_conv_parts(conv, m);
        bool is_new = !joins(conv, m, n ? &list[n - 1] : NULL);
        for (uint32_t k = 0; k < m->n_parts || (k == 0 && is_new); k++) {
            if (k < m->n_parts && k > 0)
                is_new = is_cut(of_m, k);
            if (is_new)
                list[n++] = (struct pl_utterance){
                    .role = m->role, .message = m, .parts = parts + n_parts, .is_rest = k > 0};
            is_new = false;
            if (k == m->n_parts)
                break;
            if (of_m[k].kind == PL_PART_RESULT)
                list[n - 1].role = PL_ROLE_TOOL;
            parts[n_parts++] = &of_m[k];
            list[n - 1].n_parts++;
        }
    }
    *ret = (struct pl_utterances){list, n};
    return PL_OK;
}
