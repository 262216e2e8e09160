/* Validates bodies against the schema that their route names, a component of schemas/api.json. A
 * schema is compiled when a request first needs it and is then shared by all threads. The scratch
 * memory of a validation belongs to the exchange's thread. */
#include "http/routes/request_schema.h"

#include "http/routes/api_text.h"
#include "http/exchange_int.h"
#include "json/write.h"
#include "schema/builtin.h"
#include "schema/schema.h"

#include <stdio.h>

enum { MAX_SCHEMAS = 128, MAX_SOURCES = 32, MAX_ERRORS = 20 };

struct entry {
    const char *_Atomic name; /* of the component */
    _Atomic(struct pl_schema *) schema;
};

static struct entry entries[MAX_SCHEMAS];

/* The entry of a name; the first call claims a free one. */
static struct entry *entry_of(const char *name)
{
    for (size_t i = 0; i < MAX_SCHEMAS; i++) {
        const char *found = NULL;
        if (atomic_compare_exchange_strong(&entries[i].name, &found, name) ||
            strcmp(found, name) == 0)
            return &entries[i];
    }
    return NULL;
}

/* The $id of an embedded schema. */
static struct pl_str id_of(struct pl_str text)
{
    struct pl_str mark = PL_STR("\"$id\": \"");
    const char *at = memmem(text.ptr, text.len, mark.ptr, mark.len);
    if (!at)
        return (struct pl_str){0};
    at += mark.len;
    const char *end = memchr(at, '"', text.len - (size_t)(at - text.ptr));
    return (struct pl_str){at, end ? (size_t)(end - at) : 0};
}

static size_t list_sources(struct pl_schema_source *sources)
{
    size_t n = 0;
    sources[n++] = (struct pl_schema_source){id_of(pl_api_schemas), pl_api_schemas};
    for (const struct pl_schema_builtin *one = pl_schema_builtins; one->name && n < MAX_SOURCES;
         one++)
        sources[n++] = (struct pl_schema_source){id_of(one->text), one->text};
    return n;
}

enum pl_status pl_request_schema_get(const char *name, const struct pl_schema **ret_schema,
                                     struct pl_error *err)
{
    struct entry *entry = entry_of(name);
    if (!entry)
        return pl_fail(err, PL_INTERNAL, "there are too many request schemas");
    struct pl_schema *schema = atomic_load(&entry->schema);
    if (!schema) {
        char text[256];
        struct pl_schema_source sources[MAX_SOURCES];
        struct pl_schema_opts opts = {.asserts_format = true, .sources = sources};
        opts.n_sources = list_sources(sources);
        snprintf(text, sizeof text, "{\"$ref\":\"%.*s#/$defs/%s\"}", PL_STR_ARG(sources[0].uri),
                 name);
        enum pl_status status = pl_schema_compile(pl_str_of(text), &opts, &schema, err);
        if (status != PL_OK)
            return status;
        struct pl_schema *other = NULL;
        if (!atomic_compare_exchange_strong(&entry->schema, &other, schema)) {
            pl_schema_destroy(schema);
            schema = other;
        }
    }
    *ret_schema = schema;
    return PL_OK;
}

void pl_request_schemas_free(void)
{
    for (size_t i = 0; i < MAX_SCHEMAS; i++)
        pl_schema_destroy(atomic_exchange(&entries[i].schema, NULL));
}

void pl_request_schema_add_places(const struct pl_schema_report *report, struct pl_buf *to)
{
    if (to->len)
        to->len--; /* without the closing brace, which is added again below */
    pl_buf_add(to, PL_STR(",\"errors\":"));
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '[');
    for (uint32_t i = 0; i < report->n_units && i < MAX_ERRORS; i++) {
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "pointer");
        pl_json_out_text(&out, report->units[i].instance_location);
        pl_json_out_key(&out, "detail");
        pl_json_out_text(&out, report->units[i].message);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_buf_addc(to, '}');
}

