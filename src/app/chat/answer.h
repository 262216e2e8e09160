/* An answer at a person's terminal while it comes: its text as Markdown, thoughts folded into one
 * dim line, tools one line each, and below it how long it took and what it cost. Ctrl-O at the next
 * prompt shows what is folded. */
#ifndef PL_APP_ANSWER_H
#define PL_APP_ANSWER_H

#include "app/frame/api.h"
#include "base/vec.h"
#include "terminal/markdown.h"

struct pl_answer_call {
    const char *id, *line; /* arena */
};

struct pl_shown_answer {
    struct pl_console *console;  /* borrowed */
    struct pl_markdown markdown; /* owned; while the text is open */
    bool is_text_open;
    bool is_line_open; /* plain text that ended without a line break */
    bool has_status;   /* a line that is wiped before anything else */
    bool is_thinking;
    bool has_thought;
    bool was_text_last;                  /* so that a tool's line stands apart */
    struct pl_buf thought;               /* owned; its last line */
    struct pl_arena arena;               /* owned */
    PL_VEC(struct pl_answer_call) calls; /* owned; that run */
    int64_t started_ms, thought_since_ms;
    int64_t input_tokens, output_tokens;
    enum pl_status status; /* sticky */
};

void pl_answer_begin(struct pl_shown_answer *answer, struct pl_console *console);
void pl_answer_deinit(struct pl_shown_answer *answer);

void pl_answer_text(struct pl_shown_answer *answer, struct pl_str text);
void pl_answer_think(struct pl_shown_answer *answer, struct pl_str text);
void pl_answer_call(struct pl_shown_answer *answer, struct pl_str id, struct pl_str name,
                    struct pl_str arguments);
void pl_answer_result(struct pl_shown_answer *answer, struct pl_str id, bool is_good,
                      struct pl_str result);
/* Ends the text or thought at hand: the cursor is at the beginning of a line. */
void pl_answer_close(struct pl_shown_answer *answer);
/* The last line: seconds, tokens, and dollars where they are known (NULL: not). */
void pl_answer_sum_up(struct pl_shown_answer *answer, const char *dollars);

#endif
