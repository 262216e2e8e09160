/* The request of a model call: its whole input, built in one place. The call itself, the count of
 * its tokens (GET …/context, compactions) and its display (the envelope) are made from the same
 * object, so that they cannot differ. */
#ifndef PL_AGENT_CONTEXT_REQUEST_H
#define PL_AGENT_CONTEXT_REQUEST_H

#include "agent/context/recall.h"
#include "document/segments.h"
#include "model/model.h"

struct pl_ext_server;

struct pl_request_query {
    const struct pl_session_record *record; /* borrowed; as stored */
    struct pl_str loop_id;                  /* borrowed; "root" or a sub-agent's */
    struct pl_str model;                    /* borrowed; resolved: a name pl_model_find knows */
    const struct pl_models *models;         /* borrowed; the configured ones: they have the
                                               window */
    bool is_planning;
    bool is_answering; /* a message is being answered: if it was archived, it is repeated */
    int64_t unix_ms;   /* now: memories may have expired */
    /* A summary that would replace all turns; {NULL, 0}: none. The result is the request that would
     * follow it. */
    struct pl_str summary;
    /* Additions of extensions to the current answer (hooks/request_hooks.c): JSON {system_prompt?,
     * messages?, prompt_turn_id}; empty: none. */
    struct pl_str agent_start;
    struct pl_ext_server *ext; /* borrowed; extensions with offered tools; NULL: none */
};

/* Arena memory. */
struct pl_request {
    struct pl_str model;
    struct pl_str system_prompt; /* text; empty: none */
    struct pl_str asked;         /* text of the newest message of a user; empty: none */
    struct pl_str asked_turn_id; /* … and its turn; empty: none */
    struct pl_str settings;      /* JSON object; empty: the model's defaults */
    struct pl_str turns;         /* JSON array of TurnProjection; system texts come first */
    struct pl_str tools;         /* JSON array of {name, description, input_schema} */
    bool is_limited;             /* a list limits the offered tools: no other tool is run */
    struct pl_str prefill;       /* text; the beginning of the answer; empty: none */
    bool tells_settings;         /* the answer lists the settings that the model does not support */
    struct pl_recall recall;     /* the memories among the turns */
    size_t n_turns;              /* turns of the session among them, without the summary */
    struct pl_str media_notes;   /* JSON array: media that is not sent unchanged (inline_media.h);
                                    empty: none */
    struct pl_str notice;        /* a sentence about it for the answer; empty: none */
};

/* Blocks: on a worker. For a replay it is the request that a real model would get. */
enum pl_status pl_request_read(struct pl_store *store, struct pl_arena *arena,
                               const struct pl_request_query *query, struct pl_request *ret_request,
                               struct pl_error *err);

/* The same in the form for a model; the strings are the request's. */
struct pl_model_request pl_request_ask(const struct pl_request *request,
                                       const struct pl_models *models);

/* Appends the same as a document of the format `turns`: {"settings", "tools", "turns"}. */
enum pl_status pl_request_write(const struct pl_request *request, struct pl_buf *to);

/* Counts the tokens of the request, in the dialect of the model that is called first; for a model
 * without a vendor's body, of the document itself. On a worker: it takes long. */
enum pl_status pl_request_count(const struct pl_request *request, const struct pl_models *models,
                                struct pl_segments *ret_segments, struct pl_error *err);

#endif
