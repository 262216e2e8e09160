/* Makes a conversation valid for a target: every call answered, everything in a place the target
 * accepts. Every change is reported in conv->losses and marked (is_changed of the message, of the
 * tool, or of the settings for anything outside the list), so that everything unmarked can keep its
 * bytes.
 *
 * This code knows no vendor. The caller fills a struct with the rules of the target; all zero means
 * that nothing has to change. */
#ifndef PL_CONV_REPAIR_H
#define PL_CONV_REPAIR_H

#include "conv/conv.h"

/* Where system messages after the first other message may be. */
enum pl_system_place {
    PL_SYSTEM_ANYWHERE,
    PL_SYSTEM_AFTER_USER, /* after a user turn that no user turn follows */
    PL_SYSTEM_FIRST_ONLY, /* nowhere: they become user text */
};

#define PL_PART_BIT(kind) (1u << (kind))

struct pl_repair_rules {
    /* Tools. */
    bool pairs_calls;            /* every call has one result, every result its call */
    bool wants_results_adjacent; /* results come right after their calls */
    bool wants_results_together; /* those of one turn in one user message, at its start */
    bool wants_call_order;       /* and in the order of the calls */
    bool joins_assistants;       /* consecutive assistant messages are one turn to the target */
    bool wants_calls_last;       /* vendor-specific parts may not follow a call */
    bool wants_result_names;     /* a result has the name of its tool */
    bool wants_argument_strings; /* arguments are a string that holds JSON, never JSON itself */
    bool wants_unique_ids;       /* no id twice in one turn */
    bool wants_ids_once;         /* nor in two turns; only with wants_unique_ids */
    bool refuses_call_ids;       /* no ids: pairing is by order */
    uint32_t id_length;          /* ids have exactly this many letters and digits; 0: any */
    uint32_t max_id_length;      /* no id is longer; 0: any length */
    bool wants_tools_for_calls;  /* the tools that the history calls must be declared */
    bool wants_tools_for_choice; /* no tool choice without declared tools */
    bool chooses_functions_only; /* tools that run at the vendor are no tools to choose */
    /* Members of the source's root, ended by NULL. If one is present, calls may have been made
     * before this document begins. NULL: none. */
    const char *const *open_history;

    /* Content. */
    bool drops_blank;                /* no text of white space only, no empty message */
    bool drops_empty;                /* no empty message */
    uint32_t refused_in_results;     /* PL_PART_BIT of kinds; they move to a user message after
                                        the results */
    uint32_t refused_from_assistant; /* PL_PART_BIT of kinds; they move to the next user message */
    uint32_t refused_from_user;      /* PL_PART_BIT of kinds; a text replaces them */
    bool refuses_others;             /* parts that only the source's vendor knows are not written */
    bool wants_plain_base64;         /* of RFC 4648 section 4, padded and in one line */
    bool refuses_empty_detail;       /* of an image */
    bool wants_registered_types;     /* image/jpeg, not image/jpg */
    bool wants_file_names;           /* a file with data has a name */
    bool wants_web_urls;             /* media have http, https or data URLs */
    bool refuses_file_ids;           /* of files at the source's vendor */
    bool wants_file_data;            /* a file has data or an id, not an address */
    bool wants_media_content;        /* the address of media is not empty */
    bool refuses_user_citations;
    uint32_t max_cache_markers; /* the last ones are kept; 0: any number */

    /* Turns. */
    enum pl_system_place system_place;
    bool moves_leading_system; /* the target keeps them outside its list */
    bool wants_user_first;
    bool wants_alternation; /* same-role turns are merged */
    bool joins_callers;     /* a turn with calls does not follow another assistant turn */
    bool refuses_prefill;   /* the last message may not be the assistant's */
    bool trims_prefill;     /* a prefill must not end in white space */

    /* Reasoning and settings. */
    bool keeps_signatures;        /* the target can check signatures of the source */
    uint8_t home;                 /* and those of parts with this home */
    bool needs_thinking_history;  /* manual thinking needs thinking in the last tool turn */
    bool needs_thinking_follower; /* something must follow thinking */
    /* Member of the source's root. If it is false, the vendor has stored nothing, and reasoning
     * that is only an id refers to nothing. NULL: there is no such member. */
    const char *store_switch;
    bool wants_thinking_on_all;     /* after the first assistant message that has it */
    struct pl_str signature_bypass; /* for calls of the current turn that lack one; empty: none */
    bool refuses_sampling;          /* temperature, top_p, top_k */
    bool refuses_two_samplings;     /* temperature and top_p together */
    bool refuses_penalties;         /* for repetition */
    bool refuses_logprobs;
    const char *max_temperature; /* the minimum is 0; NULL: no limit */
    bool refuses_forced_choice;  /* the model decides whether to call a tool, and which */
};

/* Changes `conv` as the rules require. Linear in the conversation. PL_NOMEM is the only failure; it
 * is then in conv->status too, and `conv` must not be written. */
enum pl_status pl_conv_repair(struct pl_conv *conv, const struct pl_repair_rules *rules);

#endif
