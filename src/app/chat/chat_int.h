/* Shared by the files of `parley chat`: the session, the person, and the current meaning of
 * Ctrl-C. */
#ifndef PL_APP_CHAT_INT_H
#define PL_APP_CHAT_INT_H

#include "app/chat/typing.h"
#include "app/frame/verbs.h"
#include "io/system/terminal.h"

#include <stdatomic.h>

/* Read by the thread that takes Ctrl-C. */
enum pl_talk_state {
    PL_TALK_READING,  /* a line is waited for */
    PL_TALK_ANSWERED, /* … and Ctrl-C was pressed once: the next one ends */
    PL_TALK_TURN,     /* a model answers: Ctrl-C stops it */
    PL_TALK_STOPPING, /* … and is being stopped: the next one ends */
};

struct pl_talk {
    struct pl_deed *deed;    /* borrowed */
    const char *session_id;  /* of the deed; NULL until the first message */
    struct pl_lines lines;   /* owned; what the person says, where nothing is edited */
    struct pl_typing typing; /* owned; what the person types, where it is */
    struct pl_buf line;      /* owned; the message at hand */
    bool is_terminal;        /* the person sees prompts */
    bool has_editor;         /* … and keys are ours */
    _Atomic(int) state;      /* enum pl_talk_state */

    /* What slash commands set, for the next message or the session that it begins. */
    const char *model;      /* of the deed; NULL: the session's */
    const char *system;     /* of the deed; NULL: as it is */
    const char *tools;      /* of the deed, JSON; NULL: as they are */
    struct pl_buf attached; /* owned; parts, with commas */
    size_t n_attached;
};

/* Shows `prompt` at a terminal and waits for a line that says something; a line that ends in "\"
 * goes on in the next. PL_NOT_FOUND: the person is gone. In talk->line until the next call. */
enum pl_status pl_talk_read(struct pl_talk *talk, const char *prompt, struct pl_str *ret_line,
                            struct pl_error *err);
/* Asks the person everything the session waits for, and tells it the answers. *ret_was_asked: there
 * was something, and the session goes on. PL_EXIT_NO: the person is gone, and it still waits. */
enum pl_exit pl_talk_ask_person(struct pl_talk *talk, bool *ret_was_asked);
/* A line without a prompt's history: a reason, an answer in one's own words. */
enum pl_status pl_talk_read_words(struct pl_talk *talk, const char *prompt, struct pl_str *ret_line,
                                  struct pl_error *err);

#endif
