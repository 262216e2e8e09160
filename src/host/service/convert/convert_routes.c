/* The functions of the command line, as routes: the same code, the same output as with --json.
 * Each runs on a worker. The document is a JSON value, or a string with its text; a text may
 * also be something other than JSON: gpt-oss, YAML, comments. */

#include "carry/carry.h"
#include "prompt/render.h"
#include "format/convert.h"
#include "promptfile/export.h"
#include "format/gpt_oss/gpt_oss.h"
#include "document/places.h"
#include "document/lint.h"
#include "format/profile.h"
#include "document/trim.h"
#include "http/exchange.h"
#include "io/clock.h"
#include "json/parse/error_zh.h"
#include "json/parse/lenient.h"
#include "json/text.h"
#include "json/write.h"
#include "lib/report.h"
#include "schema/builtin.h"
#include "service/convert/routes.h"
#include "service/request_options.h"
#include "tokens/tokens.h"

#include <stdio.h>

static bool is_text_document(struct pl_exchange *x)
{
    const struct pl_json_node *node = pl_json_get(&x->body, x->body.root, PL_STR("document"));
    return node && pl_json_kind(node) == PL_JSON_STRING;
}

static struct pl_str document_of(struct pl_exchange *x)
{
    return is_text_document(x) ? pl_body_text(x, "document") : pl_body_raw(x, "document");
}

static struct pl_str trimmed(struct pl_str text)
{
    while (text.len && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == ' '))
        text.len--;
    return text;
}

static void add_place(struct pl_error *err, bool is_chinese)
{
    struct pl_error bare = *err;
    if (is_chinese)
        snprintf(err->message, sizeof err->message, "第 %zu 行第 %zu 列：%.440s", bare.line,
                 bare.column, bare.message);
    else
        snprintf(err->message, sizeof err->message, "line %zu, column %zu: %.460s", bare.line,
                 bare.column, bare.message);
}

/* Pointers of errors begin at the document, which is a member of the body. Errors in a text get
 * a line and a column. */
static void fail_document(struct pl_exchange *x, enum pl_status status, const struct pl_error *err)
{
    struct pl_error moved = *err;
    bool is_chinese = pl_exchange_wants_chinese(x);
    if (is_chinese)
        pl_json_error_in_chinese(&moved);
    if (err->has_position)
        snprintf(moved.pointer, sizeof moved.pointer, "/document%.240s", err->pointer);
    if (status == PL_SYNTAX && err->has_position && is_text_document(x))
        add_place(&moved, is_chinese);
    if (!is_text_document(x))
        moved.line = moved.column = 0; /* positions in the body, which no person has written */
    /* A limit with a position is a limit of the document: too deep, or too many items. */
    enum pl_problem problem = status == PL_LIMIT && err->has_position ? PL_PROBLEM_INVALID_REQUEST
                                                                      : pl_problem_of(status);
    pl_exchange_problem(x, problem, &moved, "%s",
                        moved.message[0] ? moved.message : pl_status_info(status)->text);
}

/* Reads a format by the member's name, NULL if absent; false after making a problem. */
static bool read_format(struct pl_exchange *x, const char *member,
                        const struct pl_format **ret_format)
{
    struct pl_str name = pl_body_text(x, member);
    *ret_format = name.ptr ? pl_format_find(name) : NULL;
    if (name.ptr && !*ret_format)
        pl_exchange_fail_name(x, member, name);
    return !x->is_problem;
}

static bool read_profile(struct pl_exchange *x, const struct pl_profile **ret_profile)
{
    struct pl_str name = pl_body_text(x, "profile");
    *ret_profile = name.ptr ? pl_profile_find(name) : NULL;
    if (name.ptr && !*ret_profile)
        pl_exchange_fail_name(x, "profile", name);
    return !x->is_problem;
}

static bool read_counting(struct pl_exchange *x, struct pl_count_choice *ret_choice)
{
    struct pl_str encoding = pl_body_text(x, "encoding");
    *ret_choice =
        (struct pl_count_choice){.model = pl_body_text(x, "model"), .max_items = PL_MAX_ITEMS};
    if (encoding.ptr)
        ret_choice->has_encoding = pl_encoding_find(encoding, &ret_choice->encoding);
    if (encoding.ptr && !ret_choice->has_encoding)
        pl_exchange_fail_name(x, "encoding", encoding);
    return !x->is_problem;
}

