/* A person who types at a terminal: the editor and menus of core/terminal with its keys, its size
 * and the file of what was typed. */
#ifndef PL_APP_TYPING_H
#define PL_APP_TYPING_H

#include "app/frame/console.h"
#include "terminal/editor.h"
#include "terminal/menu.h"

/* Words for the place of the cursor. */
struct pl_completion {
    size_t from;         /* where the word begins */
    struct pl_buf words; /* each ends with a NUL */
    size_t n_words;
};

struct pl_typing {
    struct pl_console *console; /* borrowed */
    const char *path;           /* of the file; NULL: nothing is kept */
    struct pl_keys keys;        /* owned */
    struct pl_typed typed;      /* owned */
    struct pl_editor editor;    /* owned */
    struct pl_buf ahead;        /* owned; keys from before a menu, for the next message */
    struct pl_editor_look look; /* of the drawing at hand */
    bool was_interrupted;       /* Ctrl-C with nothing typed: the next one ends */

    /* Of the caller; NULL: there is none. */
    void (*complete)(void *ctx, struct pl_str before_cursor, struct pl_completion *completion);
    void (*open)(void *ctx); /* Ctrl-O */
    void *ctx;
};

/* Takes the terminal. *typing is to be ended either way. */
enum pl_status pl_typing_begin(struct pl_typing *typing, struct pl_console *console,
                               const char *path, size_t max_bytes, struct pl_error *err);
void pl_typing_end(struct pl_typing *typing);

/* A message, until Enter; in the editor until the next call. `is_kept`: it is one for the history.
 * PL_NOT_FOUND: the person is gone. */
enum pl_status pl_typing_read(struct pl_typing *typing, const char *prompt, bool is_kept,
                              struct pl_str *ret_text);

/* One of the menu's answers. Keys that were pressed before it was shown do not answer it: they are
 * for the next message. PL_NOT_FOUND: the person leaves it open. */
enum pl_status pl_typing_choose(struct pl_typing *typing, struct pl_menu *menu);

/* Offers a word that begins with what stands there. */
void pl_completion_offer(struct pl_completion *completion, struct pl_str typed, struct pl_str word);

#endif
