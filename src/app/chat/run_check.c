/* Checks by a table of kinds: "contains:TEXT", "lacks:TEXT", "regex:PATTERN", "schema:FILE",
 * "model-graded:MODEL=CRITERION". A check says why an answer fails it. */
#include "app/chat/run_check.h"

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
    const char *rest;          /* of the command line */
    struct pl_regex *regex;    /* owned */
    struct pl_schema *schema;  /* owned */
    struct pl_schema_run *run; /* owned */
};

struct kind {
    const char *name;
    enum pl_exit (*read)(struct pl_deed *deed, struct pl_run_check *check);
    enum pl_exit (*apply)(const struct pl_run_check *check, struct pl_deed *deed, const char *name,
                          struct pl_str text);
};

static enum pl_exit fail(struct pl_deed *deed, const char *name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static enum pl_exit fail(struct pl_deed *deed, const char *name, const char *format, ...)
{
    char why[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    pl_console_say(deed->console, "%s%s%s", name ? name : "", name ? ": " : "", why);
    return PL_EXIT_NO;
}

/* --- texts ----------------------------------------------------------------------------------- */

static enum pl_exit read_text(struct pl_deed *deed, struct pl_run_check *check)
{
    if (!*check->rest)
        return pl_deed_usage(deed, "--expect %s: needs a text: %s:TEXT", check->kind->name,
                             check->kind->name);
    return PL_EXIT_OK;
}

static bool contains(struct pl_str text, const char *part)
{
    return pl_str_find(text, pl_str_of(part)) != SIZE_MAX;
}

static enum pl_exit apply_contains(const struct pl_run_check *check, struct pl_deed *deed,
                                   const char *name, struct pl_str text)
{
    return contains(text, check->rest)
               ? PL_EXIT_OK
               : fail(deed, name, "the answer does not contain \"%s\"", check->rest);
}

static enum pl_exit apply_lacks(const struct pl_run_check *check, struct pl_deed *deed,
                                const char *name, struct pl_str text)
{
    return contains(text, check->rest) ? fail(deed, name, "the answer contains \"%s\"", check->rest)
                                       : PL_EXIT_OK;
}

static enum pl_exit read_regex(struct pl_deed *deed, struct pl_run_check *check)
{
    struct pl_error err = {0};
    enum pl_status status = pl_regex_compile(pl_str_of(check->rest), &check->regex, &err);
    if (status == PL_NOMEM)
        return pl_deed_stop(deed, status);
    return status == PL_OK
               ? PL_EXIT_OK
               : pl_deed_usage(deed, "--expect regex: \"%s\": %s", check->rest, err.message);
}

static enum pl_exit apply_regex(const struct pl_run_check *check, struct pl_deed *deed,
                                const char *name, struct pl_str text)
{
    struct pl_regex_scratch *scratch = NULL;
    enum pl_status status = pl_regex_scratch_create(&scratch);
    if (status == PL_OK)
        status = pl_regex_search(check->regex, scratch, text);
    pl_regex_scratch_destroy(scratch);
    if (status == PL_OK || status == PL_NOMEM)
        return status == PL_OK ? PL_EXIT_OK : pl_deed_stop(deed, status);
    return fail(deed, name, "the answer does not match the regular expression %s", check->rest);
}

/* --- schemas --------------------------------------------------------------------------------- */

static enum pl_exit compile(struct pl_deed *deed, struct pl_run_check *check, struct pl_str text)
{
    struct pl_schema_opts opts = {0};
    struct pl_error err = {0};
    enum pl_status status = pl_schema_compile(text, &opts, &check->schema, &err);
    if (status == PL_OK)
        status = pl_schema_run_create(check->schema, &check->run);
    if (status == PL_OK)
        return PL_EXIT_OK;
    err.status = status;
    enum pl_exit code = pl_console_fail(deed->console, pl_input_name(check->rest), &err);
    pl_console_hint(deed->console, "The schema cannot be used; nothing was asked.");
    return code == PL_EXIT_FAILED ? code : PL_EXIT_UNREADABLE;
}

static enum pl_exit read_schema_file(struct pl_deed *deed, const char *path,
                                     struct pl_str *ret_text)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    if (pl_input_read(path, &file, &err) != PL_OK)
        return pl_console_fail(deed->console, pl_input_name(path), &err);
    *ret_text = pl_arena_dup(&deed->api.texts.arena, file.bytes);
    return ret_text->ptr ? PL_EXIT_OK : pl_deed_stop(deed, PL_NOMEM);
}

static enum pl_exit read_schema(struct pl_deed *deed, struct pl_run_check *check)
{
    struct pl_str text;
    enum pl_exit code = read_schema_file(deed, check->rest, &text);
    return code == PL_EXIT_OK ? compile(deed, check, text) : code;
}

static enum pl_exit apply_schema(const struct pl_run_check *check, struct pl_deed *deed,
                                 const char *name, struct pl_str text)
{
    struct pl_arena *arena = &deed->api.texts.arena;
    struct pl_schema_report report = {0};
    struct pl_json_doc doc;
    struct pl_error err = {0};
    enum pl_schema_lang lang = pl_args_wants_chinese(deed->args) ? PL_SCHEMA_ZH : PL_SCHEMA_EN;
    enum pl_status status = pl_json_parse(arena, text, &pl_json_own, &doc, &err);
    if (status == PL_SYNTAX)
        return fail(deed, name, "the answer is not JSON: %s", err.message);
    if (status == PL_OK)
        status = pl_schema_check(check->run, &doc, doc.root, &report.is_valid);
    if (status == PL_OK && !report.is_valid)
        status = pl_schema_explain(check->run, arena, &doc, doc.root, lang, &report);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    for (uint32_t i = 0; i < report.n_units && !report.is_valid; i++)
        (void)fail(deed, name, "the answer breaks %s: %.*s%s%.*s%s", check->rest,
                   PL_STR_ARG(report.units[i].message),
                   report.units[i].instance_location.len ? " (at " : "",
                   PL_STR_ARG(report.units[i].instance_location),
                   report.units[i].instance_location.len ? ")" : "");
    return report.is_valid ? PL_EXIT_OK : PL_EXIT_NO;
}

/* --- another model --------------------------------------------------------------------------- */

static enum pl_exit read_graded(struct pl_deed *deed, struct pl_run_check *check)
{
    const char *equals = strchr(check->rest, '=');
    return equals && equals != check->rest && equals[1]
               ? PL_EXIT_OK
               : pl_deed_usage(deed,
                               "--expect model-graded: is model-graded:MODEL=CRITERION, not "
                               "\"%s\"",
                               check->rest);
}

/* The criterion and the answer are variables, so that nothing in them is filled in. */
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
                                 const char *name, struct pl_str text)
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
    return fail(deed, name, "the answer does not meet \"%s\": %.*s", criterion, PL_STR_ARG(line));
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

