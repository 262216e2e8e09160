/* gpt-oss: the text its models read and write (github.com/openai/harmony).
 *
 *     <|start|>user<|message|>What is 2+2?<|end|>
 *     <|start|>assistant<|channel|>analysis<|message|>A sum.<|end|>
 *     <|start|>assistant<|channel|>final<|message|>It is 4.<|end|>
 *
 * The text has no JSON tree, so there are two layers. The outer one turns the text into a JSON
 * document with the same content and nothing else, and back, byte for byte:
 *
 *     {"messages":[{"role":"user","content":"What is 2+2?","end":"end"},
 *                  {"role":"assistant","channel":"analysis","content":"A sum.","end":"end"},
 *                  {"role":"assistant","channel":"final","content":"It is 4.","end":"end"}]}
 *
 * (`constrain` after `channel`; `header`, a list of both, if there is more than one of a kind or
 * they come in another order; `before` for white space before a message and `after` for text at the
 * end; no `role` if a completion begins in the middle of a header; `words` for text that a model
 * wrote outside of any message; no `content` without <|message|>; no `end` if the message is not
 * ended.) The inner one is a format like any other that reads and writes this document, so reports,
 * carries and the way home need no special code. */
#ifndef PL_FORMAT_GPT_OSS_H
#define PL_FORMAT_GPT_OSS_H

#include "base/buf.h"
#include "format/format.h"

/* Reads and writes the document, not the text. */
extern const struct pl_format pl_format_gpt_oss;

/* Whether a text looks like this format. */
bool pl_gpt_oss_is_text(struct pl_str text);

/* Text -> document, appended to `to`. PL_SYNTAX with a position if the tokens do not make
 * messages; PL_NOMEM. */
enum pl_status pl_gpt_oss_parse(struct pl_str text, struct pl_buf *to, struct pl_error *err);

/* Document -> text, appended to `to`. PL_INVALID if a string in it contains one of the format's own
 * tokens: the text would not mean the same as the document; PL_NOMEM. */
enum pl_status pl_gpt_oss_render(const struct pl_json_doc *doc, struct pl_buf *to,
                                 struct pl_error *err);

#endif
