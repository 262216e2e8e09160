/* Lint of tools: pairing, and arguments against the schema of their tool. */
#include "conv/lint/lint_int.h"

#include "base/ascii.h"
#include "base/map.h"
#include "conv/pairing.h"
#include "conv/tool_error.h"
#include "json/parse/error_zh.h"
#include "schema/schema.h"

#include <strings.h>

enum { MAX_ERROR = 64 << 10 }; /* a longer text is a result, whatever it says */

/* A tool's schema, compiled at its first call. */
struct checker {
    const struct pl_tool *tool;
    struct pl_schema *schema;  /* owned; NULL: not compiled, or not a schema we can use */
    struct pl_schema_run *run; /* owned */
    bool is_tried;
};

/* Steps for checking the arguments of all calls; a longer document gets more. */
#define MIN_STEPS ((int64_t)1000000)
#define TOLD      INT64_MIN /* no steps are left, and a finding says so */

struct tool_lint {
    struct pl_lint *lint;
    struct pl_map names;       /* -> index in checkers */
    struct checker *checkers;  /* arena; one per tool */
    bool *is_told;             /* arena; by part: the result of this call reports the failure */
    enum pl_severity severity; /* of wrong arguments in the current call */
    int64_t n_steps;           /* left for checking arguments */
    bool may_orphan;
};

/* Whether a result says that its call failed, by its flag or in its text. */
static bool says_failed(struct tool_lint *t, const struct pl_part *result)
{
    struct pl_conv *conv = t->lint->conv;
    if (result->is_error.is_set && result->is_error.value)
        return true;
    const struct pl_part *child = pl_conv_children(conv, result);
    return result->n_children && child->kind == PL_PART_TEXT &&
           pl_tool_error_is_text(pl_conv_text(conv, child->text), &conv->status);
}

static void note_told(struct tool_lint *t, const struct pl_pairing *pairing)
{
    struct pl_conv *conv = t->lint->conv;
    for (size_t i = 0; i < pairing->calls.len && conv->status == PL_OK; i++) {
        const struct pl_conv_call *call = &pairing->calls.ptr[i];
        if (call->result == PL_UNPAIRED)
            continue;
        const struct pl_result *result = &pairing->results.ptr[call->result];
        t->is_told[call->part] = says_failed(t, &conv->parts.ptr[result->part]);
    }
}

/* The last turn may be waiting for its tools to run. Some formats have no ids. */
static void add_missing(struct pl_lint *lint, const struct pl_json_node *node,
                        const struct pl_part *call, bool is_last)
{
    struct pl_str id = pl_lint_label(lint, call->id), name = pl_lint_label(lint, call->name);
    if (id.len)
        pl_lint_add_fixable(lint, "tool.missing", is_last ? PL_SEVERITY_WARNING : PL_SEVERITY_ERROR,
                            node,
                            "the call %.*s of %.*s has no result; add one, even if the tool failed "
                            "or never ran",
                            PL_STR_ARG(id), PL_STR_ARG(name));
    else
        pl_lint_add_fixable(lint, "tool.missing", is_last ? PL_SEVERITY_WARNING : PL_SEVERITY_ERROR,
                            node,
                            "this call of %.*s has no result; add one, even if the tool failed or "
                            "never ran",
                            PL_STR_ARG(name));
}

/* A result without an id belongs to a call of its name. */
static void add_orphan(struct pl_lint *lint, const struct pl_json_node *node,
                       const struct pl_part *result)
{
    struct pl_str id = pl_lint_label(lint, result->id), name = pl_lint_label(lint, result->name);
    if (id.len || !name.len)
        pl_lint_add_fixable(lint, "tool.orphan", PL_SEVERITY_ERROR, node,
                            "no earlier call has the id \"%.*s\"; remove this result or restore "
                            "its call",
                            PL_STR_ARG(id));
    else
        pl_lint_add_fixable(lint, "tool.orphan", PL_SEVERITY_ERROR, node,
                            "no earlier call of %.*s waits for this result; remove it or restore "
                            "its call",
                            PL_STR_ARG(name));
}

