/* Writes OpenAPI 3.1 from the tables: one operation per route, its components from schemas/api.json
 * and from the schemas that file refers to. Every reference stays in the same document, because
 * type generators can follow only those. */
#include "http/routes/route.h"

#include "http/routes/api_text.h"
#include "json/json.h"
#include "json/text.h"
#include "json/write.h"
#include "schema/builtin.h"
#include "shard/shard.h"

#include <ctype.h>
#include <pthread.h>

static struct pl_buf text;
static pthread_once_t made = PTHREAD_ONCE_INIT;

static void out_text(struct pl_json_out *out, const char *key, const char *value)
{
    pl_json_out_key(out, key);
    pl_json_out_text(out, pl_str_of(value));
}

static void write_ref(struct pl_json_out *out, const char *name)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "$ref");
    char ref[128];
    snprintf(ref, sizeof ref, "#/components/schemas/%s", name);
    pl_json_out_text(out, pl_str_of(ref));
    pl_json_out_close(out, '}');
}

static void write_media(struct pl_json_out *out, const char *type, const char *schema)
{
    pl_json_out_key(out, type);
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "schema");
    if (schema)
        write_ref(out, schema);
    else
        pl_json_out_raw(out, PL_STR("{\"type\":\"string\"}"));
    pl_json_out_close(out, '}');
}

static void write_content(struct pl_json_out *out, const char *type, const char *schema)
{
    pl_json_out_key(out, "content");
    pl_json_out_open(out, '{');
    write_media(out, type, schema);
    pl_json_out_close(out, '}');
}

/* The answer is JSON, something else, or either, as the request asks. */
static void write_answer(struct pl_json_out *out, const struct pl_route *route)
{
    bool is_any = route->flags & PL_ROUTE_ANY_REPLY;
    if (!route->response && !is_any)
        return;
    pl_json_out_key(out, "content");
    pl_json_out_open(out, '{');
    if (route->response)
        write_media(out, "application/json", route->response);
    if (is_any)
        write_media(out, "*/*", NULL);
    pl_json_out_close(out, '}');
}

static void write_param(struct pl_json_out *out, struct pl_str name, const char *in,
                        const char *about, const char *schema)
{
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "name");
    pl_json_out_text(out, name);
    out_text(out, "in", in);
    if (about)
        out_text(out, "description", about);
    pl_json_out_key(out, "required");
    pl_json_out_bool(out, strcmp(in, "path") == 0);
    pl_json_out_key(out, "schema");
    pl_json_out_raw(out, pl_str_of(schema));
    pl_json_out_close(out, '}');
}

static void write_params(struct pl_json_out *out, const struct pl_route *route)
{
    pl_json_out_key(out, "parameters");
    pl_json_out_open(out, '[');
    for (const char *at = route->path; (at = strchr(at, '{')); at++) {
        struct pl_str name = {at + 1, strcspn(at + 1, "}")};
        write_param(out, name, "path", NULL, "{\"type\":\"string\"}");
    }
    for (const struct pl_route_param *param = route->params; param && param->name; param++)
        write_param(out, pl_str_of(param->name), "query", param->about, param->schema);
    if (route->flags & PL_ROUTE_IDEMPOTENT)
        write_param(out, PL_STR("Idempotency-Key"), "header",
                    "The same request with the same key is done only once, for 24 hours",
                    "{\"type\":\"string\",\"minLength\":1,\"maxLength\":255}");
    pl_json_out_close(out, ']');
}

static void write_responses(struct pl_json_out *out, const struct pl_route *route)
{
    char status[16];
    snprintf(status, sizeof status, "%d", route->status);
    pl_json_out_key(out, "responses");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, status);
    pl_json_out_open(out, '{');
    out_text(out, "description", route->summary);
    write_answer(out, route);
    pl_json_out_close(out, '}');
    pl_json_out_key(out, "default");
    pl_json_out_open(out, '{');
    if (route->say_problem) {
        out_text(out, "description", "An error in the vendor's format");
        write_content(out, "application/json", "AnyObject");
    } else {
        out_text(out, "description", "A problem (RFC 9457)");
        write_content(out, "application/problem+json", "Problem");
    }
    pl_json_out_close(out, '}');
    pl_json_out_close(out, '}');
}

