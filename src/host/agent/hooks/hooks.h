/* Places where extensions have a word in the work of a session; those around tools are in tools/hooked.c, those around a
 * message that comes in are in intake.c. */
#ifndef PL_AGENT_HOOKS_HOOKS_H
#define PL_AGENT_HOOKS_HOOKS_H

#include "base/str.h"

struct pl_activity;
struct pl_driver;

/* --- request_hooks.c */
/* The request was read and prepared, or activity->status says why not: all its hooks, then `hooked`. A request that was
 * blocked has its reason in activity->err. */
void pl_hook_request(struct pl_activity *activity, void (*hooked)(struct pl_activity *activity));
/* Only before_provider_request: of a summary, which is written to nobody. */
void pl_hook_provider_request(struct pl_activity *activity,
                              void (*hooked)(struct pl_activity *activity));
/* Copies the additions of before_agent_start for the current message into the activity. False: out
 * of memory. */
bool pl_hook_agent_recall(struct pl_activity *activity);
/* Another message is answered from now on, or none. */
void pl_hook_agent_over(struct pl_driver *driver);

/* --- update_hooks.c: message_update, ten times a second at most */
/* A model is being asked. */
void pl_hook_update_begin(struct pl_activity *activity);
void pl_hook_update(struct pl_activity *activity, bool is_thinking, struct pl_str text);
/* The block at hand has ended: another begins with the next words. */
void pl_hook_update_break(struct pl_activity *activity);
/* Tells the words that were not told yet. */
void pl_hook_update_end(struct pl_activity *activity);

#endif
