/* Followers of the lists of a user: sessions, prompts, memories, tasks, runs. A socket begins with
 * user:subscribe and gets an event for every change of its user's data. The events have no
 * sequence; user:missed says that some were dropped, and the lists have to be read again. */
#ifndef PL_LIVE_LISTS_H
#define PL_LIVE_LISTS_H

#include "http/exchange.h"

struct pl_live;

/* On the shard of the socket. */
void pl_lists_follow(struct pl_live *live, bool follows);
void pl_lists_say_missed(struct pl_live *live);
/* The same to every follower of any list on this node. Any thread; dropped when out of memory. */
void pl_lists_say_missed_everywhere(struct pl_server *server);

/* Whether anybody follows any list. If not, no event needs to be made. Any thread. */
bool pl_lists_are_followed(struct pl_server *server);
/* `data` is a JSON object. Any thread; dropped when out of memory. */
void pl_lists_tell(struct pl_server *server, struct pl_str user_id, const char *event,
                   struct pl_str data);
/* Sends the event of this exchange's route, {"id", "revision", "operation"}. The id is the object
 * in its path or its Location, or null. */
void pl_lists_tell_change(struct pl_exchange *x);

#endif
