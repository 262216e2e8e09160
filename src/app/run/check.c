/* A table of the kinds of checks: "contains:TEXT", "lacks:TEXT", "regex:PATTERN", "schema:FILE",
 * "model-graded:MODEL=CRITERION". A check reports why an answer fails it. */
#include "app/run/check.h"

#include "app/frame/input.h"
#include "base/text/suggest.h"
#include "schema/regex/regex.h"
#include "schema/schema.h"

#include <stdarg.h>
#include <stdio.h>

enum { SHOWN = 200 };

struct kind;

struct pl_run_check {
    const struct kind *kind;
    const char *text;          /* as written; owned by the deed */
    const char *rest;          /* the part after the kind; points into `text` */
    struct pl_regex *regex;    /* owned */
    struct pl_schema *schema;  /* owned */
    struct pl_schema_run *run; /* owned */
};

struct kind {
    const char *name;
    enum pl_status (*read)(struct pl_deed *deed, struct pl_run_check *check, struct pl_error *err);
    enum pl_exit (*apply)(const struct pl_run_check *check, struct pl_deed *deed,
                          struct pl_str text, struct pl_buf *why);
};

static enum pl_exit fail(struct pl_buf *why, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static enum pl_exit fail(struct pl_buf *why, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    pl_buf_adds(why, line);
    pl_buf_addc(why, '\n');
    return PL_EXIT_NO;
}

/* --- texts ----------------------------------------------------------------------------------- */

static enum pl_status read_text(struct pl_deed *deed, struct pl_run_check *check,
                                struct pl_error *err)
{
    (void)deed;
    if (!*check->rest)
        return pl_fail(err, PL_USAGE, "%s: needs a text: %s:TEXT", check->kind->name,
                       check->kind->name);
    return PL_OK;
}

static bool contains(struct pl_str text, const char *part)
{
    return pl_str_find(text, pl_str_of(part)) != SIZE_MAX;
}

static enum pl_exit apply_contains(const struct pl_run_check *check, struct pl_deed *deed,
                                   struct pl_str text, struct pl_buf *why)
{
    (void)deed;
    return contains(text, check->rest)
               ? PL_EXIT_OK
               : fail(why, "the answer does not contain \"%s\"", check->rest);
}

static enum pl_exit apply_lacks(const struct pl_run_check *check, struct pl_deed *deed,
                                struct pl_str text, struct pl_buf *why)
{
    (void)deed;
    return contains(text, check->rest) ? fail(why, "the answer contains \"%s\"", check->rest)
                                       : PL_EXIT_OK;
}

static enum pl_status read_regex(struct pl_deed *deed, struct pl_run_check *check,
                                 struct pl_error *err)
{
    struct pl_error why = {0};
    (void)deed;
    enum pl_status status = pl_regex_compile(pl_str_of(check->rest), &check->regex, &why);
    if (status == PL_OK || status == PL_NOMEM)
        return status;
    return pl_fail(err, PL_USAGE, "regex: \"%s\": %s", check->rest, why.message);
}

static enum pl_exit apply_regex(const struct pl_run_check *check, struct pl_deed *deed,
                                struct pl_str text, struct pl_buf *why)
{
    struct pl_regex_scratch *scratch = NULL;
    enum pl_status status = pl_regex_scratch_create(&scratch);
    if (status == PL_OK)
        status = pl_regex_search(check->regex, scratch, text);
    pl_regex_scratch_destroy(scratch);
    if (status == PL_OK || status == PL_NOMEM)
        return status == PL_OK ? PL_EXIT_OK : pl_deed_stop(deed, status);
    return fail(why, "the answer does not match the regular expression %s", check->rest);
}

/* --- schemas --------------------------------------------------------------------------------- */

static enum pl_status compile(struct pl_run_check *check, struct pl_str text, struct pl_error *err)
{
    struct pl_schema_opts opts = {0};
    enum pl_status status = pl_schema_compile(text, &opts, &check->schema, err);
    if (status == PL_OK)
        status = pl_schema_run_create(check->schema, &check->run);
    return status == PL_INVALID ? PL_UNREADABLE : status;
}

static enum pl_status read_schema_file(struct pl_deed *deed, const char *path,
                                       struct pl_str *ret_text, struct pl_error *err)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    enum pl_status status = pl_input_read(path, &file, err);
    if (status != PL_OK)
        return status;
    *ret_text = pl_arena_dup(&deed->api.texts.arena, file.bytes);
    return ret_text->ptr || !file.bytes.len ? PL_OK : PL_NOMEM;
}

