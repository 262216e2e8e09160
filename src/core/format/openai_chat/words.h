/* The vendor's words for why an answer ended and for what went wrong, shared by documents and
 * streams. */
#ifndef PL_FORMAT_OPENAI_CHAT_WORDS_H
#define PL_FORMAT_OPENAI_CHAT_WORDS_H

#include "conv/conv.h"

/* What a finish_reason means; PL_FINISH_OTHER for one we do not know. */
enum pl_finish pl_chat_finish_of(struct pl_str word);
/* The finish_reason that says it. */
const char *pl_chat_finish_word(enum pl_finish finish, bool has_calls);
/* The type of an error that Google knows by a status; "server_error" for any other. */
const char *pl_chat_error_type(struct pl_str status);

struct pl_cited;
struct pl_json_out;
/* The hooks cite and judge of the format (format/format.h). */
bool pl_openai_cite(const struct pl_json_doc *doc, const struct pl_json_node *citation,
                    struct pl_cited *ret);
bool pl_openai_judge(const struct pl_json_doc *doc, const struct pl_json_node *ratings,
                     struct pl_json_out *categories);

#endif
