/* What a key shall be, as the options say: for a server as JSON, for a store as a row. */
#ifndef PL_APP_KEY_WISH_H
#define PL_APP_KEY_WISH_H

#include "app/frame/commands.h"
#include "base/arena.h"
#include "json/write.h"
#include "store/gateway.h"

struct pl_key_wish {
    const char *name, *scope; /* NULL: not said */
    struct pl_str models;     /* one to a line; {NULL, 0}: not said, empty: every model */
    int64_t expires_ms;       /* 0: never; -1: not said */
    bool is_admin;
    bool has_limits;
    const char *limits[PL_LIMIT_OF_KEYS]; /* as they were given; NULL: not said; "none" lifts */
    int64_t values[PL_LIMIT_OF_KEYS];     /* the same as the store has them; -1: not said */
};

/* Anything but PL_EXIT_OK has been explained. The models are memory of the arena. */
enum pl_exit pl_key_wish_read(struct pl_console *console, const struct pl_args *args,
                              struct pl_arena *arena, struct pl_key_wish *ret_wish);
/* The body of a request that makes or changes a key. */
void pl_key_wish_write(struct pl_json_out *out, const struct pl_key_wish *wish);

/* A decimal number in (0, most], times `unit`; "none" is 0. False: it is neither. */
bool pl_limit_read(const char *text, bool is_whole, double unit, double most, int64_t *ret_value);

/* "90d", "12h", "30m", "2w", "45s": seconds; -1: it is none. */
int64_t pl_duration_read(const char *text);
/* pl_choice_fn over the scopes. */
const char *pl_scope_choice(size_t i);

#endif
