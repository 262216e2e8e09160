/* CSV and JSON Lines are read in the same steps: identify a column or member, then take its
 * value. */
#include "app/run/cases.h"

#include "app/frame/input.h"
#include "base/text/csv.h"
#include "base/text/suggest.h"
#include "base/text/utf8.h"
#include "json/text.h"
#include "prompt/diff.h"

#include <stdarg.h>
#include <stdio.h>

enum { MAX_COLUMNS = 256, MAX_FILE = 64 << 20 };

#define EXPECT "expect"

struct variable {
    const char *name;           /* owned by the deed */
    bool is_required, is_given; /* is_given: by --var */
};

struct reading {
    struct pl_deed *deed;
    struct pl_run_cases *cases;
    struct pl_str text;                         /* of the file; owned by the deed */
    PL_VEC(struct variable) variables;          /* owned; of the prompt */
    struct pl_render_var vars[PL_RUN_MAX_VARS]; /* of --var */
    size_t n_vars;
    PL_VEC(struct pl_render_var) values; /* owned; of the current case */
};

/* Returns exit code 3, to distinguish it from a failed case. */
static enum pl_status fail_at(const struct reading *r, size_t offset, struct pl_error *err,
                              const char *format, ...) __attribute__((format(printf, 4, 5)));
static enum pl_status fail_at(const struct reading *r, size_t offset, struct pl_error *err,
                              const char *format, ...)
{
    char message[sizeof err->message];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    (void)pl_fail(err, PL_UNREADABLE, "%s", message);
    pl_error_locate(err, r->text, offset);
    return PL_UNREADABLE;
}

/* Number of bytes of leading white space. */
static size_t count_blanks(struct pl_str text)
{
    size_t n = 0;
    while (n < text.len && strchr(" \t\r\n", text.ptr[n]) && text.ptr[n])
        n++;
    return n;
}

/* --- the prompt's variables ------------------------------------------------------------------ */

static bool is_given(const struct reading *r, struct pl_str name)
{
    for (size_t i = 0; i < r->n_vars; i++)
        if (pl_str_eq(r->vars[i].name, name))
            return true;
    return false;
}

static enum pl_status list_variables(struct reading *r, const struct pl_draft *draft,
                                     struct pl_error *err)
{
    struct pl_prompt_text prompt = {.is_structured = draft->is_structured,
                                    .content = draft->content};
    struct pl_arena *arena = &r->deed->api.texts.arena;
    struct pl_json_doc doc;
    PL_CLEANUP_BUF struct pl_buf json;
    pl_buf_init(&json, 0);
    enum pl_status status = pl_prompt_variables(arena, &prompt, &json, err);
    struct pl_str kept = status == PL_OK ? pl_arena_dup(arena, pl_buf_str(&json)) : PL_STR("");
    if (status == PL_OK)
        status = kept.ptr ? pl_json_parse(arena, kept, NULL, &doc, err) : PL_NOMEM;
    if (status != PL_OK)
        return status;
    for (const struct pl_json_node *one = pl_json_first(doc.root); one < pl_json_end(doc.root);
         one = pl_json_next(one)) {
        struct pl_str name = pl_api_text(&r->deed->api.texts, &doc, one, "name");
        struct variable variable = {.name = pl_deed_keep(r->deed, name),
                                    .is_required =
                                        pl_json_member(&doc, one, "required", PL_JSON_TRUE) != NULL,
                                    .is_given = is_given(r, name)};
        if (!variable.name || !pl_vec_push(&r->variables, variable))
            return PL_NOMEM;
    }
    return PL_OK;
}

/* Checks that a column may have this name; otherwise err suggests the one that was probably
 * meant. */
