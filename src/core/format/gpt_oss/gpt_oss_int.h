/* Shared by the files of gpt-oss. */
#ifndef PL_FORMAT_GPT_OSS_INT_H
#define PL_FORMAT_GPT_OSS_INT_H

#include "format/gpt_oss/gpt_oss.h"

/* The namespace of the functions that a request declares; tools of other namespaces run beside the
 * model. */
#define PL_GPT_OSS_FUNCTIONS "functions."

/* The default text of the system message, with `nl` for a line end: before the effort, after it,
 * and if there are functions. */
#define PL_GPT_OSS_IDENTITY "You are ChatGPT, a large language model trained by OpenAI."
#define PL_GPT_OSS_HEAD(nl) PL_GPT_OSS_IDENTITY nl "Knowledge cutoff: 2024-06" nl nl "Reasoning: "
#define PL_GPT_OSS_CHANNELS                                                                        \
    "# Valid channels: analysis, commentary, final. Channel must be included for every message."
#define PL_GPT_OSS_CALLS "Calls to these tools must go to the commentary channel: 'functions'."

/* The heading of the instructions in a developer message, and the separator of sections. */
#define PL_GPT_OSS_INSTRUCTIONS "# Instructions"
#define PL_GPT_OSS_GLUE(nl)     nl nl

/* The effort in a system message that is otherwise the default text; NONE for any other message. */
struct pl_val pl_gpt_oss_default_effort(struct pl_conv *conv, const struct pl_json_node *message);
/* Whether a message is only the start of the next turn. */
bool pl_gpt_oss_is_prompt(struct pl_conv *conv, const struct pl_json_node *message);

enum pl_status pl_gpt_oss_read(struct pl_conv *conv, enum pl_format_kind kind,
                               struct pl_error *err);
enum pl_status pl_gpt_oss_write(struct pl_writer *w, const struct pl_conversion *conversion,
                                struct pl_error *err);

/* Breaks special tokens with a space, so that the text is plain; a view if it has none. */
struct pl_str pl_gpt_oss_defuse(struct pl_conv *conv, struct pl_str text);

/* The longest tool name. */
enum { PL_GPT_OSS_NAME_MAX = 64 };

/* "# Tools" and the functions as TypeScript, in the form of the models' training; nothing if no
 * tool can be declared this way. Marks the written values. */
void pl_gpt_oss_functions(struct pl_conv *conv, struct pl_buf *to);
/* The same for the two tools of the models' training that run beside them: a browser and Python. */
void pl_gpt_oss_builtins(struct pl_conv *conv, struct pl_buf *to);

/* A JSON Schema (NULL: none) as a type of TypeScript. */
void pl_gpt_oss_type(struct pl_conv *conv, struct pl_buf *to, const struct pl_json_node *schema);

#endif
