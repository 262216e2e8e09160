/* Ids as people write them: a whole id, a unique prefix of one (with or without its "sess_"), or
 * "last", the one that changed last. */
#ifndef PL_APP_SHORT_ID_H
#define PL_APP_SHORT_ID_H

#include "app/frame/console.h"

struct pl_deed;

/* Finds the whole id of a session. Prints the error unless it returns PL_EXIT_OK. */
enum pl_exit pl_deed_find_session(struct pl_deed *deed, const char *word, const char **ret_id);

/* Same for any kind of thing: `path` lists them with their ids. `what` is their name in messages:
 * "session". */
enum pl_exit pl_deed_find_id(struct pl_deed *deed, const char *path, const char *prefix,
                             const char *what, const char *word, const char **ret_id);

#endif
