/* Google's words for finish reasons and errors, shared by documents and streams. */
#ifndef PL_FORMAT_GEMINI_WORDS_H
#define PL_FORMAT_GEMINI_WORDS_H

#include "conv/conv.h"

/* The meaning of a finishReason; PL_FINISH_OTHER if unknown. STOP after a call means that the call
 * waits for its result: the caller must check that. */
enum pl_finish pl_gemini_finish_of(struct pl_str word);
/* The finish reason of a number; NULL: none. Google writes enums so if a client asks for
 * `enum-encoding=int`. */
const char *pl_gemini_finish_of_number(int64_t number);
/* The finishReason for it; "OTHER" as a fallback. */
const char *pl_gemini_finish_word(enum pl_finish finish);

/* An error in another vendor's words and in Google's. */
struct pl_gemini_error {
    const char *word; /* a type or code of another vendor */
    int code;         /* HTTP status */
    const char *status;
};

/* By another vendor's type or code; NULL if unknown. */
const struct pl_gemini_error *pl_gemini_error_of(struct pl_str word);
/* By Google's status word, or else by the code; NULL if both are unknown. */
const struct pl_gemini_error *pl_gemini_error_by_status(struct pl_str status, int64_t code);

struct pl_cited;
struct pl_json_out;
/* The format's hooks cite and judge (format/format.h). */
bool pl_gemini_cite(const struct pl_json_doc *doc, const struct pl_json_node *citation,
                    struct pl_cited *ret);
bool pl_gemini_judge(const struct pl_json_doc *doc, const struct pl_json_node *ratings,
                     struct pl_json_out *categories);

#endif
