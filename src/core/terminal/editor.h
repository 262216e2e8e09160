/* A line editor for a message that is being typed. Keys change the text, and it can be drawn at any
 * time. It does no I/O: keys come from keys.h, terminal output goes to a buffer. */
#ifndef PL_TERMINAL_EDITOR_H
#define PL_TERMINAL_EDITOR_H

#include "terminal/typed.h"
#include "terminal/keys.h"

/* The action that a key requires from the caller. */
enum pl_editor_wish {
    PL_EDITOR_GOES_ON,     /* draw */
    PL_EDITOR_DONE,        /* take the text */
    PL_EDITOR_INTERRUPTED, /* Ctrl-C on an empty text; otherwise it clears the text */
    PL_EDITOR_ENDED,       /* Ctrl-D on an empty text */
    PL_EDITOR_COMPLETE,    /* Tab */
    PL_EDITOR_CLEAR,       /* clear the screen and draw */
    PL_EDITOR_OPEN,        /* Ctrl-O: show folded content */
    PL_EDITOR_SUSPEND,
};

struct pl_editor {
    struct pl_buf text;   /* owned */
    size_t cursor;        /* byte offset; always at a cluster boundary */
    struct pl_buf killed; /* owned; Ctrl-Y inserts it */
    bool was_kill;        /* the last key killed text: the next kill appends to it */

    const struct pl_typed *history; /* borrowed; may be NULL */
    size_t history_at;   /* shown entry; the number of entries for the text being typed */
    struct pl_buf draft; /* owned; the text being typed, while an entry is shown */

    bool is_searching;   /* Ctrl-R */
    struct pl_buf query; /* owned */
    size_t found_at;

    /* The last drawing, so that the next one can replace it. */
    PL_VEC(unsigned) drawn; /* owned; the width of each row */
    size_t drawn_row;       /* row of the cursor */
    unsigned drawn_cells;   /* cells before the cursor in that row */
    enum pl_status status;  /* sticky: PL_NOMEM, PL_LIMIT */
};

/* max_bytes limits the text: input beyond it is refused and sets the status. */
void pl_editor_init(struct pl_editor *editor, const struct pl_typed *history, size_t max_bytes);
void pl_editor_deinit(struct pl_editor *editor);
/* Clears the text for the next message. */
void pl_editor_reset(struct pl_editor *editor);
struct pl_str pl_editor_text(const struct pl_editor *editor);

enum pl_editor_wish pl_editor_take(struct pl_editor *editor, const struct pl_key *key);
/* Replaces the text from `from` to the cursor by `word`. */
void pl_editor_replace(struct pl_editor *editor, size_t from, struct pl_str word);

struct pl_editor_look {
    struct pl_str prompt; /* printable, one line */
    size_t columns, rows; /* of the terminal */
    bool has_style;       /* the prompt is coloured */
    const char *search;   /* start of the prompt while searching; NULL for English */
};
/* Replaces the last drawing and puts the cursor in its place. */
void pl_editor_draw(struct pl_editor *editor, const struct pl_editor_look *look, struct pl_buf *to);
/* Moves the cursor below the text. The drawing stays on the screen and is not replaced any more. */
void pl_editor_leave(struct pl_editor *editor, const struct pl_editor_look *look,
                     struct pl_buf *to);
/* The number of columns changed: recomputes where the last drawing is. */
void pl_editor_resize(struct pl_editor *editor, size_t columns);
/* The drawing is gone: the screen was cleared, or other output was printed below it. */
void pl_editor_forget(struct pl_editor *editor);

#endif
