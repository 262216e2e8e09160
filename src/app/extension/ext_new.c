/* parley ext new: creates a working package in the author's language. */
#include "app/extension/ext_int.h"

#include "app/extension/extension_commands.h"
#include "app/extension/kit.h"
#include "extproto/registration.h"
#include "io/file/file_tree.h"
#include "io/file/outfile.h"

#include <stdio.h>
#include <unistd.h>

struct skeleton {
    const char *language, *runtime, *entrypoint;
    const char *files[3][2]; /* name in the package, name in the kit */
    const char *next;        /* the step before it can be tested; NULL: none */
};

static const struct skeleton skeletons[] = {
    {"python",
     "python",
     "main.py",
     {{"main.py", "sdk/new/main.py"}, {"parley_ext.py", "sdk/python/parley_ext.py"}},
     NULL},
    {"js",
     "node",
     "main.mjs",
     {{"main.mjs", "sdk/new/main.mjs"}, {"parley_ext.mjs", "sdk/js/parley_ext.mjs"}},
     NULL},
    {"ts",
     "node",
     "main.mjs",
     {{"main.ts", "sdk/new/main.ts"}, {"parley_ext.mjs", "sdk/js/parley_ext.mjs"}},
     NULL},
    {"c",
     "process",
     "main",
     {{"main.c", "sdk/new/main.c"},
      {"parley_ext.h", "sdk/c/parley_ext.h"},
      {"Makefile", "sdk/new/Makefile"}},
     "make -C"},
};

const char *pl_ext_language_choice(size_t i)
{
    return i < sizeof skeletons / sizeof *skeletons ? skeletons[i].language : NULL;
}

static const struct skeleton *find_skeleton(const char *language)
{
    for (size_t i = 0; i < sizeof skeletons / sizeof *skeletons; i++)
        if (strcmp(skeletons[i].language, language) == 0)
            return &skeletons[i];
    return NULL;
}

/* Replaces @NAME@ and @TOOL@ in the text. */
static void fill_in(struct pl_buf *to, struct pl_str text, const char *id)
{
    static const struct pl_str name = {"@NAME@", 6}, tool = {"@TOOL@", 6};
    while (text.len) {
        const char *at = memchr(text.ptr, '@', text.len);
        size_t n = at ? (size_t)(at - text.ptr) : text.len;
        pl_buf_add(to, pl_str_slice(text, 0, n));
        text = pl_str_slice(text, n, text.len);
        if (pl_str_starts(text, name)) {
            pl_buf_adds(to, id);
        } else if (pl_str_starts(text, tool)) {
            for (const char *c = id; *c; c++) /* tool names have no dots */
                pl_buf_addc(to, *c == '.' ? '_' : *c);
        } else {
            pl_buf_add(to, pl_str_slice(text, 0, 1));
            text = pl_str_slice(text, 1, text.len);
            continue;
        }
        text = pl_str_slice(text, name.len, text.len);
    }
}

static enum pl_exit write_one(struct pl_deed *deed, const char *dir, const char *name,
                              const struct pl_buf *text)
{
    static const struct pl_outfile_rules rules = {.is_new = true, .is_file = true};
    PL_CLEANUP_OUTFILE struct pl_outfile out = {0};
    PL_CLEANUP_BUF struct pl_buf path;
    struct pl_error err = {0};
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%s/%s", dir, name);
    pl_buf_addc(&path, '\0');
    enum pl_status status = text->status != PL_OK ? text->status : path.status;
    if (status == PL_OK)
        status = pl_path_make_parents(path.ptr, &err);
    if (status == PL_OK)
        status = pl_outfile_open(&out, path.ptr, &rules, &err);
    if (status == PL_OK)
        status = pl_outfile_write(&out, pl_buf_str(text), &err);
    if (status == PL_OK)
        status = pl_outfile_commit(&out, &err);
    return status == PL_OK ? PL_EXIT_OK : pl_deed_fail(deed, status, &err);
}

static void write_manifest(struct pl_buf *to, const struct skeleton *skeleton, const char *id)
{
    pl_buf_addf(to,
                "{\n  \"schema\": \"pi.ext.manifest.v1\",\n  \"extension_id\": \"%s\",\n  "
                "\"name\": \"%s\",\n  \"version\": \"0.1.0\",\n  \"description\": \"What it is "
                "for, in a sentence.\",\n  \"api_version\": \"1.0\",\n  \"runtime\": \"%s\",\n  "
                "\"entrypoint\": \"%s\",\n  \"capabilities\": [\"log\"]\n}\n",
                id, id, skeleton->runtime, skeleton->entrypoint);
}

enum pl_exit pl_ext_run_new(struct pl_deed *deed)
{
    const char *dir = deed->words[0], *language = pl_deed_option(deed, PL_OPT_LANGUAGE);
    const char *slash = strrchr(dir, '/'), *id = slash ? slash + 1 : dir;
    const struct skeleton *skeleton = find_skeleton(language ? language : "python");
    if (!pl_ext_is_id(pl_str_of(id)))
        return pl_deed_usage(
            deed,
            "the name of the directory becomes the id of the extension, and \"%s\" is not a valid "
            "id: use small letters, digits, \".\", \"_\" and \"-\", at most 64",
            id);
    if (access(dir, F_OK) == 0)
        return pl_deed_usage(deed, "\"%s\" exists already; give another name", dir);
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    write_manifest(&text, skeleton, id);
    enum pl_exit code = write_one(deed, dir, "extension.json", &text);
    for (size_t i = 0; i < 3 && skeleton->files[i][0] && code == PL_EXIT_OK; i++) {
        const struct pl_kit_file *file = pl_kit_find(skeleton->files[i][1]);
        pl_buf_clear(&text);
        fill_in(&text, file ? file->text : PL_STR(""), id);
        code = write_one(deed, dir, skeleton->files[i][0], &text);
    }
    if (code != PL_EXIT_OK)
        return code;
    pl_console_putf(deed->console, "%s\n", dir);
    if (skeleton->next)
        pl_console_hint(deed->console, "Build it with \"%s %s\".", skeleton->next, dir);
    pl_console_hint(deed->console,
                    "Try it with \"parley ext test %s\", use it with \"parley ext add "
                    "%s\".",
                    dir, dir);
    return PL_EXIT_OK;
}