/* The scopes of keys that may call it. */
static void write_access(struct pl_json_out *out, const struct pl_route *route)
{
    pl_json_out_key(out, "x-parley-scopes");
    pl_json_out_open(out, '[');
    for (int i = 0; i < PL_SCOPE_COUNT; i++)
        if (pl_scope_reaches((enum pl_scope)i, route->scopes))
            pl_json_out_text(out, pl_str_of(pl_scope_word((enum pl_scope)i)));
    pl_json_out_close(out, ']');
    if (route->flags & PL_ROUTE_ADMIN) {
        pl_json_out_key(out, "x-parley-admin");
        pl_json_out_bool(out, true);
    }
}

static void write_operation(struct pl_json_out *out, const struct pl_route *route)
{
    pl_json_out_open(out, '{');
    out_text(out, "operationId", route->id);
    out_text(out, "summary", route->summary);
    pl_json_out_key(out, "tags");
    pl_json_out_open(out, '[');
    pl_json_out_text(out, pl_str_of(route->tag));
    pl_json_out_close(out, ']');
    write_params(out, route);
    if (route->request) {
        pl_json_out_key(out, "requestBody");
        pl_json_out_open(out, '{');
        write_content(out, "application/json", route->request);
        pl_json_out_close(out, '}');
    }
    if (route->upload) {
        pl_json_out_key(out, "requestBody");
        pl_json_out_open(out, '{');
        write_content(out, "*/*", NULL);
        pl_json_out_close(out, '}');
    }
    write_responses(out, route);
    if (!(route->flags & PL_ROUTE_PUBLIC))
        write_access(out, route);
    if (route->flags & PL_ROUTE_PUBLIC) {
        pl_json_out_key(out, "security");
        pl_json_out_raw(out, PL_STR("[]"));
    }
    pl_json_out_close(out, '}');
}

/* True for the first route of a path: there all its routes are written. */
static bool is_first_of_path(const struct pl_route *wanted)
{
    const struct pl_route *const *tables = pl_routes();
    for (size_t i = 0; tables[i]; i++)
        for (const struct pl_route *route = tables[i]; route->path; route++)
            if (strcmp(route->path, wanted->path) == 0)
                return route == wanted;
    return false;
}

static void write_path(struct pl_json_out *out, const char *path)
{
    pl_json_out_key(out, path);
    pl_json_out_open(out, '{');
    const struct pl_route *const *tables = pl_routes();
    for (size_t i = 0; tables[i]; i++)
        for (const struct pl_route *route = tables[i]; route->path; route++) {
            if (strcmp(route->path, path) != 0)
                continue;
            char method[16] = "";
            const char *upper = pl_method_text(route->method);
            for (size_t k = 0; upper[k] && k + 1 < sizeof method; k++)
                method[k] = (char)tolower((unsigned char)upper[k]);
            pl_json_out_key(out, method);
            write_operation(out, route);
        }
    pl_json_out_close(out, '}');
}

/* Rewrites a reference of a schema that became a component: to one of its own definitions as
 * PREFIX.NAME, to another schema as the components of NAME.json. Generators follow only references
 * inside the document. */
static struct pl_str move_ref(struct pl_buf *to, struct pl_str json, const char *prefix)
{
    struct pl_str own = PL_STR("\"#/$defs/"), other = PL_STR("\"https://parley.local/schemas/");
    struct pl_str end = PL_STR(".json"), inside = PL_STR("#/$defs/");
    pl_buf_adds(to, "\"#/components/schemas/");
    if (pl_str_starts(json, own)) {
        pl_buf_adds(to, prefix);
        return pl_str_slice(json, own.len, json.len);
    }
    json = pl_str_slice(json, other.len, json.len);
    const char *at = memmem(json.ptr, json.len, end.ptr, end.len);
    size_t n = at ? (size_t)(at - json.ptr) : 0;
    pl_buf_add(to, pl_str_slice(json, 0, n));
    json = pl_str_slice(json, n + (at ? end.len : 0), json.len);
    if (!pl_str_starts(json, inside))
        return json;
    pl_buf_addc(to, '.');
    return pl_str_slice(json, inside.len, json.len);
}

static const char *next_ref(struct pl_str json)
{
    const char *own = memmem(json.ptr, json.len, "\"#/$defs/", 9);
    const char *other = memmem(json.ptr, json.len, "\"https://parley.local/schemas/", 30);
    return !own || (other && other < own) ? other : own;
}

static void write_moved(struct pl_json_out *out, struct pl_str json, const char *prefix)
{
    PL_CLEANUP_BUF struct pl_buf moved;
    pl_buf_init(&moved, 0);
    while (json.len) {
        const char *at = next_ref(json);
        size_t n = at ? (size_t)(at - json.ptr) : json.len;
        pl_buf_add(&moved, pl_str_slice(json, 0, n));
        json = pl_str_slice(json, n, json.len);
        if (at)
            json = move_ref(&moved, json, prefix);
    }
    pl_json_out_raw(out, pl_buf_str(&moved));
    if (moved.status != PL_OK)
        out->buf->status = moved.status;
}

