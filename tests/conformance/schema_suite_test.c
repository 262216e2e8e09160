/* The official JSON Schema test suite for 2020-12: every required and optional case, format as
 * assertion, and the output tests. Each case is checked and explained, and both must agree.
 *
 * Deliberate differences are listed in schema_exceptions.txt with the reason; a listed case that
 * passes is a failure, so that the list stays short. */
#include "conformance/corpora.h"
#include "json/json.h"
#include "json/text.h"
#include "json/write.h"
#include "schema/schema.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SOURCES 256

static struct pl_schema_source sources[MAX_SOURCES];
static size_t n_sources;
static char *exceptions; /* schema_exceptions.txt: file, group, case ("*": all), reason; by tabs */

static void add_source(char *uri, char *text, size_t len)
{
    if (n_sources == MAX_SOURCES) {
        fprintf(stderr, "more than %d remote schemas: raise MAX_SOURCES\n", MAX_SOURCES);
        exit(1);
    }
    sources[n_sources++] = (struct pl_schema_source){pl_str_of(uri), {text, len}};
}

/* Loads everything below remotes/, as if served from uri. */
static void load_remotes(const char *dir, const char *uri)
{
    DIR *handle = opendir(dir);
    for (struct dirent *entry; handle && (entry = readdir(handle));) {
        if (entry->d_name[0] == '.')
            continue;
        char *path = corpora_join(dir, entry->d_name);
        char *name = corpora_join(uri, entry->d_name);
        if (strstr(entry->d_name, ".json")) {
            size_t len;
            char *text = corpora_read(path, &len);
            add_source(name, text, len);
        } else {
            load_remotes(path, name);
            free(name);
        }
        free(path);
    }
    if (handle)
        closedir(handle);
}

static bool field_is(const char **at, const char *text)
{
    size_t len = strlen(text);
    bool is_same = strncmp(*at, text, len) == 0 && (*at)[len] == '\t';
    *at += strcspn(*at, "\t\n");
    *at += **at == '\t';
    return is_same;
}

static bool is_excepted(const char *file, const char *group, const char *name)
{
    for (const char *line = exceptions; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        const char *at = line;
        if (!field_is(&at, file) || !field_is(&at, group))
            continue;
        const char *again = at;
        if (field_is(&at, name) || field_is(&again, "*"))
            return true;
    }
    return false;
}

/* A member of a case as a C string; the caller frees it. */
static char *text_of(const struct pl_json_doc *doc, const struct pl_json_node *object,
                     const char *name)
{
    struct pl_str raw = pl_json_raw(doc, pl_json_get(doc, object, pl_str_of(name)));
    char *text = malloc(raw.len + 1);
    if (!text)
        abort();
    text[pl_json_decode(text, raw)] = '\0';
    return text;
}

/* Validates in both ways; if there is no answer, the note says why. */
static bool run_case(const struct pl_schema *schema, const struct pl_json_doc *doc,
                     const struct pl_json_node *data, bool expected, char *note, size_t n_note)
{
    struct pl_schema_run *run = NULL;
    struct pl_schema_report report = {0};
    struct pl_arena arena;
    bool is_valid = !expected;
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_schema_run_create(schema, &run);
    enum pl_status explained = PL_INTERNAL;
    if (status == PL_OK)
        status = pl_schema_check(run, doc, data, &is_valid);
    if (run)
        explained = pl_schema_explain(run, &arena, doc, data, PL_SCHEMA_EN, &report);
    bool has_words = report.is_valid || report.n_units > 0;
    snprintf(note, n_note, "check: %s %s; explain: %s %s%s", pl_status_info(status)->name,
             is_valid ? "valid" : "invalid", pl_status_info(explained)->name,
             report.is_valid ? "valid" : "invalid", has_words ? "" : " without an error");
    bool is_right = status == PL_OK && explained == PL_OK && is_valid == expected &&
                    report.is_valid == expected && has_words;
    pl_schema_run_destroy(run);
    pl_arena_deinit(&arena);
    return is_right;
}

