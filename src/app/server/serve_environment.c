#include "app/server/serve_environment.h"

#include "base/ascii.h"
#include "base/text/suggest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

extern char **environ; /* POSIX: declared by the program */

/* Variables that are not settings of the server. */
static const char *const others[] = {"config", "server", "key", "trace_moves", "tzdir"};
enum { N_OTHERS = sizeof others / sizeof *others, MAX_NAME = 64 };

/* "PARLEY_DRAIN_MS=1" -> "drain_ms"; false if the prefix is missing, or the name is too long. */
static bool read_name(const char *entry, char name[MAX_NAME])
{
    static const char prefix[] = "PARLEY_";
    if (strncmp(entry, prefix, sizeof prefix - 1) != 0)
        return false;
    entry += sizeof prefix - 1;
    size_t n = strcspn(entry, "=");
    if (!n || n >= MAX_NAME)
        return false;
    for (size_t i = 0; i < n; i++)
        name[i] = pl_ascii_lower(entry[i]);
    name[n] = '\0';
    return true;
}

/* Whether the name is known; otherwise *suggest has the best guess. */
static bool look_up(const char *name, const char *(*name_at)(size_t i), struct pl_suggest *suggest)
{
    const char *known;
    for (size_t i = 0; (known = name_at(i)); i++) {
        if (strcmp(known, name) == 0)
            return true;
        pl_suggest_offer(suggest, known);
    }
    for (size_t i = 0; i < N_OTHERS; i++) {
        if (strcmp(others[i], name) == 0)
            return true;
        pl_suggest_offer(suggest, others[i]);
    }
    return false;
}

enum pl_status pl_serve_environment_check(const char *(*name_at)(size_t i), struct pl_error *err)
{
    for (char **entry = environ; entry && *entry; entry++) {
        char name[MAX_NAME], meant[MAX_NAME];
        if (!read_name(*entry, name))
            continue;
        struct pl_suggest suggest = pl_suggest(pl_str_of(name));
        if (look_up(name, name_at, &suggest) || !suggest.best)
            continue;
        snprintf(meant, sizeof meant, "%s", suggest.best);
        for (char *at = meant; *at; at++)
            *at = *at >= 'a' && *at <= 'z' ? (char)(*at - 'a' + 'A') : *at;
        return pl_fail(err, PL_USAGE,
                       "the environment variable %.*s is not a setting; did you mean PARLEY_%s?",
                       (int)strcspn(*entry, "="), *entry, meant);
    }
    return PL_OK;
}
