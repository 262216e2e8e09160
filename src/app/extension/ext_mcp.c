/* parley ext add --mcp ID -- CMD …: makes a package from an MCP server. It contains the adapter
 * (adapters/mcp.mjs) and server.json, which says how to reach the server.
 *
 *     npx NAME ARGUMENT …   an npm package, installed here once: no scripts, version and
 *                           integrity pinned
 *     https://…             a server on the web, by streamable HTTP
 *     PROGRAM ARGUMENT …    anything else; files that are named are copied into the package */
#include "app/extension/ext_int.h"

#include "extproto/path_scope.h"
#include "extproto/registration.h"
#include "io/file/file.h"
#include "io/system/process.h"
#include "json/text.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { NPM_MS = 300000, SERVER_FILE_BYTES = 16 << 20 };

/* --- the manifest ----------------------------------------------------------------------------- */

/* Writes a capability with a scope that lists all uses of an option; nothing without a use. */
static void out_scope(struct pl_json_out *out, const struct pl_deed *deed, const char *capability,
                      enum pl_option_id id, const char *scope)
{
    if (!pl_args_has(deed->args, id))
        return;
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "capability");
    pl_json_out_text(out, pl_str_of(capability));
    pl_json_out_key(out, "scope");
    pl_json_out_open(out, '{');
    pl_json_out_key(out, scope);
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < deed->args->uses.len; i++)
        if (deed->args->uses.ptr[i].option->id == id)
            pl_json_out_text(out, pl_str_of(deed->args->uses.ptr[i].values[0]));
    pl_json_out_close(out, ']');
    pl_json_out_close(out, '}');
    pl_json_out_close(out, '}');
}

static void out_member(struct pl_json_out *out, const char *name, const char *value)
{
    pl_json_out_key(out, name);
    pl_json_out_text(out, pl_str_of(value));
}

static void write_manifest(struct pl_buf *to, const struct pl_deed *deed, const char *id)
{
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    out_member(&out, "schema", "pi.ext.manifest.v1");
    out_member(&out, "extension_id", id);
    out_member(&out, "name", id);
    out_member(&out, "version", "1.0.0");
    out_member(&out, "description", "An MCP server");
    out_member(&out, "api_version", "1.0");
    out_member(&out, "runtime", "mcp");
    out_member(&out, "entrypoint", "server.json");
    pl_json_out_key(&out, "capability_manifest");
    pl_json_out_open(&out, '{');
    out_member(&out, "schema", "pi.ext.cap.v1");
    pl_json_out_key(&out, "capabilities");
    pl_json_out_open(&out, '[');
    out_scope(&out, deed, "read", PL_OPT_READ, "paths");
    out_scope(&out, deed, "write", PL_OPT_WRITE, "paths");
    out_scope(&out, deed, "http", PL_OPT_HOST, "hosts");
    out_scope(&out, deed, "env", PL_OPT_ENV, "env");
    pl_json_out_raw(&out, PL_STR("{\"capability\":\"ui\"}"));
    pl_json_out_raw(&out, PL_STR("{\"capability\":\"log\"}"));
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, '}');
}

static enum pl_exit add_text(struct pl_deed *deed, struct pl_ext_source *source, const char *path,
                             const struct pl_buf *text)
{
    struct pl_str kept = pl_arena_dup(&source->arena, pl_buf_str(text));
    return text->status == PL_OK && kept.ptr ? pl_ext_source_add(deed, source, path, kept)
                                             : pl_deed_stop(deed, PL_NOMEM);
}

/* --- npx -------------------------------------------------------------------------------------- */

/* The program of the package `name`; NULL if it has none. */
static const char *find_bin(struct pl_ext_source *source, struct pl_str name)
{
    struct pl_json_doc doc;
    struct pl_str text = {0};
    const char *path =
        pl_ext_source_text(source, "server/node_modules/%.*s/package.json", PL_STR_ARG(name));
    for (size_t i = 0; path && i < source->tree.n; i++)
        if (pl_str_eq(source->tree.files[i].path, pl_str_of(path)))
            text = source->tree.files[i].bytes;
    if (!text.ptr || pl_json_parse(&source->arena, text, &pl_json_any, &doc, NULL) != PL_OK)
        return NULL;
    const struct pl_json_node *bin = pl_json_get(&doc, doc.root, PL_STR("bin"));
    if (pl_json_is(bin, PL_JSON_OBJECT))
        bin = pl_json_count(bin) ? pl_json_first_member(bin) + 1 : NULL;
    struct pl_str file;
    if (!pl_json_is(bin, PL_JSON_STRING) || pl_json_text(&source->arena, &doc, bin, &file) != PL_OK)
        return NULL;
    while (file.len > 2 && file.ptr[0] == '.' && file.ptr[1] == '/')
        file = pl_str_slice(file, 2, file.len);
    return pl_ext_source_text(source, "/ext/server/node_modules/%.*s/%.*s", PL_STR_ARG(name),
                              PL_STR_ARG(file));
}

