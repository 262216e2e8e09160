/* Making a conversation legal for a target: every call answered, everything in a place the target
 * accepts. Every change is reported in conv->losses and marked (is_changed of the message, of the
 * tool, or of the settings for anything outside the list), so that everything that is not marked
 * can keep its bytes.
 *
 * No vendor is known here. The caller fills a struct with the rules of the target; all zero means
 * that nothing has to change. */
#ifndef PL_CONV_REPAIR_H
#define PL_CONV_REPAIR_H

#include "conv/conv.h"

/* Where system messages after the first other message may stand. */
enum pl_system_place {
    PL_SYSTEM_ANYWHERE,
    PL_SYSTEM_AFTER_USER, /* after a user turn, and no user turn after it */
    PL_SYSTEM_FIRST_ONLY, /* nowhere: they become text of the user */
};

#define PL_PART_BIT(kind) (1u << (kind))

struct pl_repair_rules {
    /* Tools. */
    bool pairs_calls;            /* every call has one result, every result its call */
    bool wants_results_adjacent; /* results come right after their calls */
    bool wants_results_together; /* those of one turn in one message of the user, in front */
    bool wants_call_order;       /* and in the order of the calls */
    bool joins_assistants;       /* consecutive assistant messages are one turn to the target */
    bool wants_calls_last;       /* vendor-specific parts may not follow a call */
    bool wants_result_names;     /* a result says the name of its tool */
    bool wants_argument_strings; /* arguments are a string that holds JSON, never JSON itself */
    bool wants_unique_ids;       /* no id twice in one turn */
    bool refuses_call_ids;       /* they are left out: pairing is by order */
    uint32_t id_length;          /* ids have exactly this many letters and digits; 0: any */
    uint32_t max_id_length;      /* no id is longer; 0: any length */
    bool wants_tools_for_calls;  /* a history with calls declares the tools that were called */
    bool wants_tools_for_choice; /* no choice among tools where none is declared */
    /* Members of the source's root, ended by NULL, whose presence means that calls may have been
     * made before this document begins; NULL: none. */
    const char *const *open_history;

    /* Content. */
    bool drops_blank;                /* no text of white space only, no message that says nothing */
    uint32_t refused_in_results;     /* PL_PART_BIT of kinds; they go to a user message after */
    uint32_t refused_from_assistant; /* PL_PART_BIT of kinds; they go to the next user message */
    uint32_t refused_from_user;      /* PL_PART_BIT of kinds; a text says that one was there */
    bool refuses_others;             /* parts that only the source's vendor knows are not said */
    bool wants_plain_base64;         /* of RFC 4648 section 4; the alphabet for URLs is refused */
    bool refuses_empty_detail;       /* of an image */
    bool wants_registered_types;     /* image/jpeg, not image/jpg */
    bool wants_file_names;           /* a file that comes with its bytes has a name */
    bool wants_web_urls;             /* media have http, https or data URLs */
    bool refuses_user_citations;
    uint32_t max_cache_markers; /* the last ones are kept; 0: any number */

    /* Turns. */
    enum pl_system_place system_place;
    bool moves_leading_system; /* in the source's list, but the target has a place of its own */
    bool wants_user_first;
    bool wants_alternation; /* same-role turns are merged */
    bool joins_callers;     /* a turn that calls does not follow another of the assistant */
    bool refuses_prefill;   /* the last message may not be the assistant's */
    bool trims_prefill;     /* it may, but without white space at its end */

    /* Reasoning and settings. */
    bool keeps_signatures;        /* signatures of the source mean something to the target */
    uint8_t home;                 /* and those of parts that have this one as their home */
    bool needs_thinking_history;  /* manual thinking needs thinking in the last tool turn */
    bool needs_thinking_follower; /* thinking is followed by what was thought out */
    /* Member of the source's root. Where it is false, the vendor has stored nothing, and reasoning
     * of which only its id is left refers to nothing. NULL: there is none. */
    const char *store_switch;
    bool wants_thinking_on_all;     /* after the first assistant message that has it */
    struct pl_str signature_bypass; /* for calls of the current turn that lack one; empty: none */
    bool refuses_sampling;          /* temperature, top_p, top_k */
    bool refuses_two_samplings;     /* temperature and top_p together */
    bool refuses_penalties;         /* for what was said already */
    bool refuses_logprobs;
    const char *max_temperature; /* the least is 0; NULL: any will do */
    bool refuses_forced_choice;  /* whether to call a tool, and which, is the model's to choose */
};

/* Changes `conv` as the rules ask. Linear in the conversation. PL_NOMEM is the only failure; then
 * conv->status says so too and there is nothing to write. */
enum pl_status pl_conv_repair(struct pl_conv *conv, const struct pl_repair_rules *rules);

#endif
