/* Shows an answer at a terminal while it arrives: text as Markdown, thoughts folded into one dim
 * line, one line per tool call, and a last line with duration and cost. Ctrl-O at the next prompt
 * shows the folded parts. */
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
    struct pl_markdown markdown; /* owned; while is_text_open */
    bool is_text_open;
    bool is_line_open; /* plain text ended without a line break */
    bool has_status;   /* a temporary line is shown, to be wiped before other output */
    bool is_thinking;
    bool has_thought;
    bool was_text_last;                  /* separates a tool's line from the text */
    struct pl_buf thought;               /* owned; last line of the thought */
    struct pl_arena arena;               /* owned */
    PL_VEC(struct pl_answer_call) calls; /* owned; running calls */
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
/* Ends the open text or thought: the cursor is at the beginning of a line. */
void pl_answer_close(struct pl_shown_answer *answer);
/* Prints the last line: seconds, tokens, and dollars (NULL: unknown). */
void pl_answer_sum_up(struct pl_shown_answer *answer, const char *dollars);

#endif
