/* Stored answers to capability questions: for a session or for ever, for one target. */
#include "ext/run/broker/broker.h"

#include "base/mem.h"

enum { MAX_KEPT = 1000 };

enum pl_ext_reason pl_ext_answers_find(const struct pl_ext_place *place,
                                       enum pl_ext_capability capability, struct pl_str target,
                                       struct pl_str session_id)
{
    for (const struct pl_ext_answer_kept *a = place->answers; a; a = a->next)
        if (a->capability == capability && pl_str_eq(a->target, target) &&
            (a->is_always || pl_str_eq(a->session_id, session_id)))
            return a->is_allowed ? PL_EXT_REASON_PROMPT_CACHE_ALLOW
                                 : PL_EXT_REASON_PROMPT_CACHE_DENY;
    return PL_EXT_REASON_PROMPT_REQUIRED;
}

static void forget(struct pl_ext_place *place, enum pl_ext_capability capability,
                   struct pl_str target, struct pl_str session_id)
{
    size_t n = 0;
    for (struct pl_ext_answer_kept **at = &place->answers; *at;) {
        struct pl_ext_answer_kept *a = *at;
        bool is_same = a->capability == capability && pl_str_eq(a->target, target) &&
                       pl_str_eq(a->session_id, session_id);
        if (!is_same && ++n < MAX_KEPT) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        pl_mem_free(a);
    }
}

void pl_ext_answers_forget_always(struct pl_ext_place *place)
{
    for (struct pl_ext_answer_kept **at = &place->answers; *at;) {
        struct pl_ext_answer_kept *a = *at;
        if (!a->is_always) {
            at = &a->next;
            continue;
        }
        *at = a->next;
        pl_mem_free(a);
    }
}

void pl_ext_answers_keep(struct pl_ext_place *place, enum pl_ext_capability capability,
                         struct pl_str target, struct pl_str session_id, bool is_allowed)
{
    forget(place, capability, target, session_id);
    struct pl_ext_answer_kept *a = pl_mem_alloc(1, sizeof *a + target.len + session_id.len + 1);
    if (!a)
        return;
    char *text = (char *)(a + 1);
    memcpy(text, target.ptr ? target.ptr : "", target.len);
    memcpy(text + target.len, session_id.ptr ? session_id.ptr : "", session_id.len);
    *a = (struct pl_ext_answer_kept){
        .next = place->answers,
        .capability = capability,
        .is_allowed = is_allowed,
        .is_always = !session_id.len,
        .target = {text, target.len},
        .session_id = {text + target.len, session_id.len},
    };
    place->answers = a;
}

void pl_ext_denials_add(struct pl_ext_place *place, struct pl_str session_id)
{
    struct pl_ext_denials *d = place->denials;
    while (d && !pl_str_eq(d->session_id, session_id))
        d = d->next;
    if (!d) {
        d = pl_mem_alloc(1, sizeof *d + session_id.len);
        if (!d)
            return;
        memcpy(d + 1, session_id.ptr, session_id.len);
        *d = (struct pl_ext_denials){.next = place->denials,
                                     .session_id = {(char *)(d + 1), session_id.len}};
        place->denials = d;
    }
    d->n++;
}

unsigned pl_ext_denials_of(const struct pl_ext_place *place, struct pl_str session_id)
{
    for (const struct pl_ext_denials *d = place->denials; d; d = d->next)
        if (pl_str_eq(d->session_id, session_id))
            return d->n;
    return 0;
}