/* Writes the value if it is JSON, otherwise a string with the text. */
static void put_document(struct pl_exchange *x, const char *key, struct pl_str made)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    bool is_json = pl_json_parse(&arena, made, &pl_json_made, &doc, NULL) == PL_OK;
    pl_buf_addf(&x->reply, "\"%s\":", key);
    if (is_json)
        pl_buf_add(&x->reply, trimmed(made));
    else
        pl_json_quote(&x->reply, made);
}

/* --- convert --------------------------------------------------------------------------------- */

struct conversion {
    struct pl_convert_opts opts;
    const struct pl_export *import, *export; /* NULL: a format like the others */
    bool appends_system;                     /* of the export */
    struct pl_buf imported, exported;        /* owned */
    struct pl_converted made;                /* owned */
};

static bool read_end(struct pl_exchange *x, const char *member, const struct pl_export **ret_export,
                     const struct pl_format **ret_format)
{
    *ret_export = pl_export_find(pl_body_text(x, member));
    if (*ret_export)
        *ret_format = &pl_format_structured_chat;
    return *ret_export || read_format(x, member, ret_format);
}

static bool read_conversion(struct pl_exchange *x, struct conversion *c)
{
    struct pl_str kind = pl_body_text(x, "kind"), mode = pl_body_text(x, "mode");
    if (!read_end(x, "from", &c->import, &c->opts.from) ||
        !read_end(x, "to", &c->export, &c->opts.to) || !read_profile(x, &c->opts.profile))
        return false;
    if (c->import && !c->import->read) {
        pl_exchange_fail_name(x, "from", pl_body_text(x, "from"));
        return false;
    }
    c->opts.kind = pl_str_eq(kind, PL_STR("response")) ? PL_KIND_RESPONSE : PL_KIND_REQUEST;
    c->opts.mode = pl_str_eq(mode, PL_STR("repair"))    ? PL_MODE_REPAIR
                   : pl_str_eq(mode, PL_STR("gateway")) ? PL_MODE_GATEWAY
                                                        : PL_MODE_CONVERT;
    c->opts.refuses_wrong_types = pl_mode_refuses_wrong_types(c->opts.mode, c->opts.kind);
    c->opts.is_strict = pl_body_bool(x, "strict", false);
    c->appends_system = pl_body_bool(x, "append", false);
    if (c->appends_system && (!c->export || !c->export->may_append)) {
        pl_option_refuse(x, "This goes with \"to\": \"claude\", a command with a system prompt.",
                         "/append");
        return false;
    }
    c->opts.way_home = &pl_carry_way;
    c->opts.carry = pl_body_raw(x, "with_carry");
    if (c->opts.profile && strcmp(c->opts.profile->format, c->opts.to->name) != 0) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "The profile %s is for %s, not for %s.", c->opts.profile->name,
                            c->opts.profile->format, c->opts.to->name);
        return false;
    }
    return true;
}

static enum pl_status run_conversion(struct conversion *c, struct pl_str text, struct pl_error *err)
{
    enum pl_status status = PL_OK;
    if (c->import) {
        status = c->import->read(&c->imported, text, err);
        text = pl_buf_str(&c->imported);
    }
    if (status == PL_OK)
        status = pl_convert(text, &c->opts, &c->made, err);
    if (status == PL_OK && c->export)
        status = pl_export_converted(c->export,
                                     &(struct pl_export_how){.appends_system = c->appends_system},
                                     c->opts.is_strict, &c->made, &c->exported, err);
    return status;
}

static void put_conversion(struct pl_exchange *x, struct conversion *c)
{
    const char *from = c->import ? c->import->name : c->made.from->name;
    const char *to = c->export ? c->export->name : c->opts.to->name;
    pl_buf_addf(&x->reply, "{\"from\":\"%s\",\"to\":\"%s\",", from, to);
    if (c->export) {
        pl_buf_adds(&x->reply, "\"document\":");
        pl_json_quote(&x->reply, pl_buf_str(&c->exported));
    } else {
        put_document(x, "document", pl_buf_str(&c->made.out));
    }
    if (pl_body_bool(x, "report", true) && c->made.report.len) {
        pl_buf_adds(&x->reply, ",\"report\":");
        pl_buf_add(&x->reply, trimmed(pl_buf_str(&c->made.report)));
    }
    if (pl_body_bool(x, "map", false)) {
        struct pl_str source = c->import ? pl_buf_str(&c->imported) : document_of(x);
        pl_buf_adds(&x->reply, ",\"map\":");
        if (pl_places_write(&x->arena, source, pl_buf_str(&c->made.out), &x->reply) != PL_OK &&
            x->reply.status == PL_OK)
            x->reply.status = PL_NOMEM;
    }
    if (pl_body_bool(x, "carry", false) && c->made.carry.len) {
        pl_buf_adds(&x->reply, ",\"carry\":");
        pl_buf_add(&x->reply, trimmed(pl_buf_str(&c->made.carry)));
    }
    pl_buf_addc(&x->reply, '}');
}

