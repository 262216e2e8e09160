/* Finds errors, and likely errors, in a conversation.
 *
 * A finding has a code (area.problem), a severity, the node it is about and a sentence that says
 * what to do. This code knows no vendor: the rules of a format or target are in the options. */
#ifndef PL_CONV_LINT_H
#define PL_CONV_LINT_H

#include "conv/conv.h"
#include "schema/schema.h"

enum pl_severity { PL_SEVERITY_ERROR, PL_SEVERITY_WARNING, PL_SEVERITY_INFO };

/* "error", "warning", "info". */
const char *pl_severity_name(enum pl_severity severity);

struct pl_finding {
    const char *code; /* static: "tool.missing" */
    enum pl_severity severity;
    const struct pl_json_node *node; /* of the source; never NULL */
    struct pl_str message;           /* arena or static */
    struct pl_str pointer;           /* arena; JSON Pointer of the node, once looked up */
    bool has_fix;                    /* pl_conv_repair() fixes it */
    struct pl_str edits;             /* arena; JSON edits that fix it (document/edits.h); empty:
                                        none */
};

/* At most this many findings of one code are listed; the rest are only counted. A document with a
 * million errors has few kinds of them. */
enum { PL_FINDINGS_OF_A_CODE = 200, PL_FINDING_CODES = 64 };

struct pl_finding_count {
    const char *code;
    enum pl_severity severity; /* the worst of this code */
    size_t n, n_listed;
};

struct pl_findings {
    PL_VEC(struct pl_finding) list; /* in the order of the document */
    struct pl_finding_count counts[PL_FINDING_CODES];
    size_t n_codes;
    size_t n_omitted; /* counted, but not listed */
};
void pl_findings_deinit(struct pl_findings *findings);
/* Counts a finding of this code. True: list it. */
bool pl_findings_admit(struct pl_findings *findings, const char *code, enum pl_severity severity);
/* Adds a finding about a node of the conversation's document; its message is printf-like. Running
 * out of memory is in conv->status. */
void pl_conv_report_finding(struct pl_conv *conv, struct pl_findings *findings, const char *code,
                            enum pl_severity severity, const struct pl_json_node *node,
                            const char *message, ...) __attribute__((format(printf, 6, 7)));
/* Keeps only the first n_kept of the list; the others still count. */
void pl_findings_cut(struct pl_findings *findings, size_t n_kept);
/* Sorts by document order; findings at one place keep their order. False: out of memory. */
bool pl_findings_sort(struct pl_findings *findings, struct pl_arena *arena);
/* Appends, for each code, a finding with the number of unlisted ones. `root` is that of the
 * document. False: out of memory. */
bool pl_findings_close(struct pl_findings *findings, struct pl_arena *arena,
                       const struct pl_json_node *root);
/* Translates the messages into Chinese. A message that is not in the table is unchanged. False: out
 * of memory. */
bool pl_findings_to_chinese(struct pl_findings *findings, struct pl_arena *arena);
bool pl_findings_have_error(const struct pl_findings *findings);
#define PL_CLEANUP_FINDINGS __attribute__((cleanup(pl_findings_deinit)))

struct pl_lint_opts {
    enum pl_schema_lang lang;        /* of the messages about arguments */
    int64_t now_s;                   /* seconds since 1970; 0: past expiry is not reported */
    bool has_argument_strings;       /* tool arguments are strings of JSON text */
    bool has_json_errors;            /* a failed tool reports it in JSON */
    bool joins_assistants;           /* consecutive assistant messages are one turn */
    bool wants_results_adjacent;     /* results come right after their calls */
    bool refuses_video;              /* send frames and audio, never the video */
    bool refuses_empty;              /* an empty message or text is an error */
    bool wants_alternation;          /* same-role turns are worth a warning */
    bool requires_alternation;       /* … an error */
    bool wants_user_first;           /* the first message is the user's */
    bool refuses_prefill;            /* the last message may not be the assistant's */
    const char *const *open_history; /* as in conv/repair/repair.h */
    const char *target;              /* name of the target, for messages; NULL: none */
    int64_t max_tokens;              /* context size of the model; 0: unknown */
    int64_t n_tokens;                /* of this conversation; 0: estimated from its bytes */
};

/* Appends its findings, in order. PL_NOMEM is the only failure: then the list is empty. */
enum pl_status pl_conv_lint(struct pl_conv *conv, const struct pl_lint_opts *opts,
                            struct pl_findings *findings);

#endif
