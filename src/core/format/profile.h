/* What a vendor, an API version or a model family accepts: data, in schemas/profiles/NAME.json,
 * embedded. A rule that is absent takes the default written beside it. */
#ifndef PL_FORMAT_PROFILE_H
#define PL_FORMAT_PROFILE_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define PL_EFFORT_BIT(effort) (1u << (effort))

struct pl_profile {
    const char *name;           /* "anthropic@2026-10-21" */
    const char *format;         /* "anthropic" */
    const char *dated;          /* when this was last checked, "2026-11-15" */
    const char *about;          /* one line for help texts */
    const char *const *models;  /* prefixes of the models' names, ended by NULL; NULL: an API
                                 * version */
    bool is_default;            /* of its format, when none is named */
    bool refuses_sampling;      /* temperature, top_p, top_k are errors */
    bool refuses_two_samplings; /* temperature and top_p together are one */
    bool refuses_penalties;     /* presence_penalty, frequency_penalty */
    bool refuses_logprobs;      /* logprobs, top_logprobs */
    bool samples_at_rest;       /* … but accepts all of these when it does not think */
    bool rests_by_default;      /* it does not think unless it is told to */
    bool refuses_prefill;       /* the last message may not be the assistant's */
    bool refuses_system_inside; /* no system message in mid-conversation */
    bool refuses_documents_from_assistant; /* nor citations on user text */
    bool requires_alternation;             /* same-role turns are merged */
    bool refuses_call_ids;                 /* functionCall and functionResponse have no id */
    bool requires_signatures;     /* calls without a thought signature need the documented bypass */
    bool allows_media_in_results; /* images inside a tool result */
    bool refuses_json_schema;     /* only the OpenAPI dialect of schemas */
    bool refuses_thinking_level;  /* only a budget of tokens */
    bool refuses_max_completion_tokens; /* only the older name, max_tokens */
    bool refuses_max_tokens;            /* only the newer one, in Chat Completions */
    bool requires_reasoning_on_all;     /* reasoning_content on all assistant messages or on none */
    bool refuses_forced_choice;         /* no call can be demanded: any, or one by its name */
    bool refuses_thinking_budget;       /* it thinks as it needs, with an effort */
    bool refuses_adaptive_thinking;     /* only a budget of tokens */
    bool refuses_thinking_with_tools;   /* beside tools, in Chat Completions */
    bool caps_effort_at_rest;           /* with thinking off it is "high" at most */
    bool takes_reasoning_details; /* thoughts go back with the proofs of the vendor behind it */
    bool takes_video_url;         /* films, in Chat Completions */
    bool refuses_tools;           /* it calls none: they are not offered */
    bool binds_thinking;          /* thinking that goes back must have the same history before it */
    const char *thinking_off;     /* said for "disabled"; "": it always thinks; NULL: "disabled" */
    uint32_t efforts;             /* PL_EFFORT_BIT of those it knows, with that of UNSET; 0: any */
    int id_length;                /* of tool call ids, alphanumeric; 0: any */
};

/* Tokens that models whose name begins with `prefix` read at once. */
struct pl_window {
    const char *prefix;
    int64_t n_tokens;
};

/* Made from schemas/profiles by tools/gen_profiles.py; ended by a NULL name or prefix. */
extern const struct pl_profile pl_profiles[];
extern const struct pl_window pl_windows[];

/* NULL when there is none of that name. */
const struct pl_profile *pl_profile_find(struct pl_str name);
/* The profile of a format when none is named. */
const struct pl_profile *pl_profile_default(struct pl_str format);
/* The profile of a format that is about this model, or else the format's own. Of no format: that of any format that is
 * about this model, or NULL. */
const struct pl_profile *pl_profile_of_model(struct pl_str format, struct pl_str model);
/* The context window of the model in tokens; 0 when it is not known. A path or vendor before the
 * name ("models/", "vendor/") is ignored. */
int64_t pl_profile_window(struct pl_str model);

/* The i-th name, NULL after the last: for the command line. */
const char *pl_profile_choice(size_t i);

#endif
