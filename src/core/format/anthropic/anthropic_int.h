/* Anthropic Messages, shared by its reader and its writer (anthropic.c, read.c,
 * write.c, settings.c, block.c). */
#ifndef PL_FORMAT_ANTHROPIC_INT_H
#define PL_FORMAT_ANTHROPIC_INT_H

#include "base/map.h"
#include "format/format.h"

enum pl_status pl_anthropic_read(struct pl_conv *conv, enum pl_format_kind kind,
                                 struct pl_error *err);
enum pl_status pl_anthropic_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                  struct pl_error *err);

/* Fills a part that was added as OTHER from its node, if that is a block that a result can hold:
 * text, image, document. Otherwise the part stays OTHER. */
void pl_anthropic_read_block(struct pl_conv *conv, struct pl_part *part);
/* As in pl_format (own.c). */
bool pl_anthropic_tell(struct pl_conv *conv, const struct pl_json_node *node, struct pl_gist *ret);

/* Tool names and ids consist of letters, digits, _ and -. */
#define PL_ANTHROPIC_MAX_NAME 128
#define PL_ANTHROPIC_MAX_ID   4096

/* A document being written. */
struct pl_anthropic_out {
    struct pl_writer *w;
    struct pl_conv *conv;
    const struct pl_conversion *conversion;
    bool is_home;     /* the source is Anthropic's too: its signatures and own blocks are valid */
    bool is_response; /* may hold parts that a request may not: blank text, thinking without
                         signature */
    bool has_tools;
    int64_t max_tokens;  /* as written; other values must stay below it */
    struct pl_map calls; /* owned; id of a call -> its part + 1 */
    size_t n_learned;    /* parts whose calls are in `calls` */
};

/* Settings and tools of a request, each with its key (settings.c). */
void pl_anthropic_put_limit(struct pl_anthropic_out *o);
void pl_anthropic_put_tools(struct pl_anthropic_out *o);
void pl_anthropic_put_settings(struct pl_anthropic_out *o);

/* Content (block.c). */

/* Whether a message of that role can hold the part; PL_ROLE_TOOL: whether a result can. */
bool pl_anthropic_can_say(struct pl_anthropic_out *o, enum pl_role role,
                          const struct pl_part *part);
/* Whether a text is only white space, of any script: the vendor refuses such blocks. */
bool pl_anthropic_is_blank(struct pl_conv *conv, struct pl_val text);
/* Writes the block of a part that has one. */
void pl_anthropic_put_block(struct pl_anthropic_out *o, const struct pl_part *part);
/* Writes the blocks for another vendor's hosted tool: its call, its result, or both. */
void pl_anthropic_put_gist(struct pl_anthropic_out *o, const struct pl_gist *gist);
/* Writes cache_control, if there is a marker that the vendor understands. */
void pl_anthropic_put_mark(struct pl_anthropic_out *o, struct pl_val cache);
/* Reports a part that cannot be written, if there is a better reason than "dropped". */
void pl_anthropic_drop(struct pl_anthropic_out *o, const struct pl_part *part);

#endif
