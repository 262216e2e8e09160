/* A table with a row for each kind of word: the list of the server that has them, and the member
 * that is the word. */
#include "app/manual/complete.h"

#include "app/frame/verbs.h"
#include "io/file/file.h"
#include "service/tasks/zones.h"

#include <stdio.h>

enum { PATIENCE_MS = 1000, MAX_ZONES = 4 << 20 };

struct asking {
    struct pl_console *console;
    struct pl_str word; /* typed so far */
    int argc;           /* of the command line that is completed, from the command on */
    char *const *argv;
};

static void offer(const struct asking *asking, struct pl_str word)
{
    if (!pl_str_starts(word, asking->word))
        return;
    pl_console_put_safe(asking->console, word);
    pl_console_puts(asking->console, "\n");
}

/* --- words that a server knows --------------------------------------------------------------- */

static const struct kind {
    const char *name, *path, *member;
    const char *folder; /* a member that precedes the word, with a slash; NULL: none */
    const char *also;   /* an alias that is offered too; NULL: none */
} kinds[] = {
    {"models", "/api/models", "name", NULL, NULL},
    {"prompts", "/api/prompts?limit=100", "name", "folder", NULL},
    {"sessions", "/api/sessions?limit=100", "id", NULL, "last"},
    {"tasks", "/api/scheduled-tasks?limit=100", "id", NULL, NULL},
    {"blobs", "/api/blobs?limit=100", "id", NULL, NULL},
    {"extensions", "/api/extensions?limit=100", "id", NULL, NULL},
    {"keys", "/api/user/api-keys?limit=100", "id", NULL, NULL},
    {"users", "/api/users?limit=100", "name", NULL, NULL},
};

/* Finds the options that name the server, anywhere on the command line. */
static enum pl_status find_server(const struct asking *asking, struct pl_args *args)
{
    static const struct pl_option options[] = {
        {"server", PL_OPT_SERVER, .args = {"URL"}},
        {"key-file", PL_OPT_KEY_FILE, .args = {"FILE"}},
        {"data", PL_OPT_DATA, .args = {"DIR"}},
        {0},
    };
    *args = (struct pl_args){0};
    for (int i = 0; i < asking->argc; i++)
        for (const struct pl_option *option = options; option->name; option++) {
            char name[32];
            int n = snprintf(name, sizeof name, "--%s", option->name);
            bool is_whole = strcmp(asking->argv[i], name) == 0 && i + 1 < asking->argc;
            bool has_value =
                strncmp(asking->argv[i], name, (size_t)n) == 0 && asking->argv[i][n] == '=';
            struct pl_option_use use = {.option = option};
            use.values[0] = is_whole ? asking->argv[i + 1] : asking->argv[i] + n + 1;
            if ((is_whole || has_value) && !pl_vec_push(&args->uses, use))
                return PL_NOMEM;
        }
    return PL_OK;
}

static void offer_items(const struct asking *asking, const struct kind *kind,
                        struct pl_texts *texts, const struct pl_json_doc *doc)
{
    const struct pl_json_node *items = pl_json_member(doc, doc->root, "items", PL_JSON_ARRAY);
    for (const struct pl_json_node *one = items ? pl_json_first(items) : NULL;
         one && one < pl_json_end(items); one = pl_json_next(one)) {
        PL_CLEANUP_BUF struct pl_buf word;
        pl_buf_init(&word, 0);
        struct pl_str folder =
            kind->folder ? pl_api_text(texts, doc, one, kind->folder) : (struct pl_str){0};
        pl_buf_add(&word, folder);
        pl_buf_adds(&word, folder.len ? "/" : "");
        pl_buf_add(&word, pl_api_text(texts, doc, one, kind->member));
        if (word.status == PL_OK)
            offer(asking, pl_buf_str(&word));
    }
    if (kind->also)
        offer(asking, pl_str_of(kind->also));
}

static void offer_of_server(const struct asking *asking, const struct kind *kind)
{
    __attribute__((cleanup(pl_args_deinit))) struct pl_args args;
    struct pl_api api = {0};
    struct pl_http_call call = {.method = "GET", .timeout_ms = PATIENCE_MS};
    struct pl_error err = {0};
    struct pl_json_doc doc;
    int http_status = 0;
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    if (find_server(asking, &args) != PL_OK)
        return;
    if (pl_api_open(&api, asking->console, &args, "completion") == PL_EXIT_OK &&
        pl_api_try(&api, &call, kind->path, &http_status, &reply, &err) == PL_OK &&
        http_status == 200 &&
        pl_json_parse(&api.texts.arena, pl_buf_str(&reply), &pl_json_own, &doc, &err) == PL_OK)
        offer_items(asking, kind, &api.texts, &doc);
    pl_api_close(&api);
}

