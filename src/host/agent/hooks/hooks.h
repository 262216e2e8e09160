/* Hooks where extensions take part in the work of a session. Those for tools are in tools/hooked.c,
 * those for an incoming message in intake.c. */
#ifndef PL_AGENT_HOOKS_HOOKS_H
#define PL_AGENT_HOOKS_HOOKS_H

#include "base/buf.h"
#include "ext/run/ext.h"

struct pl_activity;
struct pl_driver;

/* --- request_hooks.c */
/* Starts a hook with `data`; `done` gets the ruling. False: out of memory. */
bool pl_hook_start(struct pl_activity *activity, enum pl_ext_hook hook, const struct pl_buf *data,
                   void (*done)(void *ctx, const struct pl_ext_ruling *ruling));
/* The request was read and prepared, or activity->status says why not: runs all its hooks, then
 * `hooked`. The reason of a blocked request is in activity->err. */
void pl_hook_request(struct pl_activity *activity, void (*hooked)(struct pl_activity *activity));
/* Only before_provider_request: for a summary, which answers nobody. */
void pl_hook_provider_request(struct pl_activity *activity,
                              void (*hooked)(struct pl_activity *activity));
/* Copies the additions of before_agent_start for the current message into the activity. False: out
 * of memory. */
bool pl_hook_agent_recall(struct pl_activity *activity);
/* The answer to the current message is over. */
void pl_hook_agent_over(struct pl_driver *driver);

/* --- update_hooks.c: message_update, ten times a second at most */
/* The call of a model begins. */
void pl_hook_update_begin(struct pl_activity *activity);
void pl_hook_update(struct pl_activity *activity, bool is_thinking, struct pl_str text);
/* The current block has ended: the next text begins another. */
void pl_hook_update_break(struct pl_activity *activity);
/* Sends the text that was not sent yet. */
void pl_hook_update_end(struct pl_activity *activity);

#endif