static enum pl_status check_name(const struct reading *r, struct pl_str name, const char *what,
                                 size_t offset, struct pl_error *err)
{
    struct pl_suggest suggest = pl_suggest(name);
    if (pl_str_eq(name, PL_STR(EXPECT)))
        return PL_OK;
    pl_suggest_offer(&suggest, EXPECT);
    for (size_t i = 0; i < r->variables.len; i++) {
        if (pl_str_eq(name, pl_str_of(r->variables.ptr[i].name)))
            return PL_OK;
        pl_suggest_offer(&suggest, r->variables.ptr[i].name);
    }
    const char *best = suggest.best;
    return fail_at(r, offset, err,
                   "the %s \"%.*s\" is neither a variable of the prompt nor \"" EXPECT "\"%s%s%s",
                   what, PL_STR_ARG(name), best ? "; did you mean \"" : "", best ? best : "",
                   best ? "\"?" : "");
}

/* --- a case ---------------------------------------------------------------------------------- */

static enum pl_status add_expect(struct reading *r, struct pl_run_case *one, struct pl_str text,
                                 size_t offset, struct pl_error *err)
{
    struct pl_error why = {0};
    if (!text.len)
        return PL_OK;
    if (memchr(text.ptr, '\0', text.len))
        return fail_at(r, offset, err, EXPECT ": it has a NUL character");
    enum pl_status status = pl_run_checks_add(r->deed, &one->checks, text, &why);
    if (status == PL_OK || status == PL_NOMEM)
        return status;
    return fail_at(r, offset, err, EXPECT " %s%.*s%s%s", status == PL_USAGE ? "" : "\"",
                   status == PL_USAGE ? 0 : (int)text.len, text.ptr,
                   status == PL_USAGE ? "" : "\": ", why.message);
}

/* Takes the value of a column, or a check. */
static enum pl_status take(struct reading *r, struct pl_run_case *one, struct pl_str name,
                           struct pl_str value, size_t offset, struct pl_error *err)
{
    if (pl_str_eq(name, PL_STR(EXPECT)))
        return add_expect(r, one, value, offset, err);
    return pl_vec_push(&r->values, ((struct pl_render_var){name, value})) ? PL_OK : PL_NOMEM;
}

static enum pl_status check_missing(const struct reading *r, size_t offset, struct pl_error *err)
{
    for (size_t i = 0; i < r->variables.len; i++) {
        const struct variable *v = &r->variables.ptr[i];
        bool has_value = v->is_given || !v->is_required;
        for (size_t j = 0; j < r->values.len && !has_value; j++)
            has_value = pl_str_eq(r->values.ptr[j].name, pl_str_of(v->name));
        if (!has_value)
            return fail_at(r, offset, err,
                           "the variable \"%s\" has no value in this case; add a column \"%s\", or "
                           "give it for all cases with --var %s=…",
                           v->name, v->name, v->name);
    }
    return PL_OK;
}

/* Adds the values read as a case to the list. Takes ownership of *one, also on failure. */
static enum pl_status end_case(struct reading *r, struct pl_run_case *one, size_t offset,
                               struct pl_error *err)
{
    struct pl_error place = {0};
    struct pl_render_var *values =
        pl_arena_alloc(&r->deed->api.texts.arena, r->values.len + 1, sizeof *values);
    enum pl_status status = values ? check_missing(r, offset, err) : PL_NOMEM;
    if (status == PL_OK && r->values.len > MAX_COLUMNS)
        status = fail_at(r, offset, err, "a case may have at most %d values", MAX_COLUMNS);
    if (status == PL_OK && r->cases->list.len == PL_RUN_MAX_CASES)
        status = fail_at(r, offset, err, "a file may have at most %d cases", PL_RUN_MAX_CASES);
    pl_error_locate(&place, r->text, offset);
    one->line = place.line;
    one->values = values;
    one->n_values = r->values.len;
    for (size_t i = 0; values && i < r->values.len; i++)
        values[i] = r->values.ptr[i];
    r->values.len = 0;
    if (status == PL_OK && !pl_vec_push(&r->cases->list, *one))
        status = PL_NOMEM;
    if (status != PL_OK)
        pl_run_checks_deinit(&one->checks);
    return status;
}