static void lint_pairs(struct tool_lint *t)
{
    struct pl_lint *lint = t->lint;
    struct pl_conv *conv = lint->conv;
    PL_CLEANUP_PAIRING struct pl_pairing pairing = {0};
    if (pl_pairing_make(conv, lint->opts->joins_assistants, &pairing) != PL_OK) {
        conv->status = PL_NOMEM;
        return;
    }
    note_told(t, &pairing);
    for (size_t i = 0; i < pairing.calls.len && !conv->answer.is_set; i++) {
        const struct pl_conv_call *call = &pairing.calls.ptr[i];
        const struct pl_message *message = &conv->messages.ptr[call->message];
        const struct pl_part *part = &conv->parts.ptr[call->part];
        bool is_last = call->message + 1 == conv->messages.len;
        if (call->result == PL_UNPAIRED)
            add_missing(lint, pl_lint_node(message, part), part, is_last);
    }
    for (size_t i = 0; i < pairing.results.len; i++) {
        const struct pl_result *result = &pairing.results.ptr[i];
        const struct pl_message *message = &conv->messages.ptr[result->message];
        const struct pl_part *part = &conv->parts.ptr[result->part];
        const struct pl_json_node *node = pl_lint_node(message, part);
        struct pl_str id = pl_lint_label(lint, pl_val_is_set(part->id) ? part->id : part->name);
        if (result->is_duplicate)
            pl_lint_add_fixable(lint, "tool.duplicate", PL_SEVERITY_ERROR, node,
                                "the call %.*s already has a result; keep one of them",
                                PL_STR_ARG(id));
        else if (result->call == PL_UNPAIRED && !t->may_orphan)
            add_orphan(lint, node, part);
        else if (result->is_late && lint->opts->wants_results_adjacent)
            pl_lint_add_fixable(lint, "tool.late", PL_SEVERITY_ERROR, node,
                                "the result of %.*s comes after another message; it belongs "
                                "directly after its call",
                                PL_STR_ARG(id));
    }
}

static struct checker *find_checker(struct tool_lint *t, struct pl_val name)
{
    struct pl_map_entry *entry = pl_map_get(&t->names, pl_conv_text(t->lint->conv, name));
    return entry ? &t->checkers[entry->value] : NULL;
}

/* A schema that cannot be compiled is reported once, for the tool itself. */
static void compile(struct tool_lint *t, struct checker *c)
{
    struct pl_lint *lint = t->lint;
    struct pl_error err = {0};
    c->is_tried = true;
    struct pl_str text = pl_conv_text(lint->conv, c->tool->schema);
    enum pl_status status = pl_schema_compile(text, NULL, &c->schema, &err);
    if (status == PL_OK)
        status = pl_schema_run_create(c->schema, &c->run);
    if (status == PL_NOMEM)
        lint->conv->status = PL_NOMEM;
    else if (status != PL_OK)
        pl_lint_add(lint, "tool.schema", PL_SEVERITY_WARNING,
                    c->tool->schema.node ? c->tool->schema.node : c->tool->node,
                    "the schema of this tool cannot be used: %s", err.message);
}

/* A normal call takes fewer than a hundred steps. A malicious schema can take a million for each
 * call, and a document may have thousands of calls. */
static bool may_check(struct tool_lint *t, const struct checker *c)
{
    if (t->n_steps > 0 || t->n_steps == TOLD)
        return t->n_steps > 0;
    t->n_steps = TOLD;
    pl_lint_add(t->lint, "tool.schema", PL_SEVERITY_WARNING,
                c->tool->schema.node ? c->tool->schema.node : c->tool->node,
                "checking arguments against the schemas of the tools takes too many steps; from "
                "here on they were not checked");
    return false;
}

