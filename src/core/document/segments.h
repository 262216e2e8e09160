/* The tokens of a document by purpose: the eleven kinds of segments of seed 000. */
#ifndef PL_DOCUMENT_SEGMENTS_H
#define PL_DOCUMENT_SEGMENTS_H

#include "document/count.h"

/* X(name, text) */
#define PL_SEGMENT_TABLE(X)                                                                        \
    X(SYSTEM_PROMPT, "system_prompt")                                                              \
    X(MEMORY, "memory")                                                                            \
    X(SKILLS, "skills")                                                                            \
    X(TOOL_OVERVIEW, "tool_overview")                                                              \
    X(STATIC_VAR, "static_var")                                                                    \
    X(TEXT, "text")                                                                                \
    X(LONG_TEXT, "long_text")                                                                      \
    X(DOCUMENT, "document")                                                                        \
    X(MEDIA, "media")                                                                              \
    X(TOOL_CALL_REQUEST, "tool_call_request")                                                      \
    X(TOOL_CALL_RESULT, "tool_call_result")

enum pl_segment_kind {
#define X(name, text) PL_SEGMENT_##name,
    PL_SEGMENT_TABLE(X)
#undef X
        PL_SEGMENT_KIND_COUNT,
};

const char *pl_segment_name(enum pl_segment_kind kind);

/* Words of a known kind that the document does not mark: they are removed from the first text that
 * contains them. */
struct pl_segment_known {
    struct pl_str words; /* borrowed; empty: none */
    enum pl_segment_kind kind;
    bool is_anybodys; /* false: only the system's */
    bool is_found;    /* set when they were removed */
};

/* The sum of `by` is counted.n_tokens. The tokens that frame a message count for the kind of its
 * first part. */
struct pl_segments {
    struct pl_counted counted;
    uint64_t by[PL_SEGMENT_KIND_COUNT];
};

/* Like pl_count_document, with exactly the same total. */
enum pl_status pl_segments_count(struct pl_str text, const struct pl_format *as,
                                 struct pl_segment_known *known, size_t n_known,
                                 struct pl_segments *ret_segments, struct pl_error *err);

#endif
