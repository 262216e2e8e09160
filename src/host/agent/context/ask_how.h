/* How a session calls its models: its system prompt, its settings and the tools it offers, with the
 * overrides of the current chat. */
#ifndef PL_AGENT_CONTEXT_ASK_HOW_H
#define PL_AGENT_CONTEXT_ASK_HOW_H

#include "base/arena.h"
#include "session/rows.h"

struct pl_ext_server;

struct pl_ask_how {
    struct pl_str system_prompt; /* text; empty: none */
    struct pl_str settings;      /* JSON object; empty: none */
    struct pl_str tools;         /* JSON, in the form of tools/offer.h; empty: all */
    struct pl_str prefill;       /* text; the beginning of the answer to a message; empty: none */
};

/* A chat's settings are merged into the session's, member by member; null removes one. A sub-agent
 * answers another model, not a program, so members that shape the last answer (response_format,
 * stop, prefill) apply only to the root loop. Arena memory, or the record's. */
enum pl_status pl_ask_how_read(struct pl_arena *arena, const struct pl_session_record *record,
                               struct pl_str loop_id, struct pl_ask_how *ret_how,
                               struct pl_error *err);

/* Whether {system_prompt?, settings?, tools?} is valid for a session: PL_INVALID with the place and
 * a sentence. Tools may be those of this user's extensions. Routes with a body that a schema
 * validates need only pl_offer_check. */
enum pl_status pl_ask_how_check(struct pl_arena *arena, struct pl_str text,
                                struct pl_ext_server *ext, struct pl_str user_id,
                                struct pl_error *err);

#endif