static enum pl_exit read_one(struct pl_deed *deed, struct pl_run_checks *checks, const char *text)
{
    size_t n = strcspn(text, ":");
    struct pl_str name = {text, n};
    struct pl_run_check check = {.kind = find_kind(name), .rest = text[n] ? text + n + 1 : ""};
    if (!check.kind || !text[n]) {
        struct pl_suggest suggest = pl_suggest(name);
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
            pl_suggest_offer(&suggest, kinds[i].name);
        return pl_deed_usage(deed,
                             "--expect is contains:TEXT, lacks:TEXT, regex:PATTERN, schema:FILE or "
                             "model-graded:MODEL=CRITERION, not \"%s\"%s%s%s",
                             text, suggest.best && !check.kind ? "; did you mean \"" : "",
                             suggest.best && !check.kind ? suggest.best : "",
                             suggest.best && !check.kind ? "\"?" : "");
    }
    enum pl_exit code = check.kind->read(deed, &check);
    if (!pl_vec_push(&checks->list, check)) {
        pl_regex_destroy(check.regex);
        pl_schema_run_destroy(check.run);
        pl_schema_destroy(check.schema);
        return pl_deed_stop(deed, PL_NOMEM);
    }
    return code;
}

enum pl_exit pl_run_checks_read(struct pl_deed *deed, struct pl_run_checks *checks)
{
    const char *schema = pl_deed_option(deed, PL_OPT_SCHEMA);
    enum pl_exit code = PL_EXIT_OK;
    *checks = (struct pl_run_checks){0};
    if (schema) {
        struct pl_run_check check = {.kind = find_kind(PL_STR("schema")), .rest = schema};
        code = read_schema_file(deed, schema, &checks->schema);
        if (code == PL_EXIT_OK)
            code = compile(deed, &check, checks->schema);
        if (!pl_vec_push(&checks->list, check))
            code = pl_deed_stop(deed, PL_NOMEM);
    }
    for (size_t i = 0; i < deed->args->uses.len && code == PL_EXIT_OK; i++)
        if (deed->args->uses.ptr[i].option->id == PL_OPT_EXPECT)
            code = read_one(deed, checks, deed->args->uses.ptr[i].values[0]);
    return code;
}

