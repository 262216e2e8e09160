/* A word as long as a whole id is used as it is: the request with it shows whether it exists.
 * Anything shorter is searched in the list, page by page. */
#include "app/frame/short_id.h"

#include "app/frame/verbs.h"

enum { UUID_LENGTH = 36, FEWEST = 4 };

struct finding {
    struct pl_str word;
    const char *prefix;
    const char *found; /* owned by the deed */
    size_t n_found;
};

static void look_at(struct pl_deed *deed, struct finding *finding, struct pl_str id)
{
    size_t n = strlen(finding->prefix);
    bool begins = pl_str_starts(id, finding->word) ||
                  (pl_str_begins(id, finding->prefix) &&
                   pl_str_starts(pl_str_slice(id, n, id.len), finding->word));
    if (begins && finding->n_found++ == 0)
        finding->found = pl_deed_keep(deed, id);
}

static enum pl_exit look_through(struct pl_deed *deed, const char *path, struct finding *finding,
                                 bool is_first_only)
{
    for (const char *page = path; page;) {
        enum pl_exit code = pl_deed_ask(deed, "GET", page);
        if (code != PL_EXIT_OK)
            return code;
        for (const struct pl_json_node *one = NULL; (one = pl_deed_item(deed, one));) {
            look_at(deed, finding, pl_deed_text(deed, one, "id"));
            if (is_first_only)
                return PL_EXIT_OK;
        }
        page = pl_deed_next_page(deed, path);
    }
    return PL_EXIT_OK;
}

enum pl_exit pl_deed_find_id(struct pl_deed *deed, const char *path, const char *prefix,
                             const char *what, const char *word, const char **ret_id)
{
    struct finding finding = {.word = pl_str_of(word), .prefix = prefix};
    bool is_last = strcmp(word, "last") == 0;
    bool is_whole = strlen(word) >= strlen(prefix) + UUID_LENGTH;
    if (is_whole) {
        *ret_id = word;
        return PL_EXIT_OK;
    }
    if (is_last)
        finding.word = PL_STR("");
    else if (finding.word.len < FEWEST) {
        pl_console_say(deed->console, "\"%s\" is too short: give at least %d characters of the id",
                       word, FEWEST);
        return PL_EXIT_NO;
    }
    enum pl_exit code = look_through(deed, path, &finding, is_last);
    if (code != PL_EXIT_OK)
        return code;
    if (finding.n_found && !finding.found)
        return pl_deed_stop(deed, PL_NOMEM);
    if (finding.n_found == 1) {
        *ret_id = finding.found;
        return PL_EXIT_OK;
    }
    if (finding.n_found)
        pl_console_say(deed->console, "%zu ids of %ss begin with \"%s\"; give more of it",
                       finding.n_found, what, word);
    else if (is_last)
        pl_console_say(deed->console, "there is no %s to continue yet", what);
    else
        pl_console_say(deed->console, "you have no %s whose id begins with \"%s\"", what, word);
    return PL_EXIT_NO;
}

enum pl_exit pl_deed_find_session(struct pl_deed *deed, const char *word, const char **ret_id)
{
    return pl_deed_find_id(deed, "/api/sessions?limit=100", "sess_", "session", word, ret_id);
}