/* --- words that this machine and the program know -------------------------------------------- */

/* Parses the lines "Z Europe/Rome …" and "L Europe/Rome Europe/Vatican" of tzdata.zi. */
static void offer_zone(const struct asking *asking, struct pl_str line)
{
    size_t n_words = 0, from = 0;
    for (size_t i = 0; i <= line.len; i++) {
        if (i < line.len && line.ptr[i] != ' ')
            continue;
        struct pl_str word = pl_str_slice(line, from, i);
        from = i + 1;
        n_words++;
        if (n_words == (line.ptr[0] == 'Z' ? 2u : 3u)) {
            offer(asking, word);
            return;
        }
    }
}

static void offer_zones(const struct asking *asking)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_addf(&path, "%s/tzdata.zi", pl_zones_dir());
    pl_buf_addc(&path, '\0');
    if (path.status != PL_OK || pl_file_read(path.ptr, MAX_ZONES, NULL, &file, &err) != PL_OK)
        return;
    for (struct pl_str rest = file.bytes; rest.len;) {
        const char *end = memchr(rest.ptr, '\n', rest.len);
        size_t n = end ? (size_t)(end - rest.ptr) : rest.len;
        struct pl_str line = pl_str_slice(rest, 0, n);
        if (pl_str_begins(line, "Z ") || pl_str_begins(line, "L "))
            offer_zone(asking, line);
        rest = pl_str_slice(rest, n + 1, rest.len);
    }
    offer(asking, PL_STR("UTC"));
}

/* The verb on the command line, or the default verb; NULL if there is none. */
static const struct pl_verb *verb_of(const struct asking *asking, const struct pl_command *command)
{
    for (int i = 1; i < asking->argc; i++) {
        const struct pl_verb *verb = pl_verb_find(command, asking->argv[i]);
        if (verb)
            return verb;
    }
    for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++)
        if (verb->is_default)
            return verb;
    return NULL;
}

static bool is_named(struct pl_str list, struct pl_str name)
{
    for (size_t from = 0; from < list.len;) {
        const char *comma = memchr(list.ptr + from, ',', list.len - from);
        size_t to = comma ? (size_t)(comma - list.ptr) : list.len;
        if (pl_str_eq(pl_str_slice(list, from, to), name))
            return true;
        from = to + 1;
    }
    return false;
}

/* Completes "id,st" to "id,status": the part before the last comma stays. */
static void offer_these(const struct asking *asking, const char *columns)
{
    size_t n_before = asking->word.len;
    while (n_before && asking->word.ptr[n_before - 1] != ',')
        n_before--;
    struct pl_str before = pl_str_slice(asking->word, 0, n_before);
    for (size_t i = 0; i < pl_column_count(columns); i++) {
        PL_CLEANUP_BUF struct pl_buf word;
        pl_buf_init(&word, 0);
        if (is_named(before, pl_column_name(columns, i)))
            continue;
        pl_buf_add(&word, before);
        pl_buf_add(&word, pl_column_name(columns, i));
        if (word.status == PL_OK)
            offer(asking, pl_buf_str(&word));
    }
}

/* Depending on the verb, --format takes the columns of a table or a format. */
static void offer_columns(const struct asking *asking)
{
    const struct pl_command *command = asking->argc ? pl_command_find(asking->argv[0]) : NULL;
    const struct pl_verb *verb = command ? verb_of(asking, command) : NULL;
    const char *columns = verb ? verb->columns : command ? command->columns : NULL;
    if (columns)
        offer_these(asking, columns);
    for (const struct pl_option *option = verb ? command->options : NULL;
         option && option->name && !columns; option++)
        for (size_t i = 0; option->id == PL_OPT_FORMAT && option->choice && option->choice(i); i++)
            offer(asking, pl_str_of(option->choice(i)));
}

enum pl_exit pl_complete(struct pl_console *console, int argc, char *const *argv)
{
    if (argc < 3 || strcmp(argv[2], "--") != 0)
        return PL_EXIT_OK;
    struct asking asking = {
        .console = console, .word = pl_str_of(argv[1]), .argc = argc - 3, .argv = argv + 3};
    console->is_silent = true;
    if (strcmp(argv[0], "zones") == 0)
        offer_zones(&asking);
    else if (strcmp(argv[0], "columns") == 0)
        offer_columns(&asking);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i].name, argv[0]) == 0)
            offer_of_server(&asking, &kinds[i]);
    return PL_EXIT_OK;
}