static void run_group(const char *file, const struct pl_json_doc *doc,
                      const struct pl_json_node *group, bool asserts_format)
{
    struct pl_schema *schema = NULL;
    struct pl_error err = {0};
    struct pl_schema_opts opts = {
        .asserts_format = asserts_format, .sources = sources, .n_sources = n_sources};
    char *title = text_of(doc, group, "description");
    struct pl_str text = pl_json_span(doc, pl_json_get(doc, group, PL_STR("schema")));
    enum pl_status compiled = pl_schema_compile(text, &opts, &schema, &err);
    const struct pl_json_node *cases = pl_json_get(doc, group, PL_STR("tests"));
    for (const struct pl_json_node *c = pl_json_first(cases); c != pl_json_end(cases);
         c = pl_json_next(c)) {
        char note[800] = "";
        char *name = text_of(doc, c, "description");
        const struct pl_json_node *data = pl_json_get(doc, c, PL_STR("data"));
        bool expected = pl_json_kind(pl_json_get(doc, c, PL_STR("valid"))) == PL_JSON_TRUE;
        bool is_right =
            compiled == PL_OK && run_case(schema, doc, data, expected, note, sizeof note);
        bool is_exception = is_excepted(file, title, name);
        tap_point(is_right != is_exception, "%s: %s: %s%s", file, title, name,
                  is_exception ? " (an exception)" : "");
        if (is_right && is_exception)
            tap_note("passes after all: take it off schema_exceptions.txt");
        else if (!is_right && !is_exception)
            tap_note("%s%s %s %s", compiled == PL_OK ? "" : pl_status_info(compiled)->name,
                     err.message, err.pointer, note);
        free(name);
    }
    pl_schema_destroy(schema);
    free(title);
}

/* Calls run_group for every group of a file. */
static void run_file(const char *dir, const char *name, bool asserts_format)
{
    size_t len;
    char *path = corpora_join(dir, name), *text = corpora_read(path, &len);
    struct pl_arena arena;
    struct pl_json_doc doc;
    struct pl_error err = {0};
    pl_arena_init(&arena, 0);
    struct pl_json_opts opts = {.max_depth = 200, .max_number = 400};
    enum pl_status status = pl_json_parse(&arena, (struct pl_str){text, len}, &opts, &doc, &err);
    if (status != PL_OK)
        tap_point(false, "%s is read: %s", name, err.message);
    else
        for (const struct pl_json_node *g = pl_json_first(doc.root); g != pl_json_end(doc.root);
             g = pl_json_next(g))
            run_group(name, &doc, g, asserts_format);
    pl_arena_deinit(&arena);
    free(text);
    free(path);
}

static void run_dir(const char *suite, const char *name, bool asserts_format)
{
    char *dir = corpora_join(suite, name), **names = corpora_list(dir);
    for (char **n = names; *n; n++) {
        if (strstr(*n, ".json"))
            run_file(dir, *n, asserts_format);
        free(*n);
    }
    free(names);
    free(dir);
}

/* Writes the report as "basic" output. */
static void write_basic(struct pl_buf *to, const struct pl_schema_report *report)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "valid");
    pl_json_out_bool(&out, report->is_valid);
    pl_json_out_key(&out, "keywordLocation");
    pl_json_out_text(&out, PL_STR(""));
    pl_json_out_key(&out, "instanceLocation");
    pl_json_out_text(&out, PL_STR(""));
    pl_json_out_key(&out, report->is_valid ? "annotations" : "errors");
    pl_json_out_open(&out, '[');
    for (uint32_t i = 0; i < report->n_units; i++) {
        const struct pl_schema_unit *unit = &report->units[i];
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "valid");
        pl_json_out_bool(&out, report->is_valid);
        pl_json_out_key(&out, "keywordLocation");
        pl_json_out_text(&out, unit->keyword_location);
        pl_json_out_key(&out, "absoluteKeywordLocation");
        pl_json_out_text(&out, unit->absolute_keyword_location);
        pl_json_out_key(&out, "instanceLocation");
        pl_json_out_text(&out, unit->instance_location);
        pl_json_out_key(&out, report->is_valid ? "annotation" : "error");
        if (report->is_valid)
            pl_json_out_raw(&out, unit->annotation);
        else
            pl_json_out_text(&out, unit->message);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
}