/* A refusal because of loss contains the report of what would be lost. */
static void fail_conversion(struct pl_exchange *x, struct conversion *c, enum pl_status status,
                            const struct pl_error *err)
{
    fail_document(x, status, err);
    if (!c->made.report.len || x->reply.status != PL_OK)
        return;
    x->reply.len--;
    pl_buf_adds(&x->reply, ",\"report\":");
    pl_buf_add(&x->reply, trimmed(pl_buf_str(&c->made.report)));
    pl_buf_addc(&x->reply, '}');
}

static void convert_work(struct pl_exchange *x)
{
    struct conversion c = {0};
    struct pl_error err = {0};
    pl_converted_init(&c.made);
    pl_buf_init(&c.imported, 0);
    pl_buf_init(&c.exported, 0);
    if (read_conversion(x, &c)) {
        c.opts.max_bytes = x->reply.max;
        c.opts.max_items = PL_MAX_ITEMS;
        enum pl_status status = run_conversion(&c, document_of(x), &err);
        if (status == PL_OK)
            put_conversion(x, &c);
        else
            fail_conversion(x, &c, status, &err);
    }
    pl_converted_deinit(&c.made);
    pl_buf_deinit(&c.imported);
    pl_buf_deinit(&c.exported);
}

/* --- the others ------------------------------------------------------------------------------ */

static void detect_work(struct pl_exchange *x)
{
    struct pl_str text = document_of(x);
    struct pl_json_doc doc;
    struct pl_json_notes notes;
    struct pl_error err = {0};
    bool is_gpt_oss = pl_gpt_oss_is_text(text);
    enum pl_status status =
        is_gpt_oss ? PL_OK : pl_json_parse_lenient(&x->arena, text, NULL, &doc, &notes, &err);
    if (status != PL_OK) {
        fail_document(x, status, &err);
        return;
    }
    const struct pl_format *format = is_gpt_oss ? &pl_format_gpt_oss : pl_format_detect(&doc);
    pl_buf_addf(&x->reply, format ? "{\"format\":\"%s\"}" : "{\"format\":null}",
                format ? format->name : "");
}

static enum pl_status find_schema(struct pl_exchange *x, struct pl_schema **ret_schema,
                                  struct pl_error *err)
{
    struct pl_str name = pl_body_text(x, "as"), text = pl_body_raw(x, "schema");
    struct pl_schema_opts opts = {.asserts_format = pl_body_bool(x, "format_assertion", false)};
    if (name.ptr) {
        const struct pl_schema_builtin *builtin = pl_schema_builtin_find(name);
        if (!builtin)
            return pl_fail(err, PL_INVALID, "there is no built-in schema \"%.*s\"",
                           PL_STR_ARG(name));
        text = builtin->text;
    }
    enum pl_status status = pl_schema_compile(text, &opts, ret_schema, err);
    return status == PL_NOT_FOUND || status == PL_LIMIT ? PL_INVALID : status;
}

static enum pl_status validate(struct pl_exchange *x, struct pl_schema_run *run,
                               struct pl_error *err)
{
    struct pl_str text = document_of(x);
    struct pl_json_doc doc;
    struct pl_schema_report report = {0};
    const struct pl_position *positions = NULL;
    bool is_chinese = pl_exchange_wants_chinese(x);
    enum pl_status status = pl_json_parse(&x->arena, text, NULL, &doc, err);
    if (status != PL_OK) {
        err->status = status;
        if (is_chinese)
            pl_json_error_in_chinese(err);
        pl_report_write_error(&x->reply, PL_REPORT_PLAIN, NULL, err);
        return status == PL_NOMEM ? status : PL_OK;
    }
    status = pl_schema_check(run, &doc, doc.root, &report.is_valid);
    if (status == PL_OK && !report.is_valid)
        status = pl_schema_explain(run, &x->arena, &doc, doc.root,
                                   is_chinese ? PL_SCHEMA_ZH : PL_SCHEMA_EN, &report);
    if (status == PL_OK && !report.is_valid)
        status = pl_report_locate(&x->arena, text, &report, &positions);
    if (status == PL_OK)
        pl_report_write(&x->reply, PL_REPORT_PLAIN, NULL, &report, positions);
    /* The schema's demands are the cause: the size of both documents was accepted. */
    if (status == PL_LIMIT)
        return pl_fail(err, PL_INVALID,
                       "the validation exceeds the limit of steps or levels; look for references "
                       "in a circle, or validate parts of the document");
    return status;
}

