/* Which encoding counts for a model, and what a request costs beyond its text. All of it is data
 * with a date, because it changes. */
#ifndef PL_TOKENS_MODEL_H
#define PL_TOKENS_MODEL_H

#include "tokens/tokens.h"

/* When the tables of model.c were last gone through. */
extern const char pl_model_tables_date[]; /* "2026-11-15" */

/* How the tokens of a model are counted: those of `encoding`, times percent / 100, rounded up. */
struct pl_model_counting {
    enum pl_encoding encoding;
    unsigned percent;  /* 100 when exact */
    bool is_estimated; /* the vendor publishes no tokenizer, or the model is not known */
};

/* By the name a request gives, "gpt-4o-2024-08-06" or "openai/gpt-5" or "ft:gpt-4o-mini:acme::x".
 * A name no row fits is estimated from o200k_base. */
struct pl_model_counting pl_model_counting_find(struct pl_str model);

/* n * percent / 100, rounded up. */
uint64_t pl_model_counting_scale(const struct pl_model_counting *counting, uint64_t n_tokens);

/* What the chat format adds to the text of messages and tools, in tokens. */
struct pl_chat_overhead {
    unsigned per_message;    /* role and separators */
    unsigned per_name;       /* a message with a name */
    unsigned per_reply;      /* every reply is primed */
    unsigned per_tool;       /* a function, beside its name and description */
    unsigned per_parameters; /* a function that has properties */
    unsigned per_property;   /* beside its name, type and description */
    unsigned per_enum_item;  /* beside its text; an enum as a whole is this much cheaper */
    unsigned per_tool_list;  /* once when there is any function */
};

const struct pl_chat_overhead *pl_chat_overhead_of(enum pl_encoding encoding);

#endif
