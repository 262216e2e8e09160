/* Renders a Markdown answer for a terminal while it arrives: headings, lists, quotes, framed code,
 * tables and emphasis, with lines broken between words (between any two Chinese characters).
 *
 * The input is not trusted: control characters are shown and never sent. The output after each
 * piece is complete: no escape sequence is split, and every style is switched off again, so that
 * anything may be printed after it. A word is printed when it is complete, a line of code with its
 * line break, a table with its last row. Line breaks of the text are kept. */
#ifndef PL_TERMINAL_MARKDOWN_H
#define PL_TERMINAL_MARKDOWN_H

#include "base/buf.h"

enum pl_markdown_state {
    PL_MARKDOWN_LINE_START, /* the kind of the next line is unknown */
    PL_MARKDOWN_IN_LINE,    /* words are printed as they are completed */
    PL_MARKDOWN_IN_CODE,    /* between two fences */
    PL_MARKDOWN_IN_TABLE,   /* rows are collected */
};

struct pl_markdown {
    size_t columns;
    enum pl_markdown_state state;
    struct pl_buf held;  /* owned; text that was not processed yet */
    struct pl_buf table; /* owned; rows of the table so far */

    /* The line that is being printed. */
    unsigned line_style; /* for a heading or a quote */
    size_t indent;       /* cells before a continuation row */
    bool is_quote;
    size_t column;      /* cells printed in this row; 0 if none */
    size_t n_spaces;    /* pending before the next word */
    struct pl_buf word; /* owned; printable, with its styles */
    size_t word_cells;
    bool is_word_wide;   /* its last character is wide: a break may follow */
    unsigned word_style; /* active styles in the word */
    size_t n_shown;      /* cells of the unfinished word that are already on the screen */

    /* Active emphasis. */
    unsigned style;
    size_t n_ticks; /* of the open code span; 0 if none */
    int32_t before; /* the last character of the line; 0 if none */

    /* The fence of the code block. */
    char fence;
    size_t fence_length;
};

void pl_markdown_init(struct pl_markdown *markdown, size_t columns);
void pl_markdown_deinit(struct pl_markdown *markdown);
/* Adds a piece of the answer, split anywhere. Out of memory is reported in to->status. */
void pl_markdown_feed(struct pl_markdown *markdown, struct pl_str piece, struct pl_buf *to);
/* Shows the unfinished word until the next piece. Nothing else may be printed meanwhile. */
void pl_markdown_show(struct pl_markdown *markdown, struct pl_buf *to);
/* Ends the answer: prints the rest, and a line break if the last line has none. */
void pl_markdown_end(struct pl_markdown *markdown, struct pl_buf *to);

#endif
