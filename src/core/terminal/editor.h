/* A message while it is typed: keys change it, and it can be drawn at any time. Pure: keys come from
 * keys.h, bytes for the terminal go to a buffer. */
#ifndef PL_TERMINAL_EDITOR_H
#define PL_TERMINAL_EDITOR_H

#include "terminal/typed.h"
#include "terminal/keys.h"

/* What the caller has to do about a key. */
enum pl_editor_wish {
    PL_EDITOR_GOES_ON,     /* draw */
    PL_EDITOR_DONE,        /* take the text */
    PL_EDITOR_INTERRUPTED, /* Ctrl-C with nothing typed; otherwise it empties the text */
    PL_EDITOR_ENDED,       /* Ctrl-D with nothing typed */
    PL_EDITOR_COMPLETE,    /* Tab */
    PL_EDITOR_CLEAR,       /* empty the screen, and draw */
    PL_EDITOR_OPEN,        /* Ctrl-O: show what is folded */
    PL_EDITOR_SUSPEND,
};

struct pl_editor {
    struct pl_buf text;   /* owned */
    size_t cursor;        /* bytes before it; always at the edge of a cluster */
    struct pl_buf killed; /* owned; what Ctrl-Y brings back */
    bool was_kill;        /* the last key cut something off: the next one adds to it */

    const struct pl_typed *history; /* borrowed; NULL: none */
    size_t history_at;              /* its number of entries: the text that is being typed */
    struct pl_buf draft;            /* owned; that text, while another entry is shown */

    bool is_searching;   /* Ctrl-R */
    struct pl_buf query; /* owned */
    size_t found_at;

    /* The last drawing, to draw over it. */
    PL_VEC(unsigned) drawn; /* owned; the width of each row */
    size_t drawn_row;       /* where the cursor is */
    unsigned drawn_cells;   /* before it in that row */
    enum pl_status status;  /* sticky: PL_NOMEM, PL_LIMIT */
};

/* max_bytes bounds the text: what would go beyond is refused, and the status says so. */
void pl_editor_init(struct pl_editor *editor, const struct pl_typed *history, size_t max_bytes);
void pl_editor_deinit(struct pl_editor *editor);
/* An empty text, for the next message. */
void pl_editor_reset(struct pl_editor *editor);
struct pl_str pl_editor_text(const struct pl_editor *editor);

enum pl_editor_wish pl_editor_take(struct pl_editor *editor, const struct pl_key *key);
/* Puts `word` in place of the text from `from` to the cursor. */
void pl_editor_replace(struct pl_editor *editor, size_t from, struct pl_str word);

struct pl_editor_look {
    struct pl_str prompt; /* printable, one line */
    size_t columns, rows; /* of the terminal */
    bool has_style;       /* the prompt is coloured */
    const char *search;   /* what the prompt begins with while one searches; NULL: in English */
};
/* Draws over the last drawing, and leaves the cursor where it belongs. */
void pl_editor_draw(struct pl_editor *editor, const struct pl_editor_look *look, struct pl_buf *to);
/* The cursor below the text, for what comes next; the drawing is forgotten and stays. */
void pl_editor_leave(struct pl_editor *editor, const struct pl_editor_look *look,
                     struct pl_buf *to);
/* The terminal has other columns: where the last drawing is now. */
void pl_editor_resize(struct pl_editor *editor, size_t columns);
/* The drawing is gone: the screen was emptied, or something else was printed below it. */
void pl_editor_forget(struct pl_editor *editor);

#endif