static void check_against(struct tool_lint *t, struct checker *c, const struct pl_json_node *at,
                          const struct pl_json_doc *doc, const struct pl_json_node *value)
{
    struct pl_lint *lint = t->lint;
    if (!may_check(t, c))
        return;
    if (!c->is_tried && pl_val_is_set(c->tool->schema))
        compile(t, c);
    bool is_valid = true;
    struct pl_schema_report report = {0};
    enum pl_status status = c->run ? pl_schema_check(c->run, doc, value, &is_valid) : PL_OK;
    if (c->run)
        t->n_steps -= pl_schema_run_steps(c->run);
    if (status == PL_OK && !is_valid) {
        status =
            pl_schema_explain(c->run, lint->conv->arena, doc, value, lint->opts->lang, &report);
        t->n_steps -= pl_schema_run_steps(c->run);
    }
    if (status == PL_NOMEM)
        lint->conv->status = PL_NOMEM;
    for (uint32_t i = 0; i < report.n_units && i < 3; i++)
        pl_lint_add(lint, "tool.arguments_invalid", t->severity, at,
                    "the arguments do not match the tool's schema at \"%.*s\": %.*s",
                    PL_STR_ARG(report.units[i].instance_location),
                    PL_STR_ARG(report.units[i].message));
}

static bool is_space_only(struct pl_str s)
{
    for (size_t i = 0; i < s.len; i++)
        if (!strchr(" \t\r\n", s.ptr[i]))
            return false;
    return true;
}

/* Arguments that are a string must hold a JSON object. */
static void lint_argument_text(struct tool_lint *t, struct checker *c,
                               const struct pl_json_node *at, struct pl_str text)
{
    struct pl_lint *lint = t->lint;
    struct pl_json_doc doc;
    struct pl_error err = {0};
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    enum pl_status status = pl_json_parse(&arena, text, NULL, &doc, &err);
    if (lint->opts->lang == PL_SCHEMA_ZH)
        pl_json_error_in_chinese(&err);
    if (status == PL_NOMEM)
        lint->conv->status = PL_NOMEM;
    else if (status != PL_OK)
        pl_lint_add(lint, "tool.arguments_not_json", t->severity, at,
                    "the arguments are not JSON: %s (column %zu)", err.message, err.column);
    else if (pl_json_kind(doc.root) != PL_JSON_OBJECT)
        pl_lint_add(lint, "tool.arguments_not_object", PL_SEVERITY_WARNING, at,
                    "the arguments are not an object; many targets accept only objects");
    else if (c)
        check_against(t, c, at, &doc, doc.root);
}

/* A schema with types in capital letters is not JSON Schema. */
static bool is_other_dialect(const struct pl_conv *conv, const struct pl_tool *tool)
{
    const struct pl_json_node *schema = tool->schema.kind == PL_VAL_NODE ? tool->schema.node : NULL;
    const struct pl_json_node *type = pl_conv_node(conv, schema, "type");
    if (!type || pl_json_kind(type) != PL_JSON_STRING)
        return false;
    struct pl_str word = pl_json_raw(conv->doc, type);
    return word.len > 0 && word.ptr[0] >= 'A' && word.ptr[0] <= 'Z';
}

static void lint_call(struct tool_lint *t, const struct pl_message *message,
                      const struct pl_part *part)
{
    struct pl_lint *lint = t->lint;
    struct checker *c = find_checker(t, part->name);
    const struct pl_json_node *at = part->args.node ? part->args.node : pl_lint_node(message, part);
    /* If the result reports the failure, wrong arguments are only a warning: they are a true
     * record. */
    t->severity =
        t->is_told[part - lint->conv->parts.ptr] ? PL_SEVERITY_WARNING : PL_SEVERITY_ERROR;
    if (!c && lint->conv->tools.len > 0)
        pl_lint_add(lint, "tool.unknown", PL_SEVERITY_WARNING, pl_lint_node(message, part),
                    "there is no tool %.*s; declare it, or the model learns to call missing tools",
                    PL_STR_ARG(pl_lint_label(lint, part->name)));
    if (c && (c->tool->is_hosted || c->tool->is_custom || is_other_dialect(lint->conv, c->tool)))
        c = NULL;
    if (part->is_custom || !pl_val_is_set(part->args))
        return;
    bool is_value =
        part->args.kind == PL_VAL_NODE && pl_json_kind(part->args.node) != PL_JSON_STRING;
    if (is_value && lint->opts->has_argument_strings)
        pl_lint_add_fixable(lint, "tool.arguments_not_string", PL_SEVERITY_ERROR, at,
                            "arguments must be a string that contains JSON, not %s itself",
                            pl_json_kind_name(pl_json_kind(part->args.node)));
    if (is_value) {
        if (c)
            check_against(t, c, at, lint->conv->doc, part->args.node);
        return;
    }
    struct pl_str text = pl_conv_text(lint->conv, part->args);
    if (!is_space_only(text))
        lint_argument_text(t, c, at, text);
}

