/* What a person tells the chat itself: lines that begin with a slash. */
#ifndef PL_APP_SLASH_H
#define PL_APP_SLASH_H

#include "app/chat/chat_int.h"

/* Whether the line was for the chat, and is done; otherwise it is a message. *ret_is_over: the
 * person wants to end. A line "//…" is a message that begins with one slash. */
bool pl_slash_take(struct pl_talk *talk, struct pl_str line, bool *ret_is_over);

/* Words for the Tab key (typing.h); ctx is the talk. */
void pl_slash_complete(void *ctx, struct pl_str before_cursor, struct pl_completion *completion);

/* Shows what is folded in the last answer: thoughts, calls with their arguments and results. */
void pl_slash_open(void *ctx);

/* What was said before in this session, for somebody who continues it. */
enum pl_exit pl_talk_show_past(struct pl_talk *talk);

#endif
