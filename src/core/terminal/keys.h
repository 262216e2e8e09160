/* What a terminal sends, as keys: UTF-8, control characters, the sequences of arrow and function
 * keys, and bracketed paste, cut anywhere. */
#ifndef PL_TERMINAL_KEYS_H
#define PL_TERMINAL_KEYS_H

#include "base/buf.h"

enum pl_key_kind {
    PL_KEY_TEXT,  /* typed; without control characters */
    PL_KEY_PASTE, /* a piece of a paste: line breaks and tabs, no other control characters */
    PL_KEY_ENTER,
    PL_KEY_NEWLINE, /* Alt-Enter, Shift-Enter where the terminal tells */
    PL_KEY_TAB,
    PL_KEY_BACK_TAB,
    PL_KEY_ESCAPE,
    PL_KEY_BACKSPACE,
    PL_KEY_DELETE,
    PL_KEY_LEFT,
    PL_KEY_RIGHT,
    PL_KEY_UP,
    PL_KEY_DOWN,
    PL_KEY_HOME,
    PL_KEY_END,
    PL_KEY_WORD_LEFT,
    PL_KEY_WORD_RIGHT,
    PL_KEY_KILL_END,        /* Ctrl-K */
    PL_KEY_KILL_BEGINNING,  /* Ctrl-U */
    PL_KEY_KILL_WORD,       /* Ctrl-W: back to white space */
    PL_KEY_ERASE_WORD,      /* Alt-Backspace: back to the beginning of a word */
    PL_KEY_ERASE_NEXT_WORD, /* Alt-D */
    PL_KEY_YANK,            /* Ctrl-Y */
    PL_KEY_TRANSPOSE,       /* Ctrl-T */
    PL_KEY_SEARCH,          /* Ctrl-R */
    PL_KEY_CANCEL,          /* Ctrl-G */
    PL_KEY_CLEAR,           /* Ctrl-L */
    PL_KEY_OPEN,            /* Ctrl-O */
    PL_KEY_INTERRUPT,       /* Ctrl-C */
    PL_KEY_EOF,             /* Ctrl-D */
    PL_KEY_SUSPEND,         /* Ctrl-Z */
};

struct pl_key {
    enum pl_key_kind kind;
    struct pl_str text; /* of TEXT and PASTE; valid until the next call */
};

struct pl_keys {
    struct pl_buf bytes; /* owned; not yet taken */
    struct pl_buf piece; /* owned; of the last key */
    size_t n_taken;
    enum pl_status status; /* sticky: PL_NOMEM when text was lost */
    bool is_pasting;
    bool is_settled; /* nothing more comes: a sequence that is cut is over */
    bool was_return; /* the last byte of the paste was a carriage return */
};

void pl_keys_init(struct pl_keys *keys);
void pl_keys_deinit(struct pl_keys *keys);
/* PL_NOMEM: nothing of it was taken. */
enum pl_status pl_keys_feed(struct pl_keys *keys, struct pl_str bytes);
/* False: there is no whole key. */
bool pl_keys_next(struct pl_keys *keys, struct pl_key *ret_key);
/* Whether what is left may be the Escape key, or the beginning of a sequence: after a moment without
 * more, the caller says which by pl_keys_settle. */
bool pl_keys_is_cut(const struct pl_keys *keys);
/* Nothing more comes: the next Escape stands for itself. */
void pl_keys_settle(struct pl_keys *keys);

/* Appends the bytes that are not taken, and forgets them. */
void pl_keys_give_back(struct pl_keys *keys, struct pl_buf *to);

#endif