static void validate_work(struct pl_exchange *x)
{
    struct pl_schema *schema = NULL;
    struct pl_schema_run *run = NULL;
    struct pl_error err = {0};
    enum pl_status status = find_schema(x, &schema, &err);
    if (status == PL_OK)
        status = pl_schema_run_create(schema, &run);
    if (status == PL_OK)
        status = validate(x, run, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status, &err);
    pl_schema_run_destroy(run);
    pl_schema_destroy(schema);
}

/* The repaired document in the same format; untouched values keep their bytes. */
static void put_fixed(struct pl_exchange *x, const struct pl_lint_request *request,
                      const struct pl_linted *linted)
{
    struct pl_convert_opts opts = {
        .from = linted->as, .to = linted->as, .mode = PL_MODE_REPAIR, .max_items = PL_MAX_ITEMS};
    struct pl_converted made;
    struct pl_error err = {0};
    if (request->profile && request->target == linted->as) {
        opts.mode = PL_MODE_GATEWAY;
        opts.profile = request->profile;
    }
    pl_converted_init(&made);
    enum pl_status status = pl_convert(document_of(x), &opts, &made, &err);
    if (status == PL_OK) {
        x->reply.len--; /* the brace after the findings, added again below */
        pl_buf_addc(&x->reply, ',');
        put_document(x, "document", pl_buf_str(&made.out));
        pl_buf_addc(&x->reply, '}');
    } else {
        fail_document(x, status, &err);
    }
    pl_converted_deinit(&made);
}

static bool read_lint(struct pl_exchange *x, struct pl_lint_request *request)
{
    request->now_s = pl_clock_unix_s();
    request->max_items = PL_MAX_ITEMS;
    request->wants_edits = true;
    request->lang = pl_exchange_wants_chinese(x) ? PL_SCHEMA_ZH : PL_SCHEMA_EN;
    return read_format(x, "as", &request->as) && pl_body_lint_target(x, request);
}

static void lint_work(struct pl_exchange *x)
{
    struct pl_lint_request request = {0};
    struct pl_linted linted = {0};
    struct pl_error err = {0};
    if (!read_lint(x, &request))
        return;
    enum pl_status status = pl_lint_document(&x->arena, document_of(x), &request, &linted, &err);
    if (status == PL_OK) {
        pl_linted_write(&x->reply, &linted);
        if (pl_body_bool(x, "fix", false) && x->reply.status == PL_OK)
            put_fixed(x, &request, &linted);
    } else {
        fail_document(x, status, &err);
    }
    pl_linted_deinit(&linted);
}

static void tokens_work(struct pl_exchange *x)
{
    const struct pl_format *as;
    struct pl_count_choice choice;
    struct pl_counted counted;
    struct pl_error err = {0};
    if (!read_format(x, "as", &as) || !read_counting(x, &choice))
        return;
    enum pl_status status = pl_count_document(document_of(x), as, &choice, &counted, &err);
    if (status == PL_OK)
        pl_counted_write(&x->reply, &counted);
    if (status == PL_OK && x->reply.status == PL_OK && pl_body_bool(x, "messages", false)) {
        x->reply.len--; /* the closing brace */
        pl_buf_adds(&x->reply, ",\"by_message\":");
        status = pl_count_messages(document_of(x), as, &choice, &x->reply, &err);
        pl_buf_addc(&x->reply, '}');
    }
    if (status != PL_OK)
        fail_document(x, status, &err);
}

/* A whole number that the schema has checked. */
static uint64_t number_of(struct pl_str digits)
{
    uint64_t value = 0;
    for (size_t i = 0; i < digits.len && digits.ptr[i] >= '0' && digits.ptr[i] <= '9'; i++)
        value = value * 10 + (uint64_t)(digits.ptr[i] - '0');
    return value;
}

