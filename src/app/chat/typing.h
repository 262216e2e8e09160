/* Typed input at a terminal: connects the editor and menus of core/terminal to the keys, the
 * terminal size and the history file. */
#ifndef PL_APP_TYPING_H
#define PL_APP_TYPING_H

#include "app/frame/console.h"
#include "terminal/editor.h"
#include "terminal/menu.h"

/* Completions at the cursor. */
struct pl_completion {
    size_t from;         /* beginning of the word */
    struct pl_buf words; /* each ends with a NUL */
    size_t n_words;
};

struct pl_typing {
    struct pl_console *console; /* borrowed */
    const char *path;           /* of the history file; NULL: no history */
    struct pl_keys keys;        /* owned */
    struct pl_typed typed;      /* owned */
    struct pl_editor editor;    /* owned */
    struct pl_buf ahead;        /* owned; keys typed before a menu, for the next message */
    struct pl_editor_look look; /* of the current drawing */
    bool was_interrupted;       /* Ctrl-C with nothing typed: the next one exits */

    /* Set by the caller; may be NULL. */
    void (*complete)(void *ctx, struct pl_str before_cursor, struct pl_completion *completion);
    void (*open)(void *ctx); /* Ctrl-O */
    void *ctx;
};

/* Switches the terminal to raw mode. The caller ends *typing in either case. */
enum pl_status pl_typing_begin(struct pl_typing *typing, struct pl_console *console,
                               const char *path, size_t max_bytes, struct pl_error *err);
void pl_typing_end(struct pl_typing *typing);

/* Reads a message until Enter; it is in the editor until the next call. `is_kept`: adds it to the
 * history. PL_NOT_FOUND at the end of input. */
enum pl_status pl_typing_read(struct pl_typing *typing, const char *prompt, bool is_kept,
                              struct pl_str *ret_text);

/* Shows the menu and reads a choice. Keys pressed before it was shown do not answer it: they are
 * kept for the next message. PL_NOT_FOUND if the user leaves without a choice. */
enum pl_status pl_typing_choose(struct pl_typing *typing, struct pl_menu *menu);

/* Adds a word to the completions if it begins with the typed text. */
void pl_completion_offer(struct pl_completion *completion, struct pl_str typed, struct pl_str word);

#endif
