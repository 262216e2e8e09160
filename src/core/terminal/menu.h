/* A question with a few answers, selected with keys: arrows and Enter, the key of an answer, or
 * Space for multiple choice. It does no I/O, like the editor. */
#ifndef PL_TERMINAL_MENU_H
#define PL_TERMINAL_MENU_H

#include "terminal/keys.h"

enum { PL_MENU_MAX = 64 };

enum pl_menu_wish {
    PL_MENU_GOES_ON,     /* draw */
    PL_MENU_TAKEN,       /* `at`, or the marked answers */
    PL_MENU_LEFT,        /* Escape, Ctrl-D */
    PL_MENU_INTERRUPTED, /* Ctrl-C */
};

struct pl_menu_item {
    char key;            /* selects it at once; marks it in a multiple choice */
    struct pl_str label; /* printable, one line */
};

struct pl_menu {
    const struct pl_menu_item *items; /* borrowed */
    size_t n_items;                   /* 1 to PL_MENU_MAX */
    bool is_many;
    size_t n_alone;  /* the last answers of a multiple choice that are selected alone */
    size_t at;       /* the answer under the cursor */
    uint64_t marked; /* bits, for a multiple choice */
    size_t n_drawn;  /* rows of the last drawing */
};

enum pl_menu_wish pl_menu_take(struct pl_menu *choice, const struct pl_key *key);
/* Replaces the last drawing; the cursor stays below it. */
void pl_menu_draw(struct pl_menu *choice, size_t columns, bool has_style, struct pl_buf *to);
/* Erases the drawing. */
void pl_menu_wipe(struct pl_menu *choice, struct pl_buf *to);

#endif
