/* A question with a few answers, taken with keys: arrows and Enter, the key of an answer, Space where
 * several may be taken. Pure, as the editor is. */
#ifndef PL_TERMINAL_MENU_H
#define PL_TERMINAL_MENU_H

#include "terminal/keys.h"

enum { PL_MENU_MAX = 64 };

enum pl_menu_wish {
    PL_MENU_GOES_ON,     /* draw */
    PL_MENU_TAKEN,       /* `at`, or what is marked */
    PL_MENU_LEFT,        /* Escape, Ctrl-D */
    PL_MENU_INTERRUPTED, /* Ctrl-C */
};

struct pl_menu_item {
    char key;            /* takes it at once; where several may be taken, marks it */
    struct pl_str label; /* printable, one line */
};

struct pl_menu {
    const struct pl_menu_item *items; /* borrowed */
    size_t n_items;                   /* 1 to PL_MENU_MAX */
    bool is_many;
    size_t n_alone;  /* the last ones of a choice of many, which are taken alone */
    size_t at;       /* the answer under the cursor */
    uint64_t marked; /* bits, where several may be taken */
    size_t n_drawn;  /* rows of the last drawing */
};

enum pl_menu_wish pl_menu_take(struct pl_menu *choice, const struct pl_key *key);
/* Draws over the last drawing; the cursor stays below. */
void pl_menu_draw(struct pl_menu *choice, size_t columns, bool has_style, struct pl_buf *to);
/* Wipes the drawing. */
void pl_menu_wipe(struct pl_menu *choice, struct pl_buf *to);

#endif