static bool starts_with(struct pl_str text, const char *word)
{
    size_t n = strlen(word);
    return text.len >= n && strncasecmp(text.ptr, word, n) == 0;
}

static bool has_words(struct pl_str line, const char *words)
{
    for (size_t i = 0; i < line.len; i++)
        if ((i == 0 || !pl_ascii_is_alnum(line.ptr[i - 1])) &&
            starts_with(pl_str_slice(line, i, line.len), words))
            return true;
    return false;
}

/* "ValueError: …", "java.io.IOException: …": a name with such an ending, and a colon. */
static bool names_exception(struct pl_str line)
{
    static const char *const ends[] = {"Error", "Exception", "error", "exception", "Failure"};
    const char *colon = line.len ? memchr(line.ptr, ':', line.len) : NULL;
    struct pl_str name = pl_str_slice(line, 0, colon ? (size_t)(colon - line.ptr) : 0);
    for (size_t i = 0; i < name.len; i++)
        if (pl_ascii_is_space(name.ptr[i]))
            return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i]);
        if (name.len >= n && memcmp(name.ptr + name.len - n, ends[i], n) == 0)
            return true;
    }
    return false;
}

/* Looks only at the first line: the rest may be about anything. */
static bool sounds_like_failure(struct pl_str text)
{
    static const char *const heads[] = {
        "error",
        "traceback (most recent",
        "exception",
        "uncaught",
        "unhandled",
        "fatal",
        "panic:",
        "failed",
        "failure",
        "failed to",
        "cannot ",
        "can't ",
        "could not ",
        "couldn't ",
        "unable to ",
        "invalid ",
        "permission denied",
        "access denied",
        "no such ",
        "not found",
        "timed out",
        "timeout",
        "aborted",
        "[error]",
        "err:",
        "command not found",
        "\xe9\x94\x99\xe8\xaf\xaf" /* error */,
        "\xe5\xa4\xb1\xe8\xb4\xa5" /* failure */,
        "\xe5\xbc\x82\xe5\xb8\xb8" /* exception */,
    };
    static const char *const inside[] = {
        "command not found",  "permission denied",  "no such file or directory",
        "timed out",          "exited with code 1", "exit code 1",
        "non-zero exit",      "returned an error",  "internal server error",
        "connection refused", "segmentation fault",
    };
    while (text.len && pl_ascii_is_space(text.ptr[0]))
        text = pl_str_slice(text, 1, text.len);
    const char *end = text.len ? memchr(text.ptr, '\n', text.len) : NULL;
    struct pl_str line = pl_str_slice(text, 0, end ? (size_t)(end - text.ptr) : text.len);
    line = pl_str_slice(line, 0, 300);
    if (line.len && (line.ptr[0] == '{' || line.ptr[0] == '['))
        return starts_with(line, "[error]");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        if (starts_with(line, heads[i]))
            return true;
    for (size_t i = 0; i < sizeof inside / sizeof *inside; i++)
        if (has_words(line, inside[i]))
            return true;
    return names_exception(line);
}

/* An error object without a type or without a message. */
static void lint_error_object(struct pl_lint *lint, const struct pl_json_node *at,
                              const struct pl_json_doc *doc)
{
    static const char *const wanted[] = {"error_type", "message"};
    if (!pl_tool_error_is(doc, doc->root))
        return;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        const struct pl_json_node *n = pl_json_get(doc, doc->root, pl_str_of(wanted[i]));
        if (!pl_json_is(n, PL_JSON_STRING) || pl_json_raw(doc, n).len == 0)
            pl_lint_add(lint, "tool.error_incomplete", PL_SEVERITY_WARNING, at,
                        "the error of a tool needs %s, a text, for the model to know what to do",
                        wanted[i]);
    }
}

