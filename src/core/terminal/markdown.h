/* An answer in Markdown for a terminal, rendered while it comes: headings, lists, quotes, code in a
 * frame, tables, emphasis, with lines broken between words (between any two Chinese characters).
 *
 * The input is not trusted: control characters are shown and never sent. The output after each piece
 * is complete: no escape sequence is cut, and every style is switched off again, so that anything
 * may be printed after it. A word is printed when it has ended, a line of code with its line break,
 * a table with its last row. Line breaks of the text stay. */
#ifndef PL_TERMINAL_MARKDOWN_H
#define PL_TERMINAL_MARKDOWN_H

#include "base/buf.h"

enum pl_markdown_state {
    PL_MARKDOWN_LINE_START, /* what kind of line comes is not known */
    PL_MARKDOWN_IN_LINE,    /* words are printed as they end */
    PL_MARKDOWN_IN_CODE,    /* between two fences */
    PL_MARKDOWN_IN_TABLE,   /* rows are gathered */
};

struct pl_markdown {
    size_t columns;
    enum pl_markdown_state state;
    struct pl_buf held;  /* owned; of the text, not yet understood */
    struct pl_buf table; /* owned; its rows so far */

    /* The line that is being printed. */
    unsigned line_style; /* of a heading, a quote */
    size_t indent;       /* cells before a row that goes on */
    bool is_quote;
    size_t column;      /* cells printed in this row; 0: nothing */
    size_t n_spaces;    /* that wait for a word */
    struct pl_buf word; /* owned; printable, with its styles */
    size_t word_cells;
    bool is_word_wide;   /* its last character is wide: it may be broken there */
    unsigned word_style; /* switched on in it */
    size_t n_shown;      /* cells of the unfinished word that are on the screen all the same */

    /* Emphasis that is on. */
    unsigned style;
    size_t n_ticks; /* of a code span; 0: none */
    int32_t before; /* the last character of the line; 0: none */

    /* The fence of the code. */
    char fence;
    size_t fence_length;
};

void pl_markdown_init(struct pl_markdown *markdown, size_t columns);
void pl_markdown_deinit(struct pl_markdown *markdown);
/* More of the answer, cut anywhere. Memory that runs out shows in to->status. */
void pl_markdown_feed(struct pl_markdown *markdown, struct pl_str piece, struct pl_buf *to);
/* Shows the word that has not ended, until more comes: nothing may be printed after it meanwhile. */
void pl_markdown_show(struct pl_markdown *markdown, struct pl_buf *to);
/* The answer is over: what was held, and a line break where the last line has none. */
void pl_markdown_end(struct pl_markdown *markdown, struct pl_buf *to);

#endif
