/* Extensions of pi: a TypeScript module that receives an object `pi`. It is bundled with our
 * stand-ins for the packages of pi, and run by the adapter (adapters/pi.mjs). */
#include "app/extension/ext_int.h"

#include "extproto/registration.h"
#include "io/file/file.h"
#include "io/file/file_tree.h"
#include "io/file/outfile.h"
#include "io/system/process.h"
#include "app/extension/kit.h"

#include <limits.h>
#include <stdio.h>

enum { SOURCE_BYTES = 4 << 20 };

/* The packages that pi extensions import; a stand-in replaces each. */
static const char *const packages[] = {"@earendil-works/pi-coding-agent",
                                       "@earendil-works/pi-ai",
                                       "@earendil-works/pi-tui",
                                       "@earendil-works/pi-agent-core",
                                       "@mariozechner/pi-coding-agent",
                                       "@mariozechner/pi-ai",
                                       "@mariozechner/pi-tui",
                                       "@mariozechner/pi-agent-core",
                                       "typebox",
                                       "@sinclair/typebox",
                                       NULL};

/* The id of an extension: the name of its file, or of its folder for an index.ts. */
static const char *name_of(struct pl_ext_source *source, const char *file)
{
    struct pl_str path = pl_str_of(file);
    if (path.len > 9 && memcmp(path.ptr + path.len - 9, "/index.ts", 9) == 0)
        path.len -= 9;
    size_t at = path.len;
    while (at && path.ptr[at - 1] != '/')
        at--;
    struct pl_str name = pl_str_slice(path, at, path.len);
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] == '.' && i)
            name.len = i;
    char *text = pl_arena_zalloc(&source->arena, name.len + 1, 1);
    for (size_t i = 0; text && i < name.len; i++) {
        char c = name.ptr[i];
        text[i] = c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
    }
    return text;
}

static enum pl_exit add_manifest(struct pl_deed *deed, struct pl_ext_source *source, const char *id)
{
    const char *text = pl_ext_source_text(
        source,
        "{\"schema\":\"pi.ext.manifest.v1\",\"extension_id\":\"%s\",\"name\":\"%s\",\"version\":"
        "\"1.0.0\",\"description\":\"An extension of pi\",\"api_version\":\"1.0\",\"runtime\":"
        "\"js\",\"entrypoint\":\"extension.mjs\",\"capabilities\":[\"read\",\"write\",\"exec\","
        "\"events\",\"session\",\"ui\",\"tool\",\"log\"]}",
        id, id);
    return text ? pl_ext_source_add(deed, source, "extension.json", pl_str_of(text))
                : pl_deed_stop(deed, PL_NOMEM);
}

/* Bundles with every package replaced by our stand-in, which is written to a temporary file for
 * esbuild. */
static enum pl_exit bundle(struct pl_deed *deed, struct pl_ext_source *source, const char *file)
{
    char dir[PATH_MAX];
    const char *aliases[16] = {0};
    struct pl_error err = {0};
    const struct pl_kit_file *stand_in = pl_kit_find("adapters/pi_packages.cjs");
    enum pl_status status = stand_in ? pl_temp_dir_make(dir, &err) : PL_INTERNAL;
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    const char *path = pl_ext_source_text(source, "%s/pi_packages.cjs", dir);
    status = path ? pl_file_write(path, stand_in->text, &err) : PL_NOMEM;
    for (size_t i = 0; packages[i] && status == PL_OK; i++) {
        aliases[i] = pl_ext_source_text(source, "--alias:%s=%s", packages[i], path);
        status = aliases[i] ? PL_OK : PL_NOMEM;
    }
    enum pl_exit code = status == PL_OK
                            ? pl_ext_source_bundle(deed, source, file, "extension.mjs", aliases)
                            : pl_deed_fail(deed, status, &err);
    pl_temp_dir_remove(dir);
    return code;
}

/* --- unsupported features --------------------------------------------------------------------- */

