/* The rules of a vendor, an API version or a model family: data, in schemas/profiles/NAME.json,
 * embedded. An absent rule has the default written beside it. */
#ifndef PL_FORMAT_PROFILE_H
#define PL_FORMAT_PROFILE_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

#define PL_EFFORT_BIT(effort) (1u << (effort))

struct pl_profile {
    const char *name;           /* "anthropic@2026-10-21" */
    const char *format;         /* "anthropic" */
    const char *dated;          /* date of the last check, "2026-11-15" */
    const char *about;          /* one line for help texts */
    const char *const *models;  /* prefixes of the models' names, ended by NULL; NULL: an API
                                 * version */
    bool is_default;            /* the default of its format */
    bool refuses_sampling;      /* temperature, top_p, top_k are errors */
    bool refuses_two_samplings; /* temperature and top_p together are an error */
    bool refuses_penalties;     /* presence_penalty, frequency_penalty */
    bool refuses_logprobs;      /* logprobs, top_logprobs */
    bool samples_at_rest;       /* … but all of these are accepted while it does not think */
    bool rests_by_default;      /* it thinks only on request */
    bool refuses_prefill;       /* the last message may not be the assistant's */
    bool refuses_system_inside; /* no system message after the start of the conversation */
    bool refuses_documents_from_assistant; /* nor citations on user text */
    bool requires_alternation;             /* same-role turns are merged */
    bool refuses_call_ids;                 /* functionCall and functionResponse have no id */
    bool requires_signatures;     /* calls without a thought signature need the documented bypass */
    bool allows_media_in_results; /* images inside a tool result */
    bool refuses_json_schema;     /* only the OpenAPI dialect of schemas */
    bool refuses_thinking_level;  /* only a budget of tokens */
    bool refuses_max_completion_tokens; /* only the older name, max_tokens */
    bool refuses_max_tokens;            /* only the newer name, in Chat Completions */
    bool requires_reasoning_on_all;     /* reasoning_content on all assistant messages or on none */
    bool refuses_forced_choice;         /* a call cannot be forced, neither any nor one by name */
    bool refuses_thinking_budget;       /* only an effort: the model decides how much it thinks */
    bool refuses_adaptive_thinking;     /* only a budget of tokens */
    bool refuses_thinking_with_tools;   /* beside tools, in Chat Completions */
    bool caps_effort_at_rest;           /* with thinking off, "high" at most */
    bool takes_reasoning_details;       /* thoughts are sent back with the proofs of their vendor */
    bool takes_video_url;               /* videos, in Chat Completions */
    bool takes_file_url;                /* addresses as file_data, in Chat Completions */
    bool refuses_tools;                 /* no tool calls: tools are not sent */
    bool binds_thinking;      /* thinking that is sent back must have the same history before it */
    const char *thinking_off; /* the word for "disabled"; "": it always thinks; NULL: "disabled" */
    uint32_t efforts;         /* PL_EFFORT_BIT of supported ones, including UNSET; 0: any */
    int id_length;            /* of tool call ids, alphanumeric; 0: any */
};

/* The context size of models with this name prefix, in tokens. */
struct pl_window {
    const char *prefix;
    int64_t n_tokens;
};

/* Generated from schemas/profiles by tools/gen_profiles.py; ended by a NULL name or prefix. */
extern const struct pl_profile pl_profiles[];
extern const struct pl_window pl_windows[];

/* NULL if the name is unknown. */
const struct pl_profile *pl_profile_find(struct pl_str name);
/* The default profile of a format. */
const struct pl_profile *pl_profile_default(struct pl_str format);
/* The profile of a format for this model, or else the format's default. Without a format: the
 * profile of any format for this model, or NULL. */
const struct pl_profile *pl_profile_of_model(struct pl_str format, struct pl_str model);
/* The context window of the model in tokens; 0 if unknown. A path or vendor before the name
 * ("models/", "vendor/") is ignored. */
int64_t pl_profile_window(struct pl_str model);

/* The i-th name, NULL after the last: for the command line. */
const char *pl_profile_choice(size_t i);

#endif
