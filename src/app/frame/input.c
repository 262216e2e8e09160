#include "app/frame/input.h"

#include "json/json.h"

#include <string.h>

enum { MAX_BYTES = 1 << 30 };

/* If the head exceeds a limit (depth, values, digits of a number), the whole input does too. Any
 * other error may come from the cut at the end of the head; the full parse decides. */
static enum pl_status probe(struct pl_str head, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    struct pl_error found = {0};
    if (pl_json_parse(&arena, head, NULL, &doc, &found) != PL_LIMIT)
        return PL_OK;
    *err = found;
    return PL_LIMIT;
}

enum pl_status pl_input_read(const char *path, struct pl_file *ret_file, struct pl_error *err)
{
    return pl_file_read(path, MAX_BYTES, probe, ret_file, err);
}

const char *pl_input_name(const char *path)
{
    return strcmp(path, "-") == 0 ? "<stdin>" : path;
}
