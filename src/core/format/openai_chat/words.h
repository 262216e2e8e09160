/* The vendor's words for finish reasons and errors, shared by documents and streams. */
#ifndef PL_FORMAT_OPENAI_CHAT_WORDS_H
#define PL_FORMAT_OPENAI_CHAT_WORDS_H

#include "conv/conv.h"

/* The meaning of a finish_reason; PL_FINISH_OTHER if unknown. */
enum pl_finish pl_chat_finish_of(struct pl_str word);
/* The finish_reason for it. */
const char *pl_chat_finish_word(enum pl_finish finish, bool has_calls);
/* Whether a vendor's word means exactly the same as that finish_reason; other words mean more. */
bool pl_chat_is_plain_finish(enum pl_finish finish, struct pl_str word);
/* The error type for a status of Google; "server_error" if unknown. */
const char *pl_chat_error_type(struct pl_str status);

struct pl_format;
/* The vendor of a proof in reasoning_details: by the entry's `format` or, if that is empty, by the
 * name of the model. NULL: the server's own. */
const struct pl_format *pl_chat_proof_home(struct pl_str format, struct pl_str model);

struct pl_cited;
struct pl_json_out;
/* The format's hooks cite and judge (format/format.h). */
bool pl_openai_cite(const struct pl_json_doc *doc, const struct pl_json_node *citation,
                    struct pl_cited *ret);
bool pl_openai_judge(const struct pl_json_doc *doc, const struct pl_json_node *ratings,
                     struct pl_json_out *categories);

#endif
