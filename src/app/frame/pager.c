/* Runs the pager at the terminal, with the text as its input. */
#include "app/frame/pager.h"

#include "io/system/process.h"
#include "io/system/terminal_raw.h"

#include <stdlib.h>

enum { NOT_FOUND = 127 };

static size_t count_lines(struct pl_str text)
{
    size_t n = 0;
    for (size_t i = 0; i < text.len; i++)
        n += text.ptr[i] == '\n';
    return n;
}

static bool is_wanted(const char *pager, struct pl_str text)
{
    const char *term = getenv("TERM");
    size_t n_columns, n_rows;
    pl_terminal_size(&n_columns, &n_rows);
    return !(pager && (!*pager || strcmp(pager, "cat") == 0)) && term && *term &&
           strcmp(term, "dumb") != 0 && count_lines(text) >= n_rows;
}

bool pl_pager_show(struct pl_str text)
{
    const char *pager = getenv("PAGER");
    const char *const by_default[] = {"less", NULL};
    const char *const by_name[] = {"sh", "-c", pager, NULL};
    struct pl_error err;
    int code = 0;
    if (!is_wanted(pager, text))
        return false;
    /* As git does: shows colours and does not clear the screen. */
    setenv("LESS", "FRX", 0);
    enum pl_status status = pl_process_feed_here(pager ? by_name : by_default, text, &code, &err);
    return status == PL_OK && code != NOT_FOUND;
}