enum pl_status pl_request_schema_check(const char *name, struct pl_arena *arena,
                                       const struct pl_json_doc *doc,
                                       const struct pl_json_node *node, enum pl_schema_lang lang,
                                       struct pl_schema_report *ret_report, struct pl_error *err)
{
    const struct pl_schema *schema;
    struct pl_schema_run *run = NULL;
    bool is_valid = true;
    *ret_report = (struct pl_schema_report){.is_valid = true};
    enum pl_status status = pl_request_schema_get(name, &schema, err);
    if (status == PL_OK)
        status = pl_schema_run_create_brief(schema, &run);
    if (status == PL_OK)
        status = pl_schema_check(run, doc, node, &is_valid);
    if (status == PL_OK && !is_valid)
        status = pl_schema_explain(run, arena, doc, node, lang, ret_report);
    pl_schema_run_destroy(run);
    if (status == PL_LIMIT)
        return pl_fail(err, PL_INVALID,
                       "the body has too many values to check; send fewer at once");
    return status;
}

struct pl_str pl_request_schema_says(const struct pl_schema_report *report)
{
    return report->n_units ? report->units[0].message : PL_STR("it is not valid");
}

/* Makes a problem that lists every error with its place. */
static void refuse(struct pl_exchange *x, const struct pl_schema_report *report)
{
    pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                        pl_exchange_wants_chinese(x) ? "请求体无效：%.*s"
                                                     : "The body is invalid: %.*s",
                        PL_STR_ARG(pl_request_schema_says(report)));
    pl_request_schema_add_places(report, &x->reply);
}

/* "application/json", "application/…+json", with or without parameters. A missing type counts as
 * JSON. */
static bool is_json_type(struct pl_str type)
{
    const char *semicolon = type.len ? memchr(type.ptr, ';', type.len) : NULL;
    if (semicolon)
        type.len = (size_t)(semicolon - type.ptr);
    while (type.len && (type.ptr[type.len - 1] == ' ' || type.ptr[type.len - 1] == '\t'))
        type.len--;
    struct pl_str suffix = pl_str_slice(type, type.len > 5 ? type.len - 5 : 0, type.len);
    return !type.len || pl_http_name_is(type, "application/json") ||
           pl_http_name_is(suffix, "+json");
}

void pl_exchange_check_body(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    struct pl_schema_report report = {.is_valid = true};
    struct pl_error err = {0};
    /* Conversion accepts the same input as the command line; stored text must be storable
     * everywhere. */
    bool is_lenient = (x->route->flags & PL_ROUTE_LARGE) && !(x->route->flags & PL_ROUTE_STORED);
    struct pl_json_opts opts = {
        .allows_duplicate_keys = is_lenient,
        .allows_lone_surrogates = is_lenient,
        .refuses_nul = !is_lenient,
    };
    if (x->body_text.len && !is_json_type(pl_http_header_get(x->head, "content-type"))) {
        pl_exchange_problem(x, PL_PROBLEM_UNSUPPORTED_TYPE, NULL,
                            "The body must be JSON; send Content-Type: application/json.");
        return;
    }
    struct pl_str text = x->body_text.len ? x->body_text : PL_STR("{}");
    enum pl_status status = pl_json_parse(&x->arena, text, &opts, &x->body, &err);
    /* Too deep or too many values: its shape is at fault, its size was accepted. */
    if (status == PL_LIMIT)
        status = PL_INVALID;
    if (status == PL_OK)
        status = pl_request_schema_check(x->route->request, &x->arena, &x->body, x->body.root,
                                         pl_exchange_wants_chinese(x) ? PL_SCHEMA_ZH : PL_SCHEMA_EN,
                                         &report, &err);
    if (status != PL_OK)
        pl_exchange_fail(x, status == PL_NOT_FOUND ? PL_INTERNAL : status, &err);
    else if (!report.is_valid)
        refuse(x, &report);
}
