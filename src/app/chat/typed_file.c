#include "app/chat/typed_file.h"

#include "io/file/file.h"
#include "io/file/file_tree.h"
#include "io/file/outfile.h"
#include "io/system/machine.h"

#include <stdlib.h>

const char *pl_typed_file_path(struct pl_arena *arena)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    bool has_state = state && *state == '/';
    if (!has_state && (!home || *home != '/'))
        return NULL;
    pl_buf_addf(&path, "%s%s/parley/history", has_state ? state : home,
                has_state ? "" : "/.local/state");
    pl_buf_addc(&path, '\0');
    return path.status == PL_OK ? pl_arena_dup(arena, pl_buf_str(&path)).ptr : NULL;
}

enum pl_status pl_typed_file_read(const char *path, struct pl_typed *typed, struct pl_error *err)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    if (!pl_path_look(path).is_there)
        return PL_OK;
    enum pl_status status = pl_file_read(path, PL_TYPED_MAX_FILE, NULL, &file, err);
    return status == PL_OK ? pl_typed_read(typed, file.bytes) : status;
}

static enum pl_status write_all(const char *path, const struct pl_typed *typed,
                                struct pl_error *err)
{
    PL_CLEANUP_BUF struct pl_buf text;
    PL_CLEANUP_OUTFILE struct pl_outfile out = {0};
    static const struct pl_outfile_rules rules = {.is_private = true, .is_file = true};
    pl_buf_init(&text, 0);
    pl_typed_write(typed, &text);
    enum pl_status status = text.status;
    if (status == PL_OK)
        status = pl_path_make_parents(path, err);
    if (status == PL_OK)
        status = pl_outfile_open(&out, path, &rules, err);
    if (status == PL_OK)
        status = pl_outfile_write(&out, pl_buf_str(&text), err);
    return status == PL_OK ? pl_outfile_commit(&out, err) : status;
}

enum pl_status pl_typed_file_add(const char *path, struct pl_str text, struct pl_error *err)
{
    struct pl_typed typed = {0};
    enum pl_status status = pl_typed_file_read(path, &typed, err);
    if (status == PL_OK)
        status = pl_typed_add(&typed, text);
    if (status == PL_OK)
        status = write_all(path, &typed, err);
    pl_typed_deinit(&typed);
    return status;
}
