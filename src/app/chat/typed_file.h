/* Input history, kept from one chat to the next in a file of the user:
 * $XDG_STATE_HOME/parley/history or ~/.local/state/parley/history, mode 0600, bounded (typed.h). */
#ifndef PL_APP_TYPED_FILE_H
#define PL_APP_TYPED_FILE_H

#include "base/arena.h"
#include "terminal/typed.h"

/* The path, owned by the arena. NULL if there is no home directory, or out of memory. */
const char *pl_typed_file_path(struct pl_arena *arena);
/* Adds the entries of the file; a missing file has none. */
enum pl_status pl_typed_file_read(const char *path, struct pl_typed *typed, struct pl_error *err);
/* Adds one entry to the current content of the file: other chats write it too. */
enum pl_status pl_typed_file_add(const char *path, struct pl_str text, struct pl_error *err);

#endif
