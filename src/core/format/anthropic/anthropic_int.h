/* Anthropic Messages, shared by its reader and its writer (anthropic.c, read.c,
 * write.c, settings.c, block.c). */
#ifndef PL_FORMAT_ANTHROPIC_INT_H
#define PL_FORMAT_ANTHROPIC_INT_H

#include "base/map.h"
#include "format/format.h"

enum pl_status pl_anthropic_read(struct pl_conv *conv, enum pl_format_kind kind,
                                 struct pl_error *err);
enum pl_status pl_anthropic_write(struct pl_writer *w, const struct pl_format_task *task,
                                  struct pl_error *err);

/* Fills a part that was added as OTHER from its node, as a block that stands in a result: text,
 * image, document. It stays OTHER where it is none. */
void pl_anthropic_read_block(struct pl_conv *conv, struct pl_part *part);
/* As in pl_format (own.c). */
bool pl_anthropic_tell(struct pl_conv *conv, const struct pl_json_node *node, struct pl_gist *ret);

/* Tool names and ids are of letters, digits, _ and -. */
#define PL_ANTHROPIC_MAX_NAME 128
#define PL_ANTHROPIC_MAX_ID   4096

/* A document being written. */
struct pl_anthropic_out {
    struct pl_writer *w;
    struct pl_conv *conv;
    const struct pl_format_task *task;
    bool is_home; /* the source is Anthropic's too: its signatures and own blocks mean something */
    bool
        is_response; /* it may say what a request may not: blank text, thinking without signature */
    bool has_tools;
    int64_t max_tokens;  /* as written, for what must stay below it */
    struct pl_map calls; /* owned; id of a call -> its part + 1 */
    size_t n_learned;    /* parts whose calls are in it */
};

/* Settings and tools of a request, each with its key (settings.c). */
void pl_anthropic_put_limit(struct pl_anthropic_out *o);
void pl_anthropic_put_tools(struct pl_anthropic_out *o);
void pl_anthropic_put_settings(struct pl_anthropic_out *o);

/* Content (block.c). */

/* Whether a part can stand in a message of that role; PL_ROLE_TOOL: in a result. */
bool pl_anthropic_can_say(struct pl_anthropic_out *o, enum pl_role role,
                          const struct pl_part *part);
/* Whether a text is nothing but white space, of any script: the vendor refuses such blocks. */
bool pl_anthropic_is_blank(struct pl_conv *conv, struct pl_val text);
/* The block of a part that can be said. */
void pl_anthropic_put_block(struct pl_anthropic_out *o, const struct pl_part *part);
/* The blocks of what another vendor's tool did: its call, its result, or both. */
void pl_anthropic_put_gist(struct pl_anthropic_out *o, const struct pl_gist *gist);
/* cache_control, if there is a mark that means anything to the vendor. */
void pl_anthropic_put_mark(struct pl_anthropic_out *o, struct pl_val cache);
/* Reports a part that cannot be said, where there is more to say about it than that. */
void pl_anthropic_drop(struct pl_anthropic_out *o, const struct pl_part *part);

#endif