static enum pl_status read_schema(struct pl_deed *deed, struct pl_run_check *check,
                                  struct pl_error *err)
{
    struct pl_str text;
    if (!*check->rest)
        return pl_fail(err, PL_USAGE, "schema: needs a file: schema:FILE");
    enum pl_status status = read_schema_file(deed, check->rest, &text, err);
    return status == PL_OK ? compile(check, text, err) : status;
}

static enum pl_exit apply_schema(const struct pl_run_check *check, struct pl_deed *deed,
                                 struct pl_str text, struct pl_buf *why)
{
    struct pl_arena *arena = &deed->api.texts.arena;
    struct pl_schema_report report = {0};
    struct pl_json_doc doc;
    struct pl_error err = {0};
    enum pl_schema_lang lang = deed->console->is_chinese ? PL_SCHEMA_ZH : PL_SCHEMA_EN;
    enum pl_status status = pl_json_parse(arena, text, &pl_json_own, &doc, &err);
    if (status == PL_SYNTAX)
        return fail(why, "the answer is not JSON: %s", err.message);
    if (status == PL_OK)
        status = pl_schema_check(check->run, &doc, doc.root, &report.is_valid);
    if (status == PL_OK && !report.is_valid)
        status = pl_schema_explain(check->run, arena, &doc, doc.root, lang, &report);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    for (uint32_t i = 0; i < report.n_units && !report.is_valid; i++)
        (void)fail(why, "the answer breaks %s: %.*s%s%.*s%s", check->rest,
                   PL_STR_ARG(report.units[i].message),
                   report.units[i].instance_location.len ? " (at " : "",
                   PL_STR_ARG(report.units[i].instance_location),
                   report.units[i].instance_location.len ? ")" : "");
    return report.is_valid ? PL_EXIT_OK : PL_EXIT_NO;
}

/* --- another model --------------------------------------------------------------------------- */

static enum pl_status read_graded(struct pl_deed *deed, struct pl_run_check *check,
                                  struct pl_error *err)
{
    const char *equals = strchr(check->rest, '=');
    (void)deed;
    if (equals && equals != check->rest && equals[1])
        return PL_OK;
    return pl_fail(err, PL_USAGE, "model-graded: must be model-graded:MODEL=CRITERION, not \"%s\"",
                   check->rest);
}

/* The criterion and the answer are passed as variables, so placeholders in them are not
 * expanded. */
static void put_judging(struct pl_deed *deed, const char *rest, struct pl_str text)
{
    const char *equals = strchr(rest, '=');
    struct pl_json_out *out = &deed->out;
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "content");
    pl_json_out_text(out,
                     PL_STR("{{criterion}}\n\nDoes the answer below meet this criterion? Reply "
                            "with PASS or FAIL, and then one sentence.\n\n<answer>\n{{answer}}"
                            "\n</answer>"));
    pl_json_out_key(out, "type");
    pl_json_out_text(out, PL_STR("text"));
    pl_json_out_key(out, "model");
    pl_json_out_text(out, (struct pl_str){rest, (size_t)(equals - rest)});
    pl_json_out_key(out, "variables");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "criterion");
    pl_json_out_text(out, pl_str_of(equals + 1));
    pl_json_out_key(out, "answer");
    pl_json_out_text(out, text);
    pl_json_out_close(out, '}');
    pl_json_out_close(out, '}');
}

static enum pl_exit apply_graded(const struct pl_run_check *check, struct pl_deed *deed,
                                 struct pl_str text, struct pl_buf *why)
{
    const char *criterion = strchr(check->rest, '=') + 1;
    put_judging(deed, check->rest, text.len ? text : PL_STR("(empty)"));
    enum pl_exit code = pl_deed_ask(deed, "POST", "/api/run");
    if (code != PL_EXIT_OK)
        return code;
    const struct pl_json_node *first = pl_deed_item(deed, NULL);
    struct pl_str verdict = pl_deed_text(deed, first, "text");
    if (pl_str_begins(verdict, "PASS"))
        return PL_EXIT_OK;
    struct pl_str line = pl_line_of(&deed->api.texts, verdict, SHOWN);
    return fail(why, "the answer does not meet \"%s\": %.*s", criterion, PL_STR_ARG(line));
}

/* --- all of them ----------------------------------------------------------------------------- */

static const struct kind kinds[] = {
    {"contains", read_text, apply_contains},     {"lacks", read_text, apply_lacks},
    {"regex", read_regex, apply_regex},          {"schema", read_schema, apply_schema},
    {"model-graded", read_graded, apply_graded},
};

