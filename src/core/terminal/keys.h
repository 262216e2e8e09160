/* Decodes terminal input into keys: UTF-8, control characters, escape sequences of arrow and
 * function keys, and bracketed paste. The input may be split anywhere. */
#ifndef PL_TERMINAL_KEYS_H
#define PL_TERMINAL_KEYS_H

#include "base/buf.h"

enum pl_key_kind {
    PL_KEY_TEXT,  /* typed; without control characters */
    PL_KEY_PASTE, /* part of a paste: line breaks and tabs, but no other control characters */
    PL_KEY_ENTER,
    PL_KEY_NEWLINE, /* Alt-Enter, or Shift-Enter if the terminal reports it */
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
    struct pl_str text; /* for TEXT and PASTE; valid until the next call */
};

struct pl_keys {
    struct pl_buf bytes; /* owned; n_taken of them are consumed */
    struct pl_buf piece; /* owned; text of the last key */
    size_t n_taken;
    enum pl_status status; /* sticky: PL_NOMEM if text was lost */
    bool is_pasting;
    bool is_settled; /* no more input comes: an incomplete sequence ends here */
    bool was_return; /* the last byte of the paste was a carriage return */
};

void pl_keys_init(struct pl_keys *keys);
void pl_keys_deinit(struct pl_keys *keys);
/* PL_NOMEM: nothing was added. */
enum pl_status pl_keys_feed(struct pl_keys *keys, struct pl_str bytes);
/* Returns false if there is no complete key. */
bool pl_keys_next(struct pl_keys *keys, struct pl_key *ret_key);
/* True if the rest may be the Escape key or the beginning of a sequence. If no more input comes for
 * a moment, the caller decides by calling pl_keys_settle. */
bool pl_keys_is_cut(const struct pl_keys *keys);
/* No more input comes: a pending Escape is the key itself. */
void pl_keys_settle(struct pl_keys *keys);

/* Appends the unconsumed bytes and removes them. */
void pl_keys_give_back(struct pl_keys *keys, struct pl_buf *to);

#endif