/* The name of the installed package: the only dependency of the folder. */
static struct pl_str find_name(struct pl_ext_source *source)
{
    struct pl_json_doc doc;
    struct pl_str name = {0};
    for (size_t i = 0; i < source->tree.n; i++) {
        const struct pl_ext_file *file = &source->tree.files[i];
        if (!pl_str_eq(file->path, PL_STR("server/package.json")) ||
            pl_json_parse(&source->arena, file->bytes, NULL, &doc, NULL) != PL_OK)
            continue;
        const struct pl_json_node *list =
            pl_json_member(&doc, doc.root, "dependencies", PL_JSON_OBJECT);
        if (list && pl_json_count(list) == 1 &&
            pl_json_text(&source->arena, &doc, pl_json_first_member(list), &name) != PL_OK)
            name = (struct pl_str){0};
    }
    return name;
}

/* Adds the files that npm installed, below server/. */
static enum pl_exit take_installed(struct pl_deed *deed, struct pl_ext_source *source,
                                   const char *dir)
{
    struct pl_ext_tree installed;
    struct pl_error err = {0};
    enum pl_exit code = PL_EXIT_OK;
    enum pl_status status = pl_ext_tree_load(&source->arena, dir, &installed, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    for (size_t i = 0; i < installed.n && code == PL_EXIT_OK; i++) {
        const struct pl_ext_file *file = &installed.files[i];
        code = pl_ext_source_add(deed, source,
                                 pl_ext_source_text(source, "server/%.*s", PL_STR_ARG(file->path)),
                                 file->bytes);
    }
    return code;
}

static void remove_installed(const char *dir)
{
    const char *const argv[] = {"rm", "-rf", "--", dir, NULL};
    struct pl_process process = {.argv = argv, .limit_ms = NPM_MS};
    (void)pl_process_run(&process, NULL);
}

static enum pl_exit install(struct pl_deed *deed, struct pl_ext_source *source, const char *name)
{
    char dir[PATH_MAX];
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    enum pl_status status = pl_temp_dir_make(dir, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    const char *const argv[] = {"npm",
                                "install",
                                "--prefix",
                                dir,
                                "--ignore-scripts",
                                "--no-audit",
                                "--no-fund",
                                "--save-exact",
                                "--no-bin-links",
                                "--install-links",
                                "--loglevel=error",
                                "--",
                                name,
                                NULL};
    struct pl_process process = {.argv = argv, .limit_ms = NPM_MS, .errors = &said};
    status = pl_process_run(&process, &err);
    enum pl_exit code;
    if (status == PL_OK && process.code == 0) {
        code = take_installed(deed, source, dir);
    } else if (status == PL_OK) {
        struct pl_str text = pl_str_slice(pl_buf_str(&said), 0, 400);
        status = pl_fail(&err, PL_INVALID, "npm cannot install %s: %.*s", name, PL_STR_ARG(text));
        code = pl_deed_fail(deed, status, &err);
    } else {
        code = pl_deed_fail(deed, status, &err);
    }
    remove_installed(dir);
    return code;
}

/* npx [-y] NAME ARGUMENT …: writes the first words of the command. */
static enum pl_exit resolve_npx(struct pl_deed *deed, struct pl_ext_source *source,
                                struct pl_json_out *out, size_t *ret_n_words)
{
    size_t at = 1;
    while (at < deed->n_words &&
           (strcmp(deed->words[at], "-y") == 0 || strcmp(deed->words[at], "--yes") == 0))
        at++;
    if (at >= deed->n_words || deed->words[at][0] == '-')
        return pl_deed_usage(deed, "after npx comes the name of a package, as in npx -y "
                                   "@modelcontextprotocol/server-everything");
    enum pl_exit code = install(deed, source, deed->words[at]);
    if (code != PL_EXIT_OK)
        return code;
    struct pl_str name = find_name(source);
    const char *bin = name.ptr ? find_bin(source, name) : NULL;
    if (!bin)
        return pl_deed_usage(deed, "the package %s offers no program", deed->words[at]);
    pl_json_out_text(out, PL_STR("node"));
    pl_json_out_text(out, pl_str_of(bin));
    *ret_n_words = at + 1;
    return PL_EXIT_OK;
}

/* --- other commands --------------------------------------------------------------------------- */

/* Copies a named file into the package, unless it is in a system directory. */
static enum pl_exit out_word(struct pl_deed *deed, struct pl_ext_source *source,
                             struct pl_json_out *out, const char *word)
{
    struct stat info;
    char path[PATH_MAX];
    bool is_file = strchr(word, '/') && stat(word, &info) == 0 && S_ISREG(info.st_mode) &&
                   realpath(word, path) && strncmp(path, "/usr/", 5) != 0 &&
                   strncmp(path, "/bin/", 5) != 0;
    if (!is_file) {
        pl_json_out_text(out, pl_str_of(word));
        return PL_EXIT_OK;
    }
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    enum pl_status status = pl_file_read(path, SERVER_FILE_BYTES, NULL, &file, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    const char *name = strrchr(path, '/') + 1;
    struct pl_ext_file copy = {
        .path = pl_str_of(pl_ext_source_text(source, "server/%s", name)),
        .bytes = pl_arena_dup(&source->arena, file.bytes),
        .is_executable = info.st_mode & S_IXUSR,
    };
    status = pl_ext_tree_add(&source->arena, &source->tree, &copy, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    pl_json_out_text(out, pl_str_of(pl_ext_source_text(source, "/ext/server/%s", name)));
    return PL_EXIT_OK;
}

static enum pl_exit out_command(struct pl_deed *deed, struct pl_ext_source *source,
                                struct pl_json_out *out)
{
    size_t at = 0;
    enum pl_exit code = PL_EXIT_OK;
    pl_json_out_key(out, "command");
    pl_json_out_open(out, '[');
    if (strcmp(deed->words[0], "npx") == 0)
        code = resolve_npx(deed, source, out, &at);
    for (; at < deed->n_words && code == PL_EXIT_OK; at++)
        code = out_word(deed, source, out, deed->words[at]);
    pl_json_out_close(out, ']');
    return code;
}

static enum pl_exit out_url(struct pl_deed *deed, struct pl_json_out *out)
{
    if (deed->n_words > 1)
        return pl_deed_usage(deed, "an MCP server on the web is one URL; remove what follows it");
    if (!pl_args_has(deed->args, PL_OPT_HOST))
        return pl_deed_usage(
            deed, "an MCP server on the web needs --host NAME, with the host of its URL");
    out_member(out, "url", deed->words[0]);
    const char *bearer = pl_deed_option(deed, PL_OPT_ENV);
    if (bearer)
        out_member(out, "bearer_env", bearer);
    return PL_EXIT_OK;
}

static void out_names(struct pl_json_out *out, const struct pl_deed *deed)
{
    pl_json_out_key(out, "env");
    pl_json_out_open(out, '[');
    for (size_t i = 0; i < deed->args->uses.len; i++)
        if (deed->args->uses.ptr[i].option->id == PL_OPT_ENV)
            pl_json_out_text(out, pl_str_of(deed->args->uses.ptr[i].values[0]));
    pl_json_out_close(out, ']');
}

static enum pl_exit add_server(struct pl_deed *deed, struct pl_ext_source *source, const char *id)
{
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    struct pl_json_out out = pl_json_out(&text);
    bool is_url =
        strncmp(deed->words[0], "https://", 8) == 0 || strncmp(deed->words[0], "http://", 7) == 0;
    pl_json_out_open(&out, '{');
    out_member(&out, "id", id);
    enum pl_exit code = is_url ? out_url(deed, &out) : out_command(deed, source, &out);
    if (!is_url)
        out_names(&out, deed);
    pl_json_out_close(&out, '}');
    return code == PL_EXIT_OK ? add_text(deed, source, "server.json", &text) : code;
}

enum pl_exit pl_ext_source_mcp(struct pl_deed *deed, struct pl_ext_source *source)
{
    static const char *const files[][2] = {
        {PL_EXT_ADAPTER_MCP, "adapters/mcp.mjs"},
        {".parley/mcp_schema.mjs", "adapters/mcp_schema.mjs"},
        {".parley/mcp_transport.mjs", "adapters/mcp_transport.mjs"},
        {".parley/parley_ext.mjs", "sdk/js/parley_ext.mjs"}};
    const char *id = pl_deed_option(deed, PL_OPT_MCP);
    if (!deed->n_words)
        return pl_deed_usage(deed, "after --mcp ID comes the command of the server: -- CMD "
                                   "ARGUMENT..., or -- https://...");
    if (!pl_ext_is_id(pl_str_of(id)))
        return pl_deed_usage(deed,
                             "\"%s\" is not the id of an extension; use small letters, digits, "
                             "\".\", \"_\" and \"-\", at most 64",
                             id);
    PL_CLEANUP_BUF struct pl_buf manifest;
    pl_buf_init(&manifest, 0);
    write_manifest(&manifest, deed, id);
    enum pl_exit code = add_text(deed, source, "extension.json", &manifest);
    if (code == PL_EXIT_OK)
        code = add_server(deed, source, id);
    for (size_t i = 0; i < sizeof files / sizeof *files && code == PL_EXIT_OK; i++)
        code = pl_ext_source_add_kit(deed, source, files[i][0], files[i][1]);
    source->says = pl_str_of(pl_ext_source_text(source, "mcp: %s", deed->words[0]));
    return code;
}