/* Explains `data` and holds the output against the schema the suite gives for it. */
static bool output_is_right(struct pl_arena *arena, struct pl_str schema_text,
                            struct pl_str output_text, const struct pl_json_doc *doc,
                            const struct pl_json_node *data, struct pl_buf *basic)
{
    struct pl_schema *schemas[2] = {0};
    struct pl_schema_run *runs[2] = {0};
    struct pl_schema_report report;
    struct pl_json_doc output;
    struct pl_schema_opts opts = {.sources = sources, .n_sources = n_sources};
    bool is_valid = false;
    bool is_done = pl_schema_compile(schema_text, &opts, &schemas[0], NULL) == PL_OK &&
                   pl_schema_compile(output_text, &opts, &schemas[1], NULL) == PL_OK &&
                   pl_schema_run_create(schemas[0], &runs[0]) == PL_OK &&
                   pl_schema_run_create(schemas[1], &runs[1]) == PL_OK &&
                   pl_schema_explain(runs[0], arena, doc, data, PL_SCHEMA_EN, &report) == PL_OK;
    if (is_done) {
        write_basic(basic, &report);
        is_done = pl_json_parse(arena, pl_buf_str(basic), NULL, &output, NULL) == PL_OK &&
                  pl_schema_check(runs[1], &output, output.root, &is_valid) == PL_OK;
    }
    for (int i = 0; i < 2; i++) {
        pl_schema_run_destroy(runs[i]);
        pl_schema_destroy(schemas[i]);
    }
    return is_done && is_valid;
}

static void run_output_group(const char *file, const struct pl_json_doc *doc,
                             const struct pl_json_node *group)
{
    struct pl_str schema = pl_json_span(doc, pl_json_get(doc, group, PL_STR("schema")));
    const struct pl_json_node *cases = pl_json_get(doc, group, PL_STR("tests"));
    for (const struct pl_json_node *c = pl_json_first(cases); c != pl_json_end(cases);
         c = pl_json_next(c)) {
        struct pl_arena arena;
        struct pl_buf basic;
        pl_arena_init(&arena, 0);
        pl_buf_init(&basic, 0);
        const struct pl_json_node *output =
            pl_json_get(doc, pl_json_get(doc, c, PL_STR("output")), PL_STR("basic"));
        char *name = text_of(doc, c, "description");
        bool is_right = output_is_right(&arena, schema, pl_json_span(doc, output), doc,
                                        pl_json_get(doc, c, PL_STR("data")), &basic);
        tap_point(is_right, "output %s: %s", file, name);
        if (!is_right)
            tap_note("%.*s", PL_STR_ARG(pl_buf_str(&basic)));
        free(name);
        pl_buf_deinit(&basic);
        pl_arena_deinit(&arena);
    }
}

static void run_output_dir(const char *suite)
{
    char *base = corpora_join(suite, "output-tests/draft2020-12");
    char *dir = corpora_join(base, "content"), *path = corpora_join(base, "output-schema.json");
    char **names = corpora_list(dir);
    size_t len;
    char *text = *names ? corpora_read(path, &len) : NULL;
    if (text)
        add_source("https://json-schema.org/draft/2020-12/output/schema", text, len);
    for (char **n = names; *n; n++) {
        char *file = corpora_join(dir, *n), *cases = corpora_read(file, &len);
        struct pl_arena arena;
        struct pl_json_doc doc;
        pl_arena_init(&arena, 0);
        if (pl_json_parse(&arena, (struct pl_str){cases, len}, NULL, &doc, NULL) == PL_OK)
            for (const struct pl_json_node *g = pl_json_first(doc.root); g != pl_json_end(doc.root);
                 g = pl_json_next(g))
                run_output_group(*n, &doc, g);
        else
            tap_point(false, "output %s is read", *n);
        pl_arena_deinit(&arena);
        free(cases);
        free(file);
        free(*n);
    }
    free(names);
    free(path);
    free(dir);
    free(base);
}

int main(void)
{
    size_t len;
    char *suite = corpora_find("JSON-Schema-Test-Suite");
    if (!suite) {
        /* The same suite as an npm package. */
        DIR *package = opendir(PL_SOURCE_ROOT "/tests/node_modules/@json-schema-org/tests/tests");
        if (!package)
            return tap_skip_all("no JSON-Schema-Test-Suite: set PARLEY_CORPORA to the corpora");
        closedir(package);
        suite = corpora_join(PL_SOURCE_ROOT, "tests/node_modules/@json-schema-org/tests");
    }
    exceptions = corpora_read(PL_SOURCE_ROOT "/tests/conformance/schema_exceptions.txt", &len);
    char *remotes = corpora_join(suite, "remotes");
    load_remotes(remotes, "http://localhost:1234");
    run_dir(suite, "tests/draft2020-12", false);
    run_dir(suite, "tests/draft2020-12/optional", false);
    run_dir(suite, "tests/draft2020-12/optional/format", true);
    run_output_dir(suite);
    free(remotes);
    free(suite);
    free(exceptions);
    return tap_end();
}
