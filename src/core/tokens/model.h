/* The encoding of each model, and the token overhead of a request beyond its text. Both are tables
 * with a date, because vendors change them. */
#ifndef PL_TOKENS_MODEL_H
#define PL_TOKENS_MODEL_H

#include "tokens/tokens.h"

/* Date of the last review of the tables in model.c. */
extern const char pl_model_tables_date[]; /* "2026-11-15" */

/* The token count of a model is the count in `encoding`, times percent / 100, rounded up. */
struct pl_model_counting {
    enum pl_encoding encoding;
    unsigned percent;  /* 100 if exact */
    bool is_estimated; /* the vendor publishes no tokenizer, or the model is unknown */
};

/* Finds a model by the name in a request, such as "gpt-4o-2024-08-06", "openai/gpt-5" or
 * "ft:gpt-4o-mini:acme::x". A name that matches no row is estimated from o200k_base. */
struct pl_model_counting pl_model_counting_find(struct pl_str model);

/* n * percent / 100, rounded up. */
uint64_t pl_model_counting_scale(const struct pl_model_counting *counting, uint64_t n_tokens);

/* Tokens that the chat format adds to the text of messages and tools. */
struct pl_chat_overhead {
    unsigned per_message;    /* role and separators */
    unsigned per_name;       /* a message with a name */
    unsigned per_reply;      /* start of the reply */
    unsigned per_tool;       /* a function, in addition to its name and description */
    unsigned per_parameters; /* a function that has properties */
    unsigned per_property;   /* in addition to its name, type and description */
    unsigned per_enum_item;  /* in addition to its text; subtracted once for the whole enum */
    unsigned per_tool_list;  /* once if there is any function */
};

const struct pl_chat_overhead *pl_chat_overhead_of(enum pl_encoding encoding);

#endif
