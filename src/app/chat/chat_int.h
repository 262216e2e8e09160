/* Shared by the files of `parley chat`: the session, the user's input, and the current meaning of
 * Ctrl-C. */
#ifndef PL_APP_CHAT_INT_H
#define PL_APP_CHAT_INT_H

#include "app/chat/typing.h"
#include "app/frame/verbs.h"
#include "io/system/terminal.h"

#include <stdatomic.h>

/* Read by the thread that handles Ctrl-C. */
enum pl_talk_state {
    PL_TALK_READING,  /* waiting for a line */
    PL_TALK_ANSWERED, /* … and Ctrl-C was pressed once: the next one exits */
    PL_TALK_TURN,     /* a model answers: Ctrl-C stops it */
    PL_TALK_STOPPING, /* … and is being stopped: the next Ctrl-C exits */
};

struct pl_talk {
    struct pl_deed *deed;    /* borrowed */
    const char *session_id;  /* owned by the deed; NULL until the first message */
    struct pl_lines lines;   /* owned; input without the editor */
    struct pl_typing typing; /* owned; input with the editor */
    struct pl_buf line;      /* owned; the current message */
    bool is_terminal;        /* prompts are shown */
    bool has_editor;         /* … and the editor reads the keys */
    _Atomic(int) state;      /* enum pl_talk_state */

    /* Set by slash commands, for the next message or the session it begins. */
    const char *model;      /* owned by the deed; NULL: the session's */
    const char *system;     /* owned by the deed; NULL: unchanged */
    const char *tools;      /* owned by the deed, JSON; NULL: unchanged */
    struct pl_buf attached; /* owned; parts, each after a comma */
    size_t n_attached;
};

/* Shows `prompt` at a terminal and reads a line that is not blank; a line that ends in "\"
 * continues on the next one. PL_NOT_FOUND at the end of input. The line is in talk->line until the
 * next call. */
enum pl_status pl_talk_read(struct pl_talk *talk, const char *prompt, struct pl_str *ret_line,
                            struct pl_error *err);
/* Asks the user all open questions of the session and sends the answers. *ret_was_asked: there were
 * questions, and the session continues. PL_EXIT_NO if input ended and the session still waits. */
enum pl_exit pl_talk_ask_person(struct pl_talk *talk, bool *ret_was_asked);
/* Reads a line that does not go into the history: a reason, a free-text answer. */
enum pl_status pl_talk_read_words(struct pl_talk *talk, const char *prompt, struct pl_str *ret_line,
                                  struct pl_error *err);

#endif
