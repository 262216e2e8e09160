/* The vendor's words for stop reasons and errors, shared by documents and streams. */
#ifndef PL_FORMAT_ANTHROPIC_WORDS_H
#define PL_FORMAT_ANTHROPIC_WORDS_H

#include "conv/conv.h"

/* The meaning of a stop_reason; PL_FINISH_OTHER if unknown. */
enum pl_finish pl_anthropic_finish_of(struct pl_str word);

/* The stop_reason for the end of an answer. */
struct pl_anthropic_ending {
    enum pl_finish finish;
    bool has_call, has_refusal, has_stop_sequence;
};
const char *pl_anthropic_finish_word(struct pl_anthropic_ending ending);

/* The error type for another vendor's name (a code, type, status or HTTP status code), or NULL. */
const char *pl_anthropic_error_type(struct pl_str theirs);

struct pl_cited;
struct pl_json_out;
/* The format's hooks cite and judge (format/format.h). */
bool pl_anthropic_cite(const struct pl_json_doc *doc, const struct pl_json_node *citation,
                       struct pl_cited *ret);
bool pl_anthropic_judge(const struct pl_json_doc *doc, const struct pl_json_node *ratings,
                        struct pl_json_out *categories);

#endif
