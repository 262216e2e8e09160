/* nst/JSONTestSuite, every file with every instruction set of this machine: y_ is accepted, n_ is
 * refused, and cases that RFC 8259 leaves open have the answer in json_i_cases.txt.
 *
 * Two y_ files have an object with the same key twice. RFC 8259 allows and discourages that; here
 * it needs allows_duplicate_keys, which is set for y_ and n_ (a text must not be refused for that
 * alone). The open cases use the defaults. */
#include "conformance/corpora.h"
#include "json/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *cases; /* json_i_cases.txt */

/* The documented answer to an open case; false if the table has no line for it. */
static bool find_answer(const char *name, bool *ret_accepts)
{
    size_t len = strlen(name);
    for (const char *line = cases; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        char answer[8];
        if (strncmp(line, name, len) == 0 && sscanf(line + len, " %7s", answer) == 1) {
            *ret_accepts = strcmp(answer, "accept") == 0;
            return *ret_accepts || strcmp(answer, "refuse") == 0;
        }
    }
    return false;
}

/* Whether an accepted text keeps the spelling of its values. */
static bool keeps_spelling(const struct pl_json_doc *doc)
{
    struct pl_str span = pl_json_span(doc, doc->root);
    const char *from = doc->text.ptr, *to = from + doc->text.len;
    while (from < to && strchr(" \t\r\n", *from))
        from++;
    while (to > from && strchr(" \t\r\n", to[-1]))
        to--;
    return pl_str_eq(span, (struct pl_str){from, (size_t)(to - from)});
}

/* Whether the error of a refused text has a position inside it and a message. */
static bool is_explained(const struct pl_error *err, size_t len)
{
    return err->status != PL_OK && err->message[0] && err->has_position && err->offset <= len &&
           err->line > 0 && err->column > 0;
}

static void judge(struct pl_str text, const char *name, bool accepts, struct pl_json_opts opts)
{
    struct pl_arena arena;
    struct pl_json_doc doc = {0};
    struct pl_error err = {0};
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_json_parse(&arena, text, &opts, &doc, &err);
    bool is_right = accepts ? status == PL_OK && keeps_spelling(&doc)
                            : status != PL_OK && !doc.root && is_explained(&err, text.len);
    tap_point(is_right, "%s %s: %s", name, accepts ? "is accepted" : "is refused",
              pl_cpu_name(opts.cpu));
    if (!is_right)
        tap_note("%s at byte %zu, line %zu, column %zu: %s", pl_status_info(status)->name,
                 err.offset, err.line, err.column, err.message);
    pl_arena_deinit(&arena);
}

static void judge_file(const char *dir, const char *name)
{
    size_t len;
    bool accepts = name[0] == 'y';
    bool is_open = strncmp(name, "y_", 2) != 0 && strncmp(name, "n_", 2) != 0;
    if (is_open && !find_answer(name, &accepts)) {
        tap_point(false, "%s has a line in json_i_cases.txt", name);
        return;
    }
    char *path = corpora_join(dir, name);
    char *text = corpora_read(path, &len);
    for (int cpu = 0; cpu < PL_CPU_COUNT; cpu++) {
        struct pl_json_opts opts = {
            .allows_duplicate_keys = !is_open, .has_cpu = true, .cpu = (enum pl_cpu)cpu};
        if (pl_cpu_has(opts.cpu))
            judge((struct pl_str){text, len}, name, accepts, opts);
    }
    free(text);
    free(path);
}

static void judge_dir(const char *suite, const char *name)
{
    char *dir = corpora_join(suite, name);
    char **names = corpora_list(dir);
    for (char **n = names; *n; n++) {
        judge_file(dir, *n);
        free(*n);
    }
    free(names);
    free(dir);
}

int main(void)
{
    size_t len;
    char *suite = corpora_find("JSONTestSuite");
    if (!suite)
        return tap_skip_all("no JSONTestSuite: set PARLEY_CORPORA to the corpora");
    cases = corpora_read(PL_SOURCE_ROOT "/tests/conformance/json_i_cases.txt", &len);
    judge_dir(suite, "test_parsing");
    judge_dir(suite, "test_transform");
    free(cases);
    free(suite);
    return tap_end();
}
