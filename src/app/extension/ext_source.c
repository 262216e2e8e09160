/* Reads a package: a directory with an extension.json, a TypeScript extension of pi, an MCP server,
 * or the name of a shipped one. None of its scripts is run; esbuild bundles TypeScript without
 * running it. */
#include "app/extension/ext_int.h"

#include "base/text/suggest.h"
#include "app/extension/kit.h"
#include "io/file/file.h"
#include "io/file/file_tree.h"
#include "io/system/process.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Bundled CommonJS code loads Node modules with require. */
static const char banner[] =
    "--banner:js=import { createRequire as parleyRequire } from 'node:module'; "
    "const require = parleyRequire(import.meta.url);";

enum { BUNDLE_MS = 120000, BUNDLE_BYTES = 32 << 20 };

void pl_ext_source_drop(struct pl_ext_source *source)
{
    pl_arena_deinit(&source->arena);
}

const char *pl_ext_source_text(struct pl_ext_source *source, const char *format, ...)
{
    PL_CLEANUP_BUF struct pl_buf text;
    char *room;
    va_list args;
    pl_buf_init(&text, 0);
    va_start(args, format);
    int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    room = n < 0 ? NULL : pl_arena_alloc(&source->arena, (size_t)n + 1, 1);
    if (!room)
        return NULL;
    va_start(args, format);
    vsnprintf(room, (size_t)n + 1, format, args);
    va_end(args);
    return room;
}

enum pl_exit pl_ext_source_add(struct pl_deed *deed, struct pl_ext_source *source, const char *path,
                               struct pl_str bytes)
{
    struct pl_error err = {0};
    struct pl_ext_file file = {.path = pl_str_of(path), .bytes = bytes};
    enum pl_status status = path ? pl_ext_tree_add(&source->arena, &source->tree, &file, &err)
                                 : pl_fail(&err, PL_NOMEM, "out of memory");
    return status == PL_OK ? PL_EXIT_OK : pl_deed_fail(deed, status, &err);
}

enum pl_exit pl_ext_source_add_kit(struct pl_deed *deed, struct pl_ext_source *source,
                                   const char *path, const char *kit_path)
{
    const struct pl_kit_file *file = pl_kit_find(kit_path);
    return file ? pl_ext_source_add(deed, source, path, file->text)
                : pl_deed_stop(deed, PL_INTERNAL);
}

/* --- TypeScript ------------------------------------------------------------------------------- */

static const char *find_esbuild(void)
{
    const char *own = getenv("PARLEY_ESBUILD");
    return own && *own ? own : "esbuild";
}

static enum pl_exit fail_bundle(struct pl_deed *deed, const char *file, enum pl_status status,
                                const struct pl_buf *said, struct pl_error *err)
{
    if (status == PL_NOT_FOUND)
        return pl_deed_usage(deed,
                             "%s is TypeScript, and there is no esbuild to bundle it; install it "
                             "(apt install esbuild, or npm install -g esbuild), or say where it is "
                             "with PARLEY_ESBUILD",
                             file);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, err);
    struct pl_str text = pl_str_slice(pl_buf_str(said), 0, 400);
    (void)pl_fail(err, PL_INVALID, "esbuild cannot bundle %s: %.*s", file, PL_STR_ARG(text));
    return pl_deed_fail(deed, PL_INVALID, err);
}

static enum pl_exit take_bundle(struct pl_deed *deed, struct pl_ext_source *source,
                                const char *made, const char *name)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    enum pl_status status = pl_file_read(made, BUNDLE_BYTES, NULL, &file, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    struct pl_str bytes = pl_arena_dup(&source->arena, file.bytes);
    return bytes.ptr ? pl_ext_source_add(deed, source, name, bytes) : pl_deed_stop(deed, PL_NOMEM);
}

