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

/* Switches these styles on; nothing for none. And all of them off. */
void pl_md_style_on(struct pl_buf *to, unsigned style);
void pl_md_style_off(struct pl_buf *to, unsigned style);
/* A frame's characters. */
void pl_md_dim(struct pl_buf *to, const char *text);

/* The emphasis and words of the line at the beginning of `held`: prints the words that have ended,
 * up to its line break, and says how many bytes were understood. *ret_is_line_over: the line break
 * was among them. */
size_t pl_md_words(struct pl_markdown *markdown, struct pl_str held, bool is_end, struct pl_buf *to,
                   bool *ret_is_line_over);
/* Prints the word that is held. */
void pl_md_word_end(struct pl_markdown *markdown, struct pl_buf *to);

/* Prints it as it is now, where it fits into the row, and keeps it; the cells it took. */
size_t pl_md_word_show(const struct pl_markdown *markdown, struct pl_buf *to);

/* Prints the rows of a table. False: it is not one, and nothing was printed. */
bool pl_md_table(struct pl_str rows, size_t columns, struct pl_buf *to);

#endif