static const struct kind *find_kind(struct pl_str name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (pl_str_eq(name, pl_str_of(kinds[i].name)))
            return &kinds[i];
    return NULL;
}

static enum pl_status fail_unknown(struct pl_str name, const char *text, struct pl_error *err)
{
    struct pl_suggest suggest = pl_suggest(name);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        pl_suggest_offer(&suggest, kinds[i].name);
    const char *best = find_kind(name) ? NULL : suggest.best;
    return pl_fail(err, PL_USAGE,
                   "must be contains:TEXT, lacks:TEXT, regex:PATTERN, schema:FILE or "
                   "model-graded:MODEL=CRITERION, not \"%s\"%s%s%s",
                   text, best ? "; did you mean \"" : "", best ? best : "", best ? "\"?" : "");
}

static void destroy(struct pl_run_check *check)
{
    pl_regex_destroy(check->regex);
    pl_schema_run_destroy(check->run);
    pl_schema_destroy(check->schema);
}

/* Takes ownership of the check, also on failure. */
static enum pl_status push(struct pl_run_checks *checks, struct pl_run_check *check,
                           enum pl_status status)
{
    if (status == PL_OK && !pl_vec_push(&checks->list, *check))
        status = PL_NOMEM;
    if (status != PL_OK)
        destroy(check);
    return status;
}

enum pl_status pl_run_checks_add(struct pl_deed *deed, struct pl_run_checks *checks,
                                 struct pl_str text, struct pl_error *err)
{
    const char *kept = pl_deed_keep(deed, text);
    if (!kept)
        return PL_NOMEM;
    size_t n = strcspn(kept, ":");
    struct pl_str name = {kept, n};
    if (!kept[n] || !find_kind(name))
        return fail_unknown(name, kept, err);
    struct pl_run_check check = {.kind = find_kind(name), .text = kept, .rest = kept + n + 1};
    return push(checks, &check, check.kind->read(deed, &check, err));
}

/* --schema FILE is a check too; its text is also sent to the model. */
static enum pl_status add_schema(struct pl_deed *deed, struct pl_run_checks *checks,
                                 const char *path, struct pl_error *err)
{
    struct pl_run_check check = {.kind = find_kind(PL_STR("schema")), .text = path, .rest = path};
    enum pl_status status = read_schema_file(deed, path, &checks->schema, err);
    if (status == PL_OK)
        status = compile(&check, checks->schema, err);
    return push(checks, &check, status);
}

static enum pl_exit explain(struct pl_deed *deed, const char *path, enum pl_status status,
                            struct pl_error *err)
{
    if (status == PL_OK)
        return PL_EXIT_OK;
    if (status == PL_USAGE)
        return pl_deed_usage(deed, "--expect %s", err->message);
    enum pl_exit code = pl_console_fail_as(deed->console, pl_input_name(path), status, err);
    if (code != PL_EXIT_FAILED)
        pl_console_hint(deed->console, "The schema cannot be used; nothing was asked.");
    return code;
}

enum pl_exit pl_run_checks_read(struct pl_deed *deed, struct pl_run_checks *checks)
{
    const char *schema = pl_deed_option(deed, PL_OPT_SCHEMA);
    struct pl_error err = {0};
    enum pl_exit code = PL_EXIT_OK;
    *checks = (struct pl_run_checks){0};
    if (schema)
        code = explain(deed, schema, add_schema(deed, checks, schema, &err), &err);
    for (size_t i = 0; i < deed->args->uses.len && code == PL_EXIT_OK; i++) {
        const struct pl_option_use *use = &deed->args->uses.ptr[i];
        if (use->option->id != PL_OPT_EXPECT)
            continue;
        const char *colon = strchr(use->values[0], ':');
        code = explain(deed, colon ? colon + 1 : use->values[0],
                       pl_run_checks_add(deed, checks, pl_str_of(use->values[0]), &err), &err);
    }
    return code;
}

void pl_run_checks_deinit(struct pl_run_checks *checks)
{
    for (size_t i = 0; i < checks->list.len; i++)
        destroy(&checks->list.ptr[i]);
    pl_vec_deinit(&checks->list);
}

const char *pl_run_check_text(const struct pl_run_checks *checks, size_t i)
{
    return checks->list.ptr[i].text;
}

enum pl_exit pl_run_check_apply(const struct pl_run_checks *checks, size_t i, struct pl_deed *deed,
                                struct pl_str text, struct pl_buf *why)
{
    const struct pl_run_check *check = &checks->list.ptr[i];
    enum pl_exit code = check->kind->apply(check, deed, text, why);
    return why->status == PL_OK ? code : pl_deed_stop(deed, PL_NOMEM);
}
