/* Ids as people write them: a whole id, a unique beginning of one (with or without its "sess_"), or
 * "last", the one that changed last. */
#ifndef PL_APP_SHORT_ID_H
#define PL_APP_SHORT_ID_H

#include "app/frame/console.h"

struct pl_deed;

/* The whole id of a session. Anything but PL_EXIT_OK has been explained. */
enum pl_exit pl_deed_find_session(struct pl_deed *deed, const char *word, const char **ret_id);

/* The same for a list of any things: `path` lists them with their ids. `what` is their name in
 * messages: "session". */
enum pl_exit pl_deed_find_id(struct pl_deed *deed, const char *path, const char *prefix,
                             const char *what, const char *word, const char **ret_id);

#endif