/* --- CSV ------------------------------------------------------------------------------------- */

struct columns {
    struct pl_str names[MAX_COLUMNS];
    size_t n;
};

static enum pl_status add_column(struct reading *r, struct columns *columns,
                                 const struct pl_csv_cell *cell, struct pl_error *err)
{
    if (columns->n == MAX_COLUMNS)
        return fail_at(r, cell->offset, err, "a file may have at most %d columns", MAX_COLUMNS);
    if (!cell->text.len)
        return fail_at(r, cell->offset, err, "column %zu has no name", columns->n + 1);
    for (size_t i = 0; i < columns->n; i++)
        if (pl_str_eq(columns->names[i], cell->text) && !pl_str_eq(cell->text, PL_STR(EXPECT)))
            return fail_at(r, cell->offset, err, "there are two columns \"%.*s\"",
                           PL_STR_ARG(cell->text));
    columns->names[columns->n++] = cell->text;
    return check_name(r, cell->text, "column", cell->offset, err);
}

static enum pl_status read_head(struct reading *r, struct pl_csv *csv, struct columns *columns,
                                struct pl_error *err)
{
    struct pl_csv_cell cell = {0};
    enum pl_status status = PL_OK;
    while (status == PL_OK && !cell.ends_row) {
        status = pl_csv_next(csv, &r->deed->api.texts.arena, &cell, err);
        if (status == PL_OK)
            status = add_column(r, columns, &cell, err);
    }
    return status == PL_NOT_FOUND ? fail_at(r, 0, err,
                                            "the file is empty; its first line names "
                                            "the columns")
                                  : status;
}

/* A blank line is not a row. */
static bool is_blank(const struct pl_csv *csv, const struct pl_csv_cell *cell)
{
    return cell->ends_row && !cell->text.len &&
           !(cell->offset < csv->text.len && csv->text.ptr[cell->offset] == '"');
}

/* Reads the cells of a row; `cell` is the first one. */
static enum pl_status read_row(struct reading *r, struct pl_csv *csv, const struct columns *columns,
                               struct pl_csv_cell *cell, struct pl_run_case *one,
                               struct pl_error *err)
{
    size_t n = 0;
    for (;;) {
        enum pl_status status = PL_OK;
        if (n < columns->n)
            status = take(r, one, columns->names[n], cell->text, cell->offset, err);
        n++;
        if (status != PL_OK)
            return status;
        if (n > columns->n)
            return fail_at(r, cell->offset, err,
                           "this row has more cells than the first line names columns: %zu",
                           columns->n);
        if (cell->ends_row)
            break;
        status = pl_csv_next(csv, &r->deed->api.texts.arena, cell, err);
        if (status != PL_OK)
            return status;
    }
    return n == columns->n ? PL_OK
                           : fail_at(r, cell->offset, err,
                                     "this row has %zu of the %zu cells that the first line names",
                                     n, columns->n);
}

static enum pl_status read_csv(struct reading *r, struct pl_error *err)
{
    struct pl_csv csv = pl_csv(r->text);
    struct columns columns = {.n = 0};
    struct pl_csv_cell cell;
    enum pl_status status = read_head(r, &csv, &columns, err);
    while (status == PL_OK &&
           (status = pl_csv_next(&csv, &r->deed->api.texts.arena, &cell, err)) == PL_OK) {
        struct pl_run_case one = {0};
        size_t offset = cell.offset;
        if (is_blank(&csv, &cell))
            continue;
        status = read_row(r, &csv, &columns, &cell, &one, err);
        if (status == PL_OK)
            status = end_case(r, &one, offset, err);
        else
            pl_run_checks_deinit(&one.checks);
    }
    return status == PL_NOT_FOUND ? PL_OK : status;
}

/* --- JSON Lines ------------------------------------------------------------------------------ */

struct line {
    struct pl_json_doc doc;
    size_t offset; /* of the line in the file */
};

static size_t place_of(const struct line *line, const struct pl_json_node *node)
{
    return line->offset + node->off;
}