void pl_run_checks_deinit(struct pl_run_checks *checks)
{
    for (size_t i = 0; i < checks->list.len; i++) {
        pl_regex_destroy(checks->list.ptr[i].regex);
        pl_schema_run_destroy(checks->list.ptr[i].run);
        pl_schema_destroy(checks->list.ptr[i].schema);
    }
    pl_vec_deinit(&checks->list);
}

enum pl_exit pl_run_checks_apply(const struct pl_run_checks *checks, struct pl_deed *deed,
                                 const char *name, struct pl_str text)
{
    enum pl_exit worst = PL_EXIT_OK;
    for (size_t i = 0; i < checks->list.len; i++) {
        const struct pl_run_check *check = &checks->list.ptr[i];
        enum pl_exit code = check->kind->apply(check, deed, name, text);
        worst = code > worst ? code : worst;
    }
    return worst;
}

/* --- the answer ------------------------------------------------------------------------------ */

static void add_turn(struct pl_deed *deed, const struct pl_json_node *turn, struct pl_buf *text,
                     struct pl_run_answer *answer)
{
    const struct pl_json_node *usage = pl_json_member(&deed->answer, turn, "usage", PL_JSON_OBJECT);
    const struct pl_json_node *blocks =
        pl_json_member(&deed->answer, turn, "blocks", PL_JSON_ARRAY);
    answer->duration_ms += pl_api_int(&deed->answer, turn, "duration_ms", 0);
    if (usage) {
        answer->input_tokens += pl_api_int(&deed->answer, usage, "input_tokens", 0);
        answer->output_tokens += pl_api_int(&deed->answer, usage, "output_tokens", 0);
    }
    for (const struct pl_json_node *one = blocks ? pl_json_first(blocks) : NULL;
         one && one < pl_json_end(blocks); one = pl_json_next(one)) {
        if (!pl_str_eq(pl_deed_text(deed, one, "type"), PL_STR("text")))
            continue;
        pl_buf_adds(text, text->len ? "\n" : "");
        pl_buf_add(text, pl_deed_text(deed, one, "content"));
    }
}

enum pl_exit pl_run_answer_read(struct pl_deed *deed, const char *session_id,
                                struct pl_run_answer *ret_answer)
{
    struct pl_run_answer answer = {0};
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_exit code = pl_deed_ask(
        deed, "GET",
        pl_api_path(&deed->api, "/api/sessions/%/messages?limit=100", session_id, NULL));
    if (code != PL_EXIT_OK || !pl_json_is(deed->answer.root, PL_JSON_ARRAY))
        return code;
    const struct pl_json_node *list = deed->answer.root;
    for (const struct pl_json_node *turn = pl_json_first(list); turn < pl_json_end(list);
         turn = pl_json_next(turn)) {
        bool is_user = pl_str_eq(pl_deed_text(deed, turn, "role"), PL_STR("user"));
        if (is_user) { /* what came before was given */
            pl_buf_clear(&text);
            answer = (struct pl_run_answer){0};
        } else {
            add_turn(deed, turn, &text, &answer);
        }
    }
    answer.text = pl_arena_dup(&deed->api.texts.arena, pl_buf_str(&text));
    if (text.status != PL_OK || (text.len && !answer.text.ptr))
        return pl_deed_stop(deed, PL_NOMEM);
    *ret_answer = answer;
    return PL_EXIT_OK;
}
