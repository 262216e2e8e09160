/* extension.json: parsed, validated against its schema, and read. The schema checks types and
 * members. Checks that it cannot express (a clean entry point, a name close to a mistyped one)
 * are here, before the schema's if they give the better message. */
#include "ext/package/package.h"

#include "base/sha/sha256.h"
#include "base/text/suggest.h"
#include "extproto/path_scope.h"
#include "extproto/registration.h"
#include "json/text.h"
#include "json/write.h"
#include "schema/builtin.h"
#include "schema/schema.h"

enum { MANIFEST_BYTES_MAX = 256 << 10 };

struct reader {
    struct pl_arena *arena; /* borrowed */
    struct pl_json_doc doc;
    struct pl_error *err; /* borrowed; may be NULL */
};

static const char *const members[] = {
    "schema",  "extension_id", "name", "version",      "description",        "api_version",
    "runtime", "entrypoint",   "args", "capabilities", "capability_manifest"};

static enum pl_status refuse(struct reader *r, const struct pl_json_node *n, const char *member,
                             const char *why)
{
    enum pl_status status = pl_fail(r->err, PL_INVALID, "extension.json: %s", why);
    pl_error_locate(r->err, r->doc.text, n ? n->off : 0);
    pl_error_point(r->err, "/%s", member);
    return status;
}

static bool is_member(struct pl_str key)
{
    for (size_t i = 0; i < sizeof members / sizeof *members; i++)
        if (pl_str_eq(key, pl_str_of(members[i])))
            return true;
    return false;
}

/* An unknown member is probably a typing error. */
static enum pl_status check_members(struct reader *r)
{
    for (const struct pl_json_node *key = pl_json_first_member(r->doc.root);
         key < pl_json_end(r->doc.root); key = pl_json_next_member(key)) {
        struct pl_str name;
        char why[300];
        if (pl_json_text(r->arena, &r->doc, key, &name) != PL_OK)
            return pl_fail(r->err, PL_NOMEM, "out of memory");
        if (is_member(name))
            continue;
        struct pl_suggest suggest = pl_suggest(name);
        for (size_t i = 0; i < sizeof members / sizeof *members; i++)
            pl_suggest_offer(&suggest, members[i]);
        name = pl_str_slice(name, 0, 60);
        snprintf(why, sizeof why, "there is no member \"%.*s\"%s%s%s", PL_STR_ARG(name),
                 suggest.best ? "; did you mean \"" : "; remove it",
                 suggest.best ? suggest.best : "", suggest.best ? "\"?" : "");
        return refuse(r, key, "", why);
    }
    return PL_OK;
}

static enum pl_status check_runtime(struct reader *r)
{
    const struct pl_json_node *n = pl_json_member(&r->doc, r->doc.root, "runtime", PL_JSON_STRING);
    if (n && pl_json_text_is(&r->doc, n, PL_STR("wasm")))
        return refuse(r, n, "runtime",
                      "the runtime \"wasm\" does not exist here; use process, python, node, js, "
                      "mcp or remote");
    bool is_remote = n && pl_json_text_is(&r->doc, n, PL_STR("remote"));
    static const char *const starts[] = {"entrypoint", "args"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts && is_remote; i++) {
        n = pl_json_get(&r->doc, r->doc.root, pl_str_of(starts[i]));
        if (n)
            return refuse(r, n, starts[i],
                          "one that runs elsewhere (runtime \"remote\") is started there: remove "
                          "entrypoint and args");
    }
    return PL_OK;
}

/* An id must not be a word of the API: its route would hide the extension. */
static enum pl_status check_id(struct reader *r, const struct pl_ext_package *package)
{
    if (pl_str_eq(package->id, PL_STR("connect")))
        return refuse(r, NULL, "extension_id",
                      "\"connect\" is a word of the API; choose another id");
    return PL_OK;
}

static enum pl_status tell_first_error(struct reader *r, struct pl_schema_run *run)
{
    struct pl_schema_report report;
    enum pl_status status =
        pl_schema_explain(run, r->arena, &r->doc, r->doc.root, PL_SCHEMA_EN, &report);
    if (status != PL_OK)
        return pl_fail(r->err, status, "extension.json cannot be checked");
    if (!report.n_units)
        return refuse(r, NULL, "", "it does not fit its schema");
    const struct pl_schema_unit *unit = &report.units[0];
    status = pl_fail(r->err, PL_INVALID, "extension.json: %.*s",
                     PL_STR_ARG(pl_str_slice(unit->message, 0, 400)));
    pl_error_locate(r->err, r->doc.text, unit->offset);
    pl_error_point(r->err, "%.*s", PL_STR_ARG(pl_str_slice(unit->instance_location, 0, 200)));
    return status;
}

static enum pl_status check_schema(struct reader *r)
{
    const struct pl_schema_builtin *builtin = pl_schema_builtin_find(PL_STR("extension"));
    struct pl_schema *schema = NULL;
    struct pl_schema_run *run = NULL;
    bool is_valid = false;
    enum pl_status status = pl_schema_compile(builtin->text, NULL, &schema, r->err);
    if (status == PL_OK)
        status = pl_schema_run_create(schema, &run);
    if (status == PL_OK)
        status = pl_schema_check(run, &r->doc, r->doc.root, &is_valid);
    if (status == PL_OK && !is_valid)
        status = tell_first_error(r, run);
    else if (status != PL_OK)
        status = pl_fail(r->err, status, "extension.json cannot be checked: %s",
                         pl_status_info(status)->text);
    pl_schema_run_destroy(run);
    pl_schema_destroy(schema);
    return status;
}