static enum pl_status take_expect(struct reading *r, struct pl_run_case *one,
                                  const struct line *line, const struct pl_json_node *value,
                                  struct pl_error *err)
{
    struct pl_str text;
    if (!pl_json_is(value, PL_JSON_STRING))
        return fail_at(r, place_of(line, value), err,
                       EXPECT " must be a check in the syntax of --expect, or a list of checks");
    enum pl_status status = pl_json_text(&r->deed->api.texts.arena, &line->doc, value, &text);
    return status == PL_OK ? add_expect(r, one, text, place_of(line, value), err) : status;
}

static enum pl_status take_expects(struct reading *r, struct pl_run_case *one,
                                   const struct line *line, const struct pl_json_node *value,
                                   struct pl_error *err)
{
    enum pl_status status = PL_OK;
    if (!pl_json_is(value, PL_JSON_ARRAY))
        return take_expect(r, one, line, value, err);
    for (const struct pl_json_node *item = pl_json_first(value);
         item < pl_json_end(value) && status == PL_OK; item = pl_json_next(item))
        status = take_expect(r, one, line, item, err);
    return status;
}

static enum pl_status take_member(struct reading *r, struct pl_run_case *one,
                                  const struct line *line, const struct pl_json_node *key,
                                  struct pl_error *err)
{
    struct pl_arena *arena = &r->deed->api.texts.arena;
    const struct pl_json_node *value = key + 1;
    enum pl_json_kind kind = pl_json_kind(value);
    struct pl_str name, text = pl_json_span(&line->doc, value);
    enum pl_status status = pl_json_text(arena, &line->doc, key, &name);
    if (status == PL_OK)
        status = check_name(r, name, "member", place_of(line, key), err);
    if (status == PL_OK && pl_str_eq(name, PL_STR(EXPECT)))
        return take_expects(r, one, line, value, err);
    if (status == PL_OK &&
        (kind == PL_JSON_NULL || kind == PL_JSON_ARRAY || kind == PL_JSON_OBJECT))
        return fail_at(r, place_of(line, value), err,
                       "the value of \"%.*s\" must be a text, a number, true or false",
                       PL_STR_ARG(name));
    if (status == PL_OK && kind == PL_JSON_STRING)
        status = pl_json_text(arena, &line->doc, value, &text);
    return status == PL_OK ? take(r, one, name, text, place_of(line, key), err) : status;
}

static enum pl_status read_object(struct reading *r, const struct line *line, struct pl_error *err)
{
    const struct pl_json_node *root = line->doc.root;
    struct pl_run_case one = {0};
    enum pl_status status = PL_OK;
    if (!pl_json_is(root, PL_JSON_OBJECT))
        return fail_at(r, place_of(line, root), err, "a case is an object, one on each line");
    for (const struct pl_json_node *key = pl_json_first_member(root);
         key && key < pl_json_end(root) && status == PL_OK; key = pl_json_next_member(key))
        status = take_member(r, &one, line, key, err);
    if (status == PL_OK)
        return end_case(r, &one, place_of(line, root), err);
    pl_run_checks_deinit(&one.checks);
    return status;
}

static enum pl_status read_lines(struct reading *r, struct pl_error *err)
{
    enum pl_status status = PL_OK;
    size_t at = pl_str_begins(r->text, "\xEF\xBB\xBF") ? 3 : 0;
    while (at < r->text.len && status == PL_OK) {
        const char *end = memchr(r->text.ptr + at, '\n', r->text.len - at);
        size_t to = end ? (size_t)(end - r->text.ptr) : r->text.len;
        struct pl_str text = pl_str_slice(r->text, at, to);
        struct line line = {.offset = at};
        at = to + 1;
        if (count_blanks(text) == text.len)
            continue;
        struct pl_error why = {0};
        status = pl_json_parse(&r->deed->api.texts.arena, text, NULL, &line.doc, &why);
        if (status == PL_SYNTAX || status == PL_LIMIT)
            status = fail_at(r, line.offset + why.offset, err, "%s", why.message);
        if (status == PL_OK)
            status = read_object(r, &line, err);
    }
    return status;
}

