/* Shared by the files of the Markdown renderer. */
#ifndef PL_TERMINAL_MARKDOWN_INT_H
#define PL_TERMINAL_MARKDOWN_INT_H

#include "terminal/markdown.h"

enum {
    PL_MD_BOLD = 1,
    PL_MD_ITALIC = 2,
    PL_MD_CODE = 4,
    PL_MD_STRUCK = 8,
    PL_MD_DIM = 16,
    PL_MD_UNDERLINED = 32,
};

/* Switch these styles on (prints nothing for 0), and switch all of them off. */
void pl_md_style_on(struct pl_buf *to, unsigned style);
void pl_md_style_off(struct pl_buf *to, unsigned style);
/* Prints the characters of a frame. */
void pl_md_dim(struct pl_buf *to, const char *text);

/* Processes the emphasis and words of the line at the beginning of `held`. Prints completed words
 * up to its line break and returns the number of bytes consumed. *ret_is_line_over: the line break
 * was consumed. */
size_t pl_md_words(struct pl_markdown *markdown, struct pl_str held, bool is_end, struct pl_buf *to,
                   bool *ret_is_line_over);
/* Prints the pending word. */
void pl_md_word_end(struct pl_markdown *markdown, struct pl_buf *to);

/* Prints the pending word as it is now, if it fits into the row, and keeps it. Returns its
 * cells. */
size_t pl_md_word_show(const struct pl_markdown *markdown, struct pl_buf *to);

/* Prints the rows of a table. Returns false without printing if it is not a table. */
bool pl_md_table(struct pl_str rows, size_t columns, struct pl_buf *to);

#endif