enum pl_exit pl_ext_source_bundle(struct pl_deed *deed, struct pl_ext_source *source,
                                  const char *file, const char *name, const char *const *aliases)
{
    char dir[PATH_MAX];
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf said;
    pl_buf_init(&said, 0);
    enum pl_status status = pl_temp_dir_make(dir, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    const char *made = pl_ext_source_text(source, "%s/bundle.mjs", dir);
    const char *out = pl_ext_source_text(source, "--outfile=%s", made ? made : "");
    const char *argv[40] = {find_esbuild(),
                            file,
                            "--bundle",
                            "--platform=node",
                            "--format=esm",
                            "--target=node20",
                            "--log-level=error",
                            "--external:fsevents",
                            banner,
                            out};
    size_t n = 10;
    for (; aliases && *aliases && n < 39; aliases++)
        argv[n++] = *aliases;
    struct pl_process process = {.argv = argv, .limit_ms = BUNDLE_MS, .errors = &said};
    status = made && out ? pl_process_run(&process, &err) : PL_NOMEM;
    enum pl_exit code = status == PL_OK && process.code == 0
                            ? take_bundle(deed, source, made, name)
                            : fail_bundle(deed, file, status, &said, &err);
    pl_temp_dir_remove(dir);
    return code;
}

static bool ends_with(struct pl_str text, const char *end)
{
    size_t n = strlen(end);
    return text.len >= n && memcmp(text.ptr + text.len - n, end, n) == 0;
}

/* If the entry point X.mjs is missing and X.ts exists, bundles X.ts. */
static enum pl_exit build_entrypoint(struct pl_deed *deed, struct pl_ext_source *source)
{
    struct pl_str entry = source->package.entrypoint;
    if (source->package.runtime != PL_EXT_RUNTIME_NODE || !ends_with(entry, ".mjs"))
        return PL_EXIT_OK;
    const char *written = pl_ext_source_text(source, "%.*s.ts", (int)entry.len - 4, entry.ptr);
    const char *name = pl_ext_source_text(source, "%.*s", PL_STR_ARG(entry));
    if (!written || !name)
        return pl_deed_stop(deed, PL_NOMEM);
    if (pl_ext_tree_find(&source->tree, entry) ||
        !pl_ext_tree_find(&source->tree, pl_str_of(written)))
        return PL_EXIT_OK;
    const char *file = pl_ext_source_text(source, "%s/%s", source->dir, written);
    source->dir = NULL; /* no longer the unchanged directory */
    return file ? pl_ext_source_bundle(deed, source, file, name, NULL)
                : pl_deed_stop(deed, PL_NOMEM);
}

/* --- the kinds of sources --------------------------------------------------------------------- */

static enum pl_exit load_directory(struct pl_deed *deed, const char *word,
                                   struct pl_ext_source *source)
{
    struct pl_error err = {0};
    char path[PATH_MAX];
    if (!realpath(word, path))
        return pl_deed_stop(deed, PL_IO);
    source->dir = pl_ext_source_text(source, "%s", path);
    enum pl_status status =
        source->dir ? pl_ext_tree_load(&source->arena, path, &source->tree, &err) : PL_NOMEM;
    return status == PL_OK ? PL_EXIT_OK : pl_deed_fail(deed, status, &err);
}

/* Loads extensions/NAME/… of the kit, and the SDK that it uses. */
static enum pl_exit load_shipped(struct pl_deed *deed, const char *word,
                                 struct pl_ext_source *source, bool *ret_was_found)
{
    const char *prefix = pl_ext_source_text(source, "extensions/%s/", word);
    enum pl_exit code = PL_EXIT_OK;
    *ret_was_found = false;
    if (!prefix)
        return pl_deed_stop(deed, PL_NOMEM);
    for (const struct pl_kit_file *file = pl_kit_files; file->path && code == PL_EXIT_OK; file++)
        if (strncmp(file->path, prefix, strlen(prefix)) == 0) {
            *ret_was_found = true;
            code = pl_ext_source_add(deed, source, file->path + strlen(prefix), file->text);
            if (code == PL_EXIT_OK && ends_with(pl_str_of(file->path), ".py"))
                code = pl_ext_source_add_kit(deed, source, "parley_ext.py",
                                             "sdk/python/parley_ext.py");
            if (code == PL_EXIT_OK && ends_with(pl_str_of(file->path), ".mjs"))
                code =
                    pl_ext_source_add_kit(deed, source, "parley_ext.mjs", "sdk/js/parley_ext.mjs");
        }
    return code;
}

static enum pl_exit fail_unknown(struct pl_deed *deed, const char *word)
{
    static const char *const shipped[] = {"workspace", "web", "demo"};
    struct pl_suggest suggest = pl_suggest(pl_str_of(word));
    for (size_t i = 0; i < sizeof shipped / sizeof *shipped; i++)
        pl_suggest_offer(&suggest, shipped[i]);
    return pl_deed_usage(deed,
                         "\"%s\" is neither a directory with an extension.json, nor a file.ts of "
                         "pi, nor an extension that Parley ships (workspace, web, demo)%s%s%s",
                         word, suggest.best ? "; did you mean \"" : "",
                         suggest.best ? suggest.best : "", suggest.best ? "\"?" : "");
}

static enum pl_exit load(struct pl_deed *deed, const char *word, struct pl_ext_source *source)
{
    bool was_found = false;
    if (!word)
        return pl_ext_source_mcp(deed, source);
    const char *index = pl_ext_source_text(source, "%s/index.ts", word);
    const char *manifest = pl_ext_source_text(source, "%s/extension.json", word);
    if (!index || !manifest)
        return pl_deed_stop(deed, PL_NOMEM);
    if (pl_path_is_directory(word)) {
        bool is_pi = access(manifest, F_OK) != 0 && access(index, F_OK) == 0;
        return is_pi ? pl_ext_source_pi(deed, index, source) : load_directory(deed, word, source);
    }
    if (access(word, F_OK) == 0 &&
        (ends_with(pl_str_of(word), ".ts") || ends_with(pl_str_of(word), ".js")))
        return pl_ext_source_pi(deed, word, source);
    enum pl_exit code = load_shipped(deed, word, source, &was_found);
    return code == PL_EXIT_OK && !was_found ? fail_unknown(deed, word) : code;
}

static enum pl_exit read_manifest(struct pl_deed *deed, struct pl_ext_source *source)
{
    char hash[PL_EXT_HASH_SIZE];
    struct pl_error err = {0};
    enum pl_status status = pl_ext_tree_hash(&source->arena, &source->tree, hash);
    const struct pl_ext_file *file =
        status == PL_OK ? pl_ext_tree_find(&source->tree, PL_STR("extension.json")) : NULL;
    if (status == PL_OK && !file)
        return pl_deed_usage(deed, "there is no extension.json; parley ext new makes one");
    if (status == PL_OK)
        status = pl_ext_package_read(&source->arena, file->bytes, &source->package, &err);
    return status == PL_OK ? PL_EXIT_OK : pl_deed_fail(deed, status, &err);
}

enum pl_exit pl_ext_source_read(struct pl_deed *deed, const char *word,
                                struct pl_ext_source *source)
{
    *source = (struct pl_ext_source){0};
    pl_arena_init(&source->arena, 0);
    enum pl_exit code = load(deed, word, source);
    if (code == PL_EXIT_OK)
        code = read_manifest(deed, source);
    if (code == PL_EXIT_OK && source->dir)
        code = build_entrypoint(deed, source);
    if (code == PL_EXIT_OK && word)
        source->says =
            pl_str_of(pl_ext_source_text(source, "%s", source->dir ? source->dir : word));
    return code;
}