/* --- the file -------------------------------------------------------------------------------- */

static bool is_named(const char *path, const char *end)
{
    size_t n = strlen(path), n_end = strlen(end);
    return n > n_end && strcmp(path + n - n_end, end) == 0;
}

/* By the file name, otherwise by the first character. */
static bool is_json(const char *path, struct pl_str text)
{
    if (is_named(path, ".csv"))
        return false;
    size_t n = count_blanks(text);
    return is_named(path, ".jsonl") || is_named(path, ".ndjson") ||
           (n < text.len && text.ptr[n] == '{');
}

static enum pl_status read_file(struct reading *r, const char *path, struct pl_error *err)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    enum pl_status status = pl_file_read(path, MAX_FILE, NULL, &file, err);
    if (status != PL_OK)
        return status;
    r->text = file.bytes.len ? pl_arena_dup(&r->deed->api.texts.arena, file.bytes) : PL_STR("");
    if (!r->text.ptr)
        return PL_NOMEM;
    size_t n_valid = pl_utf8_valid_prefix(r->text);
    if (n_valid < r->text.len)
        return fail_at(r, n_valid, err, "the file is not UTF-8");
    status = is_json(path, r->text) ? read_lines(r, err) : read_csv(r, err);
    if (status == PL_OK && !r->cases->list.len)
        status = pl_fail(err, PL_UNREADABLE, "the file has no cases");
    return status;
}

/* Fills in the prompts of all cases, so that an error is found before the first request. */
static enum pl_exit fill_all(struct reading *r, const struct pl_asked_source *source)
{
    struct pl_render_var vars[PL_RUN_MAX_VARS + MAX_COLUMNS];
    char place[512];
    enum pl_exit code = PL_EXIT_OK;
    memcpy(vars, r->vars, r->n_vars * sizeof *vars);
    for (size_t i = 0; i < r->cases->list.len && code == PL_EXIT_OK; i++) {
        struct pl_run_case *one = &r->cases->list.ptr[i];
        memcpy(vars + r->n_vars, one->values, one->n_values * sizeof *vars);
        snprintf(place, sizeof place, "%s:%zu", r->cases->name, one->line);
        code = pl_asked_fill(r->deed, source, vars, r->n_vars + one->n_values, place, &one->asked);
    }
    return code == PL_EXIT_NO ? PL_EXIT_UNREADABLE : code;
}

enum pl_exit pl_run_cases_read(struct pl_deed *deed, const char *path,
                               const struct pl_asked_source *source, struct pl_run_cases *cases)
{
    *cases = (struct pl_run_cases){.name = pl_input_name(path)};
    struct reading r = {.deed = deed, .cases = cases};
    struct pl_error err = {0};
    enum pl_exit code = pl_asked_vars(deed, r.vars, &r.n_vars);
    if (code != PL_EXIT_OK)
        return code;
    enum pl_status status = list_variables(&r, &source->draft, &err);
    if (status != PL_OK)
        code = pl_console_fail_as(deed->console, source->name, status, &err);
    if (code == PL_EXIT_OK && (status = read_file(&r, path, &err)) != PL_OK)
        code = pl_console_fail_as(deed->console, cases->name, status, &err);
    if (code == PL_EXIT_OK)
        code = fill_all(&r, source);
    if (code != PL_EXIT_OK && code != PL_EXIT_FAILED)
        pl_console_hint(deed->console, "Nothing was asked.");
    pl_vec_deinit(&r.variables);
    pl_vec_deinit(&r.values);
    return code;
}

void pl_run_cases_deinit(struct pl_run_cases *cases)
{
    for (size_t i = 0; i < cases->list.len; i++)
        pl_run_checks_deinit(&cases->list.ptr[i].checks);
    pl_vec_deinit(&cases->list);
}
