/* The request of a model call: the whole input of a model call, built in one place. The call
 * itself, the count of its tokens (GET …/context, compactions) and what is shown of it (the
 * envelope) are made of the same object, so that they cannot differ. */
#ifndef PL_AGENT_CONTEXT_REQUEST_H
#define PL_AGENT_CONTEXT_REQUEST_H

#include "agent/context/recall.h"
#include "document/segments.h"
#include "model/model.h"

struct pl_ext_server;

struct pl_request_query {
    const struct pl_session_record *record; /* borrowed; as it is in the store */
    struct pl_str loop_id;                  /* borrowed; "root" or a sub-agent's */
    struct pl_str model;                    /* borrowed; resolved: a name pl_model_find knows */
    const struct pl_models *models;         /* borrowed; what was configured: it has the window */
    bool is_planning;
    bool is_answering; /* a message is being answered: one that was archived is said again */
    int64_t unix_ms;   /* now: memories may be out of date */
    /* A summary that would take the place of all turns; {NULL, 0}: none. The result is the request
     * that would follow it. */
    struct pl_str summary;
    /* What extensions added for the answer at hand (hooks/request_hooks.c): JSON {system_prompt?, messages?,
     * prompt_turn_id}; empty: nothing. */
    struct pl_str agent_start;
    struct pl_ext_server *ext; /* borrowed; extensions, whose tools are offered; NULL: none */
};

/* Arena memory. */
struct pl_request {
    struct pl_str model;
    struct pl_str system_prompt; /* text; empty: none */
    struct pl_str asked;         /* text of the newest message of a user; empty: it has none */
    struct pl_str asked_turn_id; /* … and its turn; empty: there is none */
    struct pl_str settings;      /* JSON object; empty: those of the model */
    struct pl_str turns;         /* JSON array of TurnProjection; what the system says in front */
    struct pl_str tools;         /* JSON array of {name, description, input_schema} */
    bool is_limited;             /* a list says which tools are offered: no other is run */
    struct pl_str prefill;       /* text; how the answer begins; empty: as the model likes */
    bool tells_settings;         /* the answer says which settings did not reach the model */
    struct pl_recall recall;     /* the memories that are among the turns */
    size_t n_turns;              /* of the session that are among them, without the summary */
    struct pl_str media_notes;   /* JSON array: what of the media does not go along as it is
                                    (inline_media.h); empty: all do */
    struct pl_str notice;        /* what the answer says of that; empty: nothing */
};

/* Blocking: on a worker. A replay's request is that of a model that would be asked instead. */
enum pl_status pl_request_read(struct pl_store *store, struct pl_arena *arena,
                               const struct pl_request_query *query, struct pl_request *ret_request,
                               struct pl_error *err);

/* The same as the model takes it; the strings are the request's. */
struct pl_model_request pl_request_ask(const struct pl_request *request,
                                       const struct pl_models *models);

/* Appends the same as a document of the format `turns`: {"settings", "tools", "turns"}. */
enum pl_status pl_request_write(const struct pl_request *request, struct pl_buf *to);

/* The tokens of what would be sent, in the dialect of the model that is asked first; of the
 * document itself for a model that is sent nothing. On a worker: it takes long. */
enum pl_status pl_request_count(const struct pl_request *request, const struct pl_models *models,
                                struct pl_segments *ret_segments, struct pl_error *err);

#endif
