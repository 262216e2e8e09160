/* What a person typed at the terminal, kept from one chat to the next: a file of the user's own,
 * $XDG_STATE_HOME/parley/history or ~/.local/state/parley/history, mode 0600, bounded (typed.h). */
#ifndef PL_APP_TYPED_FILE_H
#define PL_APP_TYPED_FILE_H

#include "base/arena.h"
#include "terminal/typed.h"

/* Its path, in the arena; NULL: there is no home, or memory ran out. */
const char *pl_typed_file_path(struct pl_arena *arena);
/* Adds what the file has; a file that is not there has nothing. */
enum pl_status pl_typed_file_read(const char *path, struct pl_typed *typed, struct pl_error *err);
/* Adds one entry to what the file has by now: other chats write it too. */
enum pl_status pl_typed_file_add(const char *path, struct pl_str text, struct pl_error *err);

#endif
