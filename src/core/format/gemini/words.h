/* Google's words for why an answer ended and for what went wrong, shared by documents and streams.
 */
#ifndef PL_FORMAT_GEMINI_WORDS_H
#define PL_FORMAT_GEMINI_WORDS_H

#include "conv/conv.h"

/* What a finishReason means; PL_FINISH_OTHER for one we do not know. STOP after a call means that
 * the call waits for its result: that is for the caller to see. */
enum pl_finish pl_gemini_finish_of(struct pl_str word);
/* The finishReason that says it, "OTHER" at worst. */
const char *pl_gemini_finish_word(enum pl_finish finish);

/* One thing that can go wrong, in another vendor's words and in Google's. */
struct pl_gemini_error {
    const char *word; /* a type or code of another vendor */
    int code;         /* HTTP status */
    const char *status;
};

/* By another vendor's type or code; NULL when none says that. */
const struct pl_gemini_error *pl_gemini_error_of(struct pl_str word);
/* By Google's status word or else by the code; NULL when neither is known. */
const struct pl_gemini_error *pl_gemini_error_by_status(struct pl_str status, int64_t code);

struct pl_cited;
struct pl_json_out;
/* The hooks cite and judge of the format (format/format.h). */
bool pl_gemini_cite(const struct pl_json_doc *doc, const struct pl_json_node *citation,
                    struct pl_cited *ret);
bool pl_gemini_judge(const struct pl_json_doc *doc, const struct pl_json_node *ratings,
                     struct pl_json_out *categories);

#endif