static enum pl_status read_text(struct reader *r, const char *member, struct pl_str *ret_text)
{
    const struct pl_json_node *n = pl_json_member(&r->doc, r->doc.root, member, PL_JSON_STRING);
    struct pl_str text = PL_STR("");
    *ret_text = text;
    if (!n)
        return PL_OK;
    if (pl_json_text(r->arena, &r->doc, n, &text) != PL_OK)
        return pl_fail(r->err, PL_NOMEM, "out of memory");
    if (text.len && memchr(text.ptr, 0, text.len))
        return refuse(r, n, member, "a text has no U+0000");
    *ret_text = pl_arena_dup(r->arena, text); /* not a view: the row of the store is freed */
    return text.len && !ret_text->ptr ? pl_fail(r->err, PL_NOMEM, "out of memory") : PL_OK;
}

static enum pl_status read_texts(struct reader *r, struct pl_ext_package *package)
{
    const struct {
        const char *member;
        struct pl_str *to;
    } texts[] = {
        {"extension_id", &package->id},         {"name", &package->name},
        {"version", &package->version},         {"description", &package->description},
        {"api_version", &package->api_version}, {"entrypoint", &package->entrypoint},
    };
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && status == PL_OK; i++)
        status = read_text(r, texts[i].member, texts[i].to);
    return status;
}

static enum pl_status read_args(struct reader *r, struct pl_ext_texts *ret_args)
{
    const struct pl_json_node *list = pl_json_member(&r->doc, r->doc.root, "args", PL_JSON_ARRAY);
    struct pl_ext_texts args = {.is_given = list != NULL};
    if (list) {
        args.items = pl_arena_alloc(r->arena, pl_json_count(list) + 1, sizeof *args.items);
        if (!args.items)
            return pl_fail(r->err, PL_NOMEM, "out of memory");
        for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
             n = pl_json_next(n)) {
            struct pl_str text;
            if (pl_json_text(r->arena, &r->doc, n, &text) != PL_OK)
                return pl_fail(r->err, PL_NOMEM, "out of memory");
            if (text.len && memchr(text.ptr, 0, text.len))
                return refuse(r, n, "args", "an argument has no U+0000");
            args.items[args.n] = pl_arena_dup(r->arena, text);
            if (text.len && !args.items[args.n].ptr)
                return pl_fail(r->err, PL_NOMEM, "out of memory");
            args.n++;
        }
    }
    *ret_args = args;
    return PL_OK;
}

/* The entry point must be a file of the package, spelled as there. */
static enum pl_status check_entrypoint(struct reader *r, const struct pl_ext_package *package)
{
    struct pl_str clean;
    enum pl_status status = pl_ext_path_clean(r->arena, package->entrypoint, &clean);
    if (status == PL_NOMEM)
        return pl_fail(r->err, status, "out of memory");
    if (status == PL_OK && clean.len && pl_str_eq(clean, package->entrypoint))
        return PL_OK;
    return refuse(r, NULL, "entrypoint",
                  "the entry point is the path of a file of the package, without \"..\", \".\" and "
                  "a leading \"/\"");
}

static enum pl_status spell(struct reader *r, struct pl_ext_package *package)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status = pl_json_write_canonical(&text, &r->doc, r->doc.root);
    if (status == PL_OK)
        status = text.status;
    if (status == PL_OK) {
        package->canonical = pl_arena_dup(r->arena, pl_buf_str(&text));
        status = package->canonical.ptr ? PL_OK : PL_NOMEM;
    }
    if (status != PL_OK)
        return pl_fail(r->err, status, "out of memory while reading extension.json");
    pl_sha256_hex(package->canonical, package->manifest_hash);
    return PL_OK;
}

enum pl_status pl_ext_package_read(struct pl_arena *arena, struct pl_str text,
                                   struct pl_ext_package *ret_package, struct pl_error *err)
{
    static const struct pl_json_opts opts = {.refuses_nul = true};
    struct reader r = {.arena = arena, .err = err};
    struct pl_ext_package package = {0};
    if (text.len > MANIFEST_BYTES_MAX)
        return pl_fail(err, PL_INVALID, "extension.json is longer than 256 KiB");
    enum pl_status status = pl_json_parse(arena, text, &opts, &r.doc, err);
    if (status != PL_OK)
        return status;
    if (pl_json_kind(r.doc.root) != PL_JSON_OBJECT)
        return refuse(&r, r.doc.root, "", "it is no object");
    status = check_members(&r);
    if (status == PL_OK)
        status = check_runtime(&r);
    if (status == PL_OK)
        status = check_schema(&r);
    if (status == PL_OK)
        status = read_texts(&r, &package);
    if (status == PL_OK)
        status = read_args(&r, &package.args);
    if (status == PL_OK)
        status = check_id(&r, &package);
    struct pl_str runtime;
    if (status == PL_OK)
        status = read_text(&r, "runtime", &runtime);
    if (status == PL_OK)
        package.runtime = pl_ext_runtime_find(runtime);
    if (status == PL_OK && package.runtime != PL_EXT_RUNTIME_REMOTE)
        status = check_entrypoint(&r, &package);
    if (status == PL_OK)
        status = pl_ext_manifest_read(arena, &r.doc, r.doc.root, &package.manifest, err);
    if (status == PL_OK)
        status = spell(&r, &package);
    if (status == PL_OK)
        *ret_package = package;
    return status;
}
