/* Shared by the files of OpenAI's Responses format. */
#ifndef PL_FORMAT_OPENAI_RESPONSES_INT_H
#define PL_FORMAT_OPENAI_RESPONSES_INT_H

#include "base/map.h"
#include "format/format.h"
#include "format/pieces/citation.h"

/* The longest name of tools and schemas, in letters, digits, _ and -. */
#define PL_RESPONSES_NAME_LEN 64

/* The items we model. All others (hosted tools, references to stored items, future items) belong to
 * no message: they are written only to this format, whole and in place. */
enum pl_responses_item {
    PL_ITEM_MESSAGE,
    PL_ITEM_CALL,
    PL_ITEM_OUTPUT,
    PL_ITEM_CUSTOM_CALL,
    PL_ITEM_CUSTOM_OUTPUT,
    PL_ITEM_REASONING,
    PL_ITEM_OTHER,
};

enum pl_responses_item pl_responses_item_of(const struct pl_conv *conv,
                                            const struct pl_json_node *item);

/* A document being written. */
struct pl_responses_out {
    struct pl_writer *w;  /* borrowed */
    struct pl_conv *conv; /* borrowed */
    const struct pl_conversion *conversion;
    bool is_own;                  /* the source is this format: unknown items are kept */
    bool is_openai;               /* the source is OpenAI's: its file ids are valid */
    struct pl_map custom_ids;     /* owned; call id -> is the last call custom */
    const struct pl_part *cut_at; /* the last part of an answer that was cut off; or NULL */
    struct pl_cites_list cites;   /* owned; of a source that has them beside its content */
    uint32_t n_written;           /* items so far */
    /* Only if is_own: the items of the source, to find the item of a part. */
    const struct pl_json_node **items;    /* arena */
    uint32_t n_items, next_item;          /* items before next_item are done */
    bool *is_used;                        /* arena; a part came from it */
    const struct pl_json_node *reasoning; /* the last item written that has several parts */
};

enum pl_status pl_responses_read(struct pl_conv *conv, enum pl_format_kind kind,
                                 struct pl_error *err);
enum pl_status pl_responses_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                  struct pl_error *err);

/* The value of `input` or `output`: the items of the messages from `first` on, as an array.
 */
void pl_responses_put_items(struct pl_responses_out *o, size_t first);
/* Whether a part can be content of a message of that role (tool: of a result); writing it. A cache
 * marker of the message goes on its last part. */
bool pl_responses_is_sayable(const struct pl_responses_out *o, const struct pl_part *part,
                             enum pl_role role);
void pl_responses_put_part(struct pl_responses_out *o, const struct pl_part *part,
                           enum pl_role role, struct pl_val cache);
/* Model, sampling, tools and the rest of a request. */
void pl_responses_put_settings(struct pl_responses_out *o);
/* A whole response, or an error body. */
void pl_responses_put_answer(struct pl_responses_out *o);

/* Writes members of `object` (of the source, may be NULL) that are not in `known`, if the source is
 * this format: its vendor gets unknown fields back. */
void pl_responses_put_extras(struct pl_responses_out *o, const struct pl_json_node *object,
                             const char *const known[]);
/* Marks a flag or number that the target spells differently: no loss. Objects are not marked, since
 * they may hold more. */
void pl_responses_know_scalar(struct pl_responses_out *o, struct pl_val val);

/* After reading: renames tools in namespaces that have the same name as another tool, and their
 * calls. */
void pl_responses_name_apart(struct pl_conv *conv);

/* Items of hosted tools and of tools with special shapes (own.c). pl_responses_teller: the role of
 * such an item (PL_ROLE_ASSISTANT or PL_ROLE_USER), false for all others; `tell` as in pl_format;
 * and the item for another vendor's hosted tool, its members after the opening bracket. */
bool pl_responses_teller(const struct pl_conv *conv, const struct pl_json_node *item,
                         enum pl_role *ret_role);
bool pl_responses_tell(struct pl_conv *conv, const struct pl_json_node *node, struct pl_gist *ret);
void pl_responses_put_gist(struct pl_responses_out *o, const struct pl_gist *gist);

#endif
