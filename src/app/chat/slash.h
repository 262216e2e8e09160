/* Slash commands: lines for the chat program itself. */
#ifndef PL_APP_SLASH_H
#define PL_APP_SLASH_H

#include "app/chat/chat_int.h"

/* True if the line was a slash command, which has been run; otherwise it is a message.
 * *ret_is_over: the user wants to exit. A line "//…" is a message that begins with one slash. */
bool pl_slash_take(struct pl_talk *talk, struct pl_str line, bool *ret_is_over);

/* Completes words for the Tab key (typing.h); ctx is the talk. */
void pl_slash_complete(void *ctx, struct pl_str before_cursor, struct pl_completion *completion);

/* Shows the folded parts of the last answer: thoughts, and calls with their arguments and
 * results. */
void pl_slash_open(void *ctx);

/* Prints the earlier turns of this session, for a user who continues it. */
enum pl_exit pl_talk_show_past(struct pl_talk *talk);

#endif