static void lint_result(struct tool_lint *t, const struct pl_message *message,
                        const struct pl_part *part)
{
    struct pl_lint *lint = t->lint;
    if (!lint->opts->has_json_errors)
        return;
    bool is_error = part->is_error.is_set && part->is_error.value;
    for (uint32_t i = 0; i < part->n_children; i++) {
        const struct pl_part *child = &pl_conv_children(lint->conv, part)[i];
        if (child->kind != PL_PART_TEXT)
            continue;
        struct pl_str text = pl_conv_text(lint->conv, child->text);
        const struct pl_json_node *at =
            pl_lint_node(message, child->node || child->text.node ? child : part);
        bool may_be_object = text.len && text.len < MAX_ERROR && text.ptr[0] == '{';
        if (!is_error && !may_be_object && !sounds_like_failure(text))
            continue;
        PL_CLEANUP_ARENA struct pl_arena arena;
        pl_arena_init(&arena, 0);
        struct pl_json_doc doc;
        enum pl_status status = pl_json_parse(&arena, text, NULL, &doc, NULL);
        if (status == PL_NOMEM)
            lint->conv->status = PL_NOMEM;
        else if (status == PL_OK)
            lint_error_object(lint, at, &doc);
        else if (is_error || sounds_like_failure(text))
            pl_lint_add(lint, "tool.error_not_json", PL_SEVERITY_WARNING, at,
                        "a failed tool must say so in JSON: "
                        "{\"status\":\"error\",\"error_type\":…,\"message\":…}");
        return;
    }
}

static bool list_tools(struct tool_lint *t)
{
    struct pl_conv *conv = t->lint->conv;
    t->checkers = pl_arena_zalloc(conv->arena, conv->tools.len + 1, sizeof *t->checkers);
    t->is_told = pl_arena_zalloc(conv->arena, conv->parts.len + 1, sizeof *t->is_told);
    for (size_t i = 0; i < conv->tools.len && t->checkers; i++) {
        const struct pl_tool *tool = &conv->tools.ptr[i];
        t->checkers[i].tool = tool;
        struct pl_str name = pl_conv_text(conv, tool->name);
        bool is_new;
        struct pl_map_entry *entry = name.len ? pl_map_put(&t->names, name, &is_new) : NULL;
        if (name.len && !entry)
            return false;
        if (entry && !is_new)
            pl_lint_add(t->lint, "tool.duplicate_name", PL_SEVERITY_ERROR, tool->node,
                        "two tools have the name %.*s",
                        PL_STR_ARG(pl_lint_label(t->lint, tool->name)));
        if (entry && is_new)
            entry->value = i;
    }
    return t->checkers && t->is_told;
}

void pl_lint_tools(struct pl_lint *lint)
{
    struct pl_conv *conv = lint->conv;
    struct tool_lint t = {.lint = lint, .n_steps = MIN_STEPS + (int64_t)conv->doc->text.len};
    for (const char *const *key = lint->opts->open_history; key && *key; key++)
        t.may_orphan |= pl_conv_node(conv, conv->doc->root, *key) != NULL;
    if (!list_tools(&t))
        conv->status = PL_NOMEM;
    else
        lint_pairs(&t);
    for (size_t i = 0; i < conv->messages.len; i++) {
        const struct pl_message *message = &conv->messages.ptr[i];
        for (uint32_t k = 0; k < message->n_parts && conv->status == PL_OK; k++) {
            const struct pl_part *part = &pl_conv_parts(conv, message)[k];
            if (part->kind == PL_PART_CALL)
                lint_call(&t, message, part);
            else if (part->kind == PL_PART_RESULT)
                lint_result(&t, message, part);
        }
    }
    for (size_t i = 0; i < conv->tools.len && t.checkers; i++) {
        pl_schema_run_destroy(t.checkers[i].run);
        pl_schema_destroy(t.checkers[i].schema);
    }
    pl_map_deinit(&t.names);
}