static void trim_work(struct pl_exchange *x)
{
    struct pl_trim_request request = {.summary = pl_body_text(x, "summary"),
                                      .max_tokens = number_of(pl_body_raw(x, "max_tokens"))};
    struct pl_trimmed_document made;
    struct pl_error err = {0};
    if (!read_format(x, "as", &request.as) || !read_counting(x, &request.choice))
        return;
    pl_trimmed_document_init(&made);
    enum pl_status status = pl_trim_document(document_of(x), &request, &made, &err);
    if (status == PL_OK) {
        pl_buf_addc(&x->reply, '{');
        put_document(x, "document", pl_buf_str(&made.out));
        if (made.report.len) {
            pl_buf_adds(&x->reply, ",\"report\":");
            pl_buf_add(&x->reply, trimmed(pl_buf_str(&made.report)));
        }
        pl_buf_addc(&x->reply, '}');
    } else {
        fail_document(x, status, &err);
    }
    pl_trimmed_document_deinit(&made);
}

/* --- render ---------------------------------------------------------------------------------- */

/* Writes the rendered chat in the requested format; NULL: unchanged. */
static enum pl_status put_rendered(struct pl_exchange *x, struct pl_str chat,
                                   const struct pl_format *to, struct pl_error *err)
{
    struct pl_convert_opts opts = {.from = &pl_format_structured_chat, .to = to};
    struct pl_converted made;
    enum pl_status status = PL_OK;
    pl_converted_init(&made);
    if (to)
        status = pl_convert(chat, &opts, &made, err);
    if (status == PL_OK) {
        pl_buf_addc(&x->reply, '{');
        put_document(x, "document", to ? pl_buf_str(&made.out) : chat);
    }
    pl_converted_deinit(&made);
    return status;
}

static void render_work(struct pl_exchange *x)
{
    struct pl_render_opts opts = {.is_preview = pl_body_bool(x, "preview", false)};
    const struct pl_format *to;
    struct pl_rendered made;
    struct pl_error err = {0};
    if (!read_format(x, "to", &to) || !pl_body_vars(x, &opts))
        return;
    to = to == &pl_format_structured_chat ? NULL : to;
    opts.keeps_places = to;
    pl_rendered_init(&made);
    enum pl_status status = pl_render(document_of(x), &opts, &made, &err);
    if (status == PL_OK)
        status = put_rendered(x, pl_buf_str(&made.out), to, &err);
    if (status == PL_OK) {
        pl_buf_adds(&x->reply, ",\"notes\":");
        struct pl_json_out out = pl_json_out(&x->reply);
        pl_lines_write(&out, pl_buf_str(&made.notes));
        pl_buf_addc(&x->reply, '}');
    } else if (!pl_exchange_fail_vars(x, status, &made)) {
        fail_document(x, status, &err);
    }
    pl_rendered_deinit(&made);
}

#define RUN(name)                                                                                  \
    static void name##_run(struct pl_exchange *x)                                                  \
    {                                                                                              \
        pl_exchange_compute(x, name##_work, NULL);                                                 \
    }
RUN(convert)
RUN(detect)
RUN(validate)
RUN(lint)
RUN(tokens)
RUN(trim)
RUN(render)
#undef RUN

#define ROUTE(name, summary, request, response)                                                    \
    {                                                                                              \
        PL_METHOD_POST, "/api/" #name, PL_ROUTE_LARGE | PL_ROUTE_IDEMPOTENT, PL_FOR_READ,          \
            name##_run, #name, summary, "conversion", request, response, 200, NULL                 \
    }

const struct pl_route pl_routes_convert[] = {
    ROUTE(convert, "Translate a conversation into another format", "ConvertRequest", "Converted"),
    ROUTE(detect, "Detect the format of a conversation", "DetectRequest", "Detected"),
    ROUTE(validate, "Check a document against a schema", "ValidateRequest", "Validated"),
    ROUTE(lint, "Find mistakes in a conversation", "LintRequest", "Linted"),
    ROUTE(tokens, "Count the tokens of a conversation", "TokensRequest", "Counted"),
    ROUTE(trim, "Shorten a conversation to a number of tokens", "TrimRequest", "Trimmed"),
    ROUTE(render, "Fill in the variables of a prompt", "RenderRequest", "Rendered"),
    {0},
};