/* Names in the source of features that are not supported here. */
static const struct {
    const char *word, *note;
} missing[] = {
    {"ui.custom", "ui.custom draws in a terminal: it does nothing"},
    {"setFooter(", "ui.setFooter draws in a terminal: it does nothing"},
    {"setHeader(", "ui.setHeader draws in a terminal: it does nothing"},
    {"setEditorComponent(", "ui.setEditorComponent draws in a terminal: it does nothing"},
    {"setWorkingIndicator(", "ui.setWorkingIndicator draws in a terminal: it does nothing"},
    {"setWorkingMessage(", "ui.setWorkingMessage draws in a terminal: it does nothing"},
    {"setWorkingVisible(", "ui.setWorkingVisible draws in a terminal: it does nothing"},
    {"setHiddenThinkingLabel(", "ui.setHiddenThinkingLabel draws in a terminal: it does nothing"},
    {"setTheme(", "ui.setTheme changes a terminal: it does nothing"},
    {"addAutocompleteProvider(", "ui.addAutocompleteProvider completes in a terminal: it does "
                                 "nothing"},
    {"setEditorText(", "ui.setEditorText changes the editor of a terminal: it does nothing"},
    {"renderCall", "renderCall of a tool draws in a terminal: it is not called"},
    {"renderResult", "renderResult of a tool draws in a terminal: it is not called"},
    {"registerMessageRenderer(", "registerMessageRenderer draws in a terminal: it does nothing"},
    {"registerShortcut(", "registerShortcut: there are no keys to press"},
    {"registerProvider(", "registerProvider: providers are models of the server"},
    {"modelRegistry", "modelRegistry: the extension has no keys of models"},
    {"newSession(", "newSession: an extension does not begin sessions"},
    {"navigateTree(", "navigateTree: sessions have no tree here"},
    {"\"user_bash\"", "the event user_bash does not exist here"},
    {"\"session_tree\"", "the event session_tree does not exist here"},
    {"\"resources_discover\"", "the event resources_discover does not exist here"},
    {"\"after_provider_response\"", "the event after_provider_response does not exist here"},
};

static bool is_source(struct pl_str name)
{
    return name.len > 3 && memcmp(name.ptr + name.len - 3, ".ts", 3) == 0;
}

static enum pl_status note_file(const char *path, bool *is_noted, struct pl_error *err)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    enum pl_status status = pl_file_read(path, SOURCE_BYTES, NULL, &file, err);
    for (size_t i = 0; status == PL_OK && i < sizeof missing / sizeof *missing; i++)
        is_noted[i] =
            is_noted[i] || pl_str_find(file.bytes, pl_str_of(missing[i].word)) != SIZE_MAX;
    return status;
}

/* For an index.ts, also reads the files beside it. */
static enum pl_status note_all(struct pl_ext_source *source, const char *file, bool *is_noted,
                               struct pl_error *err)
{
    struct pl_str path = pl_str_of(file);
    struct pl_file_tree tree = {0};
    if (path.len <= 9 || memcmp(path.ptr + path.len - 9, "/index.ts", 9) != 0)
        return note_file(file, is_noted, err);
    const char *dir = pl_ext_source_text(source, "%.*s", (int)path.len - 9, path.ptr);
    enum pl_status status =
        dir ? pl_file_tree_list(&tree, &source->arena, dir, is_source, err) : PL_NOMEM;
    for (size_t i = 0; status == PL_OK && i < tree.files.len; i++)
        if (!strstr(tree.files.ptr[i].name, "node_modules/"))
            status = note_file(tree.files.ptr[i].path, is_noted, err);
    pl_file_tree_deinit(&tree);
    return status;
}

static enum pl_exit add_notes(struct pl_deed *deed, struct pl_ext_source *source, const char *file)
{
    bool is_noted[sizeof missing / sizeof *missing] = {false};
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status = note_all(source, file, is_noted, &err);
    if (status != PL_OK)
        return pl_deed_fail(deed, status, &err);
    struct pl_json_out out = pl_json_out(&text);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < sizeof missing / sizeof *missing; i++)
        if (is_noted[i])
            pl_json_out_text(&out, pl_str_of(missing[i].note));
    pl_json_out_close(&out, ']');
    struct pl_str kept = pl_arena_dup(&source->arena, pl_buf_str(&text));
    return text.status == PL_OK && kept.ptr ? pl_ext_source_add(deed, source, PL_EXT_NOTES, kept)
                                            : pl_deed_stop(deed, PL_NOMEM);
}

enum pl_exit pl_ext_source_pi(struct pl_deed *deed, const char *file, struct pl_ext_source *source)
{
    const char *id = name_of(source, file);
    if (!id)
        return pl_deed_stop(deed, PL_NOMEM);
    if (!pl_ext_is_id(pl_str_of(id)))
        return pl_deed_usage(deed,
                             "\"%s\" is not the id of an extension; name the file with small "
                             "letters, digits, \".\", \"_\" and \"-\"",
                             id);
    enum pl_exit code = add_manifest(deed, source, id);
    if (code == PL_EXIT_OK)
        code = bundle(deed, source, file);
    if (code == PL_EXIT_OK)
        code = add_notes(deed, source, file);
    if (code == PL_EXIT_OK)
        code = pl_ext_source_add_kit(deed, source, PL_EXT_ADAPTER_PI, "adapters/pi.mjs");
    if (code == PL_EXIT_OK)
        code =
            pl_ext_source_add_kit(deed, source, ".parley/parley_ext.mjs", "sdk/js/parley_ext.mjs");
    return code;
}
