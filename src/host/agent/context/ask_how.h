/* How a session's models are asked: its system prompt, its settings and the tools it offers, with
 * what the chat at work says in their place. */
#ifndef PL_AGENT_CONTEXT_ASK_HOW_H
#define PL_AGENT_CONTEXT_ASK_HOW_H

#include "base/arena.h"
#include "session/rows.h"

struct pl_ext_server;

struct pl_ask_how {
    struct pl_str system_prompt; /* text; empty: none */
    struct pl_str settings;      /* JSON object; empty: none */
    struct pl_str tools;         /* JSON, as tools/offer.h reads it; empty: all */
    struct pl_str prefill;       /* text; how the answer to a message begins; empty: none */
};

/* A chat's settings are merged into the session's, member by member; null takes one away. A
 * sub-agent answers another model and nobody's program: what shapes the last answer (response_format,
 * stop, prefill) is for the root loop alone. Arena memory, or the record's. */
enum pl_status pl_ask_how_read(struct pl_arena *arena, const struct pl_session_record *record,
                               struct pl_str loop_id, struct pl_ask_how *ret_how,
                               struct pl_error *err);

/* Whether {system_prompt?, settings?, tools?} is what a session can have: PL_INVALID with the place
 * and a sentence. Tools may be those of the extensions that this user has. Routes whose body is held to
 * a schema need only pl_offer_check. */
enum pl_status pl_ask_how_check(struct pl_arena *arena, struct pl_str text,
                                struct pl_ext_server *ext, struct pl_str user_id,
                                struct pl_error *err);

#endif