/* Whether this member of a schema still has a meaning inside another document. */
static bool is_moved(struct pl_str key)
{
    return !pl_str_eq(key, PL_STR("$schema")) && !pl_str_eq(key, PL_STR("$id")) &&
           !pl_str_eq(key, PL_STR("$defs"));
}

static void write_defs(struct pl_json_out *out, const struct pl_json_doc *doc, const char *prefix)
{
    const struct pl_json_node *defs = pl_json_get(doc, doc->root, PL_STR("$defs"));
    if (!defs)
        return;
    for (const struct pl_json_node *key = pl_json_first_member(defs); key < pl_json_end(defs);
         key = pl_json_next_member(key)) {
        char name[128];
        snprintf(name, sizeof name, "%s%.*s", prefix, PL_STR_ARG(pl_json_raw(doc, key)));
        pl_json_out_key(out, name);
        write_moved(out, pl_json_span(doc, key + 1), prefix);
    }
}

/* Writes a schema that the API refers to: itself as NAME, its definitions as NAME.DEFINITION. */
static void write_builtin(struct pl_json_out *out, struct pl_arena *arena,
                          const struct pl_schema_builtin *one)
{
    struct pl_json_doc doc;
    char prefix[64];
    if (pl_json_parse(arena, one->text, NULL, &doc, NULL) != PL_OK) {
        out->buf->status = PL_NOMEM;
        return;
    }
    snprintf(prefix, sizeof prefix, "%s.", one->name);
    pl_json_out_key(out, one->name);
    pl_json_out_open(out, '{');
    for (const struct pl_json_node *key = pl_json_first_member(doc.root);
         key < pl_json_end(doc.root); key = pl_json_next_member(key))
        if (is_moved(pl_json_raw(&doc, key))) {
            pl_json_out_key_str(out, pl_json_raw(&doc, key));
            write_moved(out, pl_json_span(&doc, key + 1), prefix);
        }
    pl_json_out_close(out, '}');
    write_defs(out, &doc, prefix);
}

static void write_schemas(struct pl_json_out *out, struct pl_arena *arena)
{
    struct pl_json_doc doc;
    if (pl_json_parse(arena, pl_api_schemas, NULL, &doc, NULL) != PL_OK) {
        out->buf->status = PL_NOMEM;
        return;
    }
    pl_json_out_key(out, "schemas");
    pl_json_out_open(out, '{');
    write_defs(out, &doc, "");
    for (const struct pl_schema_builtin *one = pl_schema_builtins; one->name; one++) {
        char address[128];
        snprintf(address, sizeof address, "\"https://parley.local/schemas/%s.json", one->name);
        if (memmem(pl_api_schemas.ptr, pl_api_schemas.len, address, strlen(address)))
            write_builtin(out, arena, one);
    }
    pl_json_out_close(out, '}');
}

static void make(void)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    pl_buf_init(&text, 0);
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '{');
    out_text(&out, "openapi", "3.1.0");
    pl_json_out_key(&out, "info");
    pl_json_out_open(&out, '{');
    out_text(&out, "title", "Parley");
    out_text(&out, "description",
             "Sessions of turns, streamed live; conversations between all message formats.");
    out_text(&out, "version", pl_server_version);
    pl_json_out_close(&out, '}');
    pl_json_out_key(&out, "security");
    pl_json_out_raw(&out, PL_STR("[{\"key\":[]}]"));
    pl_json_out_key(&out, "paths");
    pl_json_out_open(&out, '{');
    const struct pl_route *const *tables = pl_routes();
    for (size_t i = 0; tables[i]; i++)
        for (const struct pl_route *route = tables[i]; route->path; route++)
            if (is_first_of_path(route))
                write_path(&out, route->path);
    pl_json_out_close(&out, '}');
    pl_json_out_key(&out, "components");
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "securitySchemes");
    pl_json_out_raw(&out, PL_STR("{\"key\":{\"type\":\"http\",\"scheme\":\"bearer\"}}"));
    write_schemas(&out, &arena);
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, '}');
}

struct pl_str pl_openapi_text(void)
{
    pthread_once(&made, make);
    return text.status == PL_OK ? pl_buf_str(&text) : (struct pl_str){0};
}
