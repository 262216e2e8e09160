/* The key that the options ask for: as JSON for a server, as values for a store row. */
#ifndef PL_APP_KEY_WISH_H
#define PL_APP_KEY_WISH_H

#include "app/frame/commands.h"
#include "base/arena.h"
#include "json/write.h"
#include "store/gateway.h"

struct pl_key_wish {
    const char *name, *scope; /* NULL: not given */
    struct pl_str models;     /* one per line; {NULL, 0}: not given; empty: every model */
    int64_t expires_ms;       /* 0: never; -1: not given */
    bool is_admin;
    bool has_limits;
    const char *limits[PL_LIMIT_OF_KEYS]; /* as given; NULL: not given; "none" removes the limit */
    int64_t values[PL_LIMIT_OF_KEYS];     /* the same in units of the store; -1: not given */
};

/* Prints the error unless it returns PL_EXIT_OK. The arena owns the models. */
enum pl_exit pl_key_wish_read(struct pl_console *console, const struct pl_args *args,
                              struct pl_arena *arena, struct pl_key_wish *ret_wish);
/* Writes the body of a request that creates or changes a key. */
void pl_key_wish_write(struct pl_json_out *out, const struct pl_key_wish *wish);

/* Parses a decimal number in (0, most] and multiplies it by `unit`; "none" is 0. False for anything
 * else. */
bool pl_limit_read(const char *text, bool is_whole, double unit, double most, int64_t *ret_value);

/* Parses "90d", "12h", "30m", "2w", "45s" to seconds; -1 if invalid. */
int64_t pl_duration_read(const char *text);
/* pl_choice_fn over the scopes. */
const char *pl_scope_choice(size_t i);

#endif
