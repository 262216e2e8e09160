/* Finds the verb in its table, checks operands and options, and runs it. Also implements the
 * functions that verbs share: the request, the answer, and its output. */
#include "app/frame/verbs.h"

#include "app/frame/embedded.h"
#include "app/frame/input.h"
#include "app/frame/short_id.h"
#include "base/text/suggest.h"
#include "app/frame/variable.h"
#include "base/text/utf8.h"
#include "io/file/file.h"
#include "io/file/outfile.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_TEXT = 4 << 20 };

/* --- finding the verb ------------------------------------------------------------------------ */

enum pl_exit pl_verb_fail_unknown(struct pl_console *console, const struct pl_command *command,
                                  const char *word)
{
    struct pl_suggest suggest = pl_suggest(pl_str_of(word));
    PL_CLEANUP_BUF struct pl_buf names;
    pl_buf_init(&names, 0);
    for (const struct pl_verb *verb = command->verbs; verb->name; verb++) {
        const char *before = verb == command->verbs ? "" : verb[1].name ? ", " : " or ";
        pl_buf_addf(&names, "%s%s", before, verb->name);
        pl_suggest_offer(&suggest, verb->name);
    }
    const char *best = suggest.best;
    return pl_usage_fail(console, command->name,
                         "\"%s\" is not an action of \"parley %s\": %.*s%s%s%s", word,
                         command->name, PL_STR_ARG(pl_buf_str(&names)),
                         best ? "; did you mean \"" : "", best ? best : "", best ? "\"?" : "");
}

const struct pl_verb *pl_verb_find(const struct pl_command *command, const char *name)
{
    for (const struct pl_verb *verb = command->verbs; verb && verb->name; verb++)
        if (strcmp(verb->name, name) == 0)
            return verb;
    return NULL;
}

/* The server that a deed needs. */
enum server { NO_SERVER, A_RUNNING_SERVER, ANY_SERVER };

static enum pl_exit run(struct pl_deed *deed, enum pl_exit (*fn)(struct pl_deed *deed),
                        enum server server)
{
    struct pl_embedded own = PL_EMBEDDED_NONE;
    enum pl_exit code = PL_EXIT_OK;
    if (deed->columns)
        code = pl_column_choice_read(deed->console, deed->api.command, deed->args, deed->columns,
                                     &deed->chosen);
    if (code != PL_EXIT_OK)
        return code;
    pl_buf_init(&deed->body, 0);
    deed->out = pl_json_out(&deed->body);
    if (server == NO_SERVER)
        pl_arena_init(&deed->api.texts.arena, 0);
    else
        code = pl_api_open(&deed->api, deed->console, deed->args, deed->api.command);
    deed->api.verb = deed->verb ? deed->verb->name : NULL;
    if (code == PL_EXIT_OK && server == ANY_SERVER)
        code = pl_embedded_open(&own, &deed->api);
    if (code == PL_EXIT_OK)
        code = fn(deed);
    pl_embedded_close(&own);
    if (code <= PL_EXIT_NO && deed->api.texts.is_cut)
        code = pl_deed_stop(deed, PL_NOMEM);
    pl_api_close(&deed->api);
    pl_buf_deinit(&deed->body);
    return code;
}

/* Replaces the first word by the whole id of its session. */
static enum pl_exit run_with_session(struct pl_deed *deed)
{
    const char **words =
        pl_arena_alloc(&deed->api.texts.arena, deed->n_words * sizeof *words, alignof(char *));
    if (!words)
        return pl_deed_stop(deed, PL_NOMEM);
    memcpy(words, deed->words, deed->n_words * sizeof *words);
    enum pl_exit code = pl_deed_find_session(deed, deed->words[0], &words[0]);
    deed->words = words;
    return code == PL_EXIT_OK ? deed->verb->run(deed) : code;
}

/* The option of the same name that works with the verb; `read` if there is none. */
static const struct pl_option *option_of(const struct pl_command *command, const char *verb,
                                         const struct pl_option *read)
{
    for (const struct pl_option *one = command->options; one->name; one++)
        if (strcmp(one->name, read->name) == 0 && pl_option_has_verb(one, verb))
            return one;
    return read;
}

/* Prints which verbs an option works with: "list, export", of all options of this name. */
static enum pl_exit fail_verb(struct pl_console *console, const struct pl_command *command,
                              const char *verb, const struct pl_option *option)
{
    char verbs[512] = "";
    size_t n = 0;
    for (const struct pl_option *one = command->options; one->name; one++) {
        if (strcmp(one->name, option->name) != 0 || n >= sizeof verbs)
            continue;
        int added = snprintf(verbs + n, sizeof verbs - n, "%s%s", n ? ", " : "", one->verbs);
        n += added > 0 ? (size_t)added : 0;
    }
    return pl_usage_fail(console, command->name, "--%s works with %s, not with %s", option->name,
                         verbs, verb);
}

/* Refuses options that do not work with this verb. */
static enum pl_exit check_options(struct pl_console *console, const struct pl_command *command,
                                  const char *verb, const struct pl_args *args)
{
    for (size_t i = 0; i < args->uses.len; i++) {
        struct pl_option_use *use = &args->uses.ptr[i];
        struct pl_error err = {0};
        use->option = option_of(command, verb, use->option);
        if (!pl_option_has_verb(use->option, verb))
            return fail_verb(console, command, verb, use->option);
        if (pl_option_check_choice(use, &err) != PL_OK)
            return pl_usage_fail(console, command->name, "%s", err.message);
        if (!use->option->is_repeatable && pl_args_find(args, use->option->id) != use)
            return pl_usage_fail(console, command->name, "--%s is given twice", use->option->name);
    }
    return PL_EXIT_OK;
}

/* A command that allows zero operands has a default verb. */
static const struct pl_verb *default_of(const struct pl_command *command)
{
    const struct pl_verb *verb = command->verbs;
    while (!verb->is_default)
        verb++;
    return verb;
}

enum pl_exit pl_verb_run(struct pl_console *console, const struct pl_command *command,
                         const struct pl_args *args)
{
    static const char *const none[] = {NULL};
    bool is_named = args->operands.len; /* "parley models" is "parley models list" */
    const struct pl_verb *verb =
        is_named ? pl_verb_find(command, args->operands.ptr[0]) : default_of(command);
    size_t n_words = is_named ? args->operands.len - 1 : 0;
    if (!verb)
        return pl_verb_fail_unknown(console, command, args->operands.ptr[0]);
    if (n_words && !verb->max_words)
        return pl_usage_fail(console, command->name,
                             "\"parley %s %s\" takes no argument, not \"%s\"", command->name,
                             verb->name, args->operands.ptr[1]);
    if (n_words < verb->min_words || n_words > verb->max_words)
        return pl_usage_fail(console, command->name, "usage: parley %s %s %s", command->name,
                             verb->name, verb->words);
    enum pl_exit code = check_options(console, command, verb->name, args);
    if (code != PL_EXIT_OK)
        return code;
    struct pl_deed deed = {
        .console = console,
        .args = args,
        .words = is_named ? args->operands.ptr + 1 : none,
        .n_words = n_words,
        .verb = verb,
        .columns = verb->columns,
        .api = {.console = console, .command = command->name},
    };
    return run(&deed, verb->takes_session ? run_with_session : verb->run,
               verb->is_offline    ? NO_SERVER
               : verb->is_anywhere ? ANY_SERVER
                                   : A_RUNNING_SERVER);
}

static enum pl_exit run_all_words(struct pl_console *console, const char *command,
                                  const struct pl_args *args,
                                  enum pl_exit (*fn)(struct pl_deed *deed), enum server server)
{
    struct pl_deed deed = {
        .console = console,
        .args = args,
        .words = args->operands.ptr,
        .n_words = args->operands.len,
        .columns = pl_command_find(command)->columns,
        .api = {.console = console, .command = command},
    };
    return run(&deed, fn, server);
}

enum pl_exit pl_deed_run(struct pl_console *console, const char *command,
                         const struct pl_args *args, enum pl_exit (*fn)(struct pl_deed *deed))
{
    return run_all_words(console, command, args, fn, A_RUNNING_SERVER);
}

enum pl_exit pl_deed_run_anywhere(struct pl_console *console, const char *command,
                                  const struct pl_args *args,
                                  enum pl_exit (*fn)(struct pl_deed *deed))
{
    return run_all_words(console, command, args, fn, ANY_SERVER);
}

/* --- the command line ------------------------------------------------------------------------ */

const char *pl_deed_option(const struct pl_deed *deed, enum pl_option_id id)
{
    return pl_args_value(deed->args, id);
}

enum pl_exit pl_deed_usage(struct pl_deed *deed, const char *format, ...)
{
    char message[512];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return pl_usage_fail(deed->console, deed->api.command, "%s", message);
}

enum pl_exit pl_deed_confirm(struct pl_deed *deed, const char *format, ...)
{
    char question[512];
    va_list args;
    va_start(args, format);
    vsnprintf(question, sizeof question, format, args);
    va_end(args);
    if (pl_args_has(deed->args, PL_OPT_YES))
        return PL_EXIT_OK;
    if (!isatty(STDIN_FILENO) || !deed->console->err_is_terminal)
        return pl_deed_usage(deed, "%s There is no terminal to ask; --yes does it", question);
    if (pl_console_ask(deed->console, "%s", question))
        return PL_EXIT_OK;
    pl_console_say(deed->console, "nothing was changed");
    return PL_EXIT_NO;
}

enum pl_exit pl_deed_check_count(struct pl_deed *deed, enum pl_option_id id, uint64_t most)
{
    const struct pl_option_use *use = pl_args_find(deed->args, id);
    uint64_t n = 0;
    if (!use || pl_option_read_count(use->values[0], most, &n))
        return PL_EXIT_OK;
    return pl_deed_usage(deed, "--%s must be a whole number from 1 to %" PRIu64 ", not \"%s\"",
                         use->option->name, most, use->values[0]);
}

enum pl_exit pl_deed_read_text(struct pl_deed *deed, const char *word, bool is_line,
                               struct pl_str *ret_text)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    struct pl_str text = pl_str_of(word);
    if (strcmp(word, "-") == 0) {
        if (pl_file_read(word, MAX_TEXT, NULL, &file, &err) != PL_OK)
            return pl_console_fail(deed->console, pl_input_name(word), &err);
        text = file.bytes;
        while (is_line && text.len && text.ptr[text.len - 1] == '\n')
            text.len--;
        if (!pl_utf8_is_valid(text)) {
            (void)pl_fail(&err, PL_UNREADABLE, "the text is not UTF-8");
            return pl_console_fail(deed->console, pl_input_name(word), &err);
        }
    }
    text = text.len ? pl_arena_dup(&deed->api.texts.arena, text) : PL_STR("");
    if (!text.ptr)
        return pl_deed_stop(deed, PL_NOMEM);
    *ret_text = text;
    return PL_EXIT_OK;
}

enum pl_exit pl_deed_read_variable(struct pl_deed *deed, const char *text,
                                   struct pl_render_var *ret_var)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    struct pl_render_var var;
    enum pl_exit code = pl_variable_read(deed->console, deed->api.command, text, &var);
    if (code != PL_EXIT_OK)
        return code;
    bool is_file = pl_str_begins(var.value, "@") && !pl_str_begins(var.value, "@@");
    if (pl_str_begins(var.value, "@@"))
        var.value = pl_str_slice(var.value, 1, var.value.len);
    if (is_file) {
        const char *path = var.value.ptr + 1; /* NUL-terminated: it is the end of an argument */
        if (pl_file_read(path, MAX_TEXT, NULL, &file, &err) != PL_OK) {
            code = pl_console_fail(deed->console, pl_input_name(path), &err);
            pl_console_hint(deed->console,
                            "A value that begins with @ is a file; write @@ for one @.");
            return code;
        }
        if (!pl_utf8_is_valid(file.bytes)) {
            (void)pl_fail(&err, PL_UNREADABLE, "the text is not UTF-8");
            return pl_console_fail(deed->console, pl_input_name(path), &err);
        }
        var.value = file.bytes.len ? pl_arena_dup(&deed->api.texts.arena, file.bytes) : PL_STR("");
        if (!var.value.ptr)
            return pl_deed_stop(deed, PL_NOMEM);
    }
    *ret_var = var;
    return PL_EXIT_OK;
}

enum pl_exit pl_deed_out_variables(struct pl_deed *deed)
{
    enum pl_exit code = PL_EXIT_OK;
    pl_json_out_open(&deed->out, '{');
    for (size_t i = 0; i < deed->args->uses.len && code == PL_EXIT_OK; i++) {
        const struct pl_option_use *use = &deed->args->uses.ptr[i];
        struct pl_render_var var;
        if (use->option->id != PL_OPT_VAR)
            continue;
        code = pl_deed_read_variable(deed, use->values[0], &var);
        if (code != PL_EXIT_OK)
            return code;
        pl_json_out_key_str(&deed->out, var.name);
        pl_json_out_text(&deed->out, var.value);
    }
    pl_json_out_close(&deed->out, '}');
    return code;
}

/* --- asking ---------------------------------------------------------------------------------- */

enum pl_exit pl_deed_fail(struct pl_deed *deed, enum pl_status status, struct pl_error *err)
{
    return pl_api_fail(&deed->api, status, err);
}

enum pl_exit pl_deed_stop(struct pl_deed *deed, enum pl_status status)
{
    return pl_deed_fail(deed, status, &(struct pl_error){0});
}

enum pl_exit pl_deed_ask(struct pl_deed *deed, const char *method, const char *path)
{
    if (deed->body.status != PL_OK)
        return pl_deed_stop(deed, deed->body.status);
    enum pl_exit code =
        pl_api_ask(&deed->api, method, path, pl_buf_str(&deed->body), &deed->answer);
    pl_buf_deinit(&deed->body); /* ptr says whether there is a body, so clearing is not enough */
    pl_buf_init(&deed->body, 0);
    deed->out = pl_json_out(&deed->body);
    return code;
}

enum pl_exit pl_deed_take(struct pl_deed *deed, struct pl_str reply)
{
    struct pl_error err = {0};
    struct pl_str kept = pl_arena_dup(&deed->api.texts.arena, reply);
    enum pl_status status =
        !kept.ptr && reply.len
            ? PL_NOMEM
            : pl_json_parse(&deed->api.texts.arena, kept, &pl_json_own, &deed->answer, &err);
    if (status == PL_SYNTAX)
        status = pl_fail(&err, PL_IO, "unexpected answer; is this a Parley server?");
    return status == PL_OK ? PL_EXIT_OK : pl_deed_fail(deed, status, &err);
}

const char *pl_deed_path(struct pl_deed *deed, const char *shape)
{
    return pl_api_path(&deed->api, shape, deed->words[0], NULL);
}

const char *pl_deed_query(struct pl_deed *deed, const char *path,
                          const struct pl_deed_param *params)
{
    PL_CLEANUP_BUF struct pl_buf query;
    pl_buf_init(&query, 0);
    pl_buf_adds(&query, path);
    char before = strchr(path, '?') ? '&' : '?';
    for (; params->name; params++) {
        const struct pl_option_use *use = pl_args_find(deed->args, params->id);
        if (!use)
            continue;
        pl_buf_addf(&query, "%c%s=", before, params->name);
        pl_api_escape(&query, pl_str_of(use->values[0] ? use->values[0] : "true"));
        before = '&';
    }
    return query.status == PL_OK ? pl_deed_keep(deed, pl_buf_str(&query)) : NULL;
}

const char *pl_deed_next_page(struct pl_deed *deed, const char *path)
{
    struct pl_str cursor = pl_deed_text(deed, deed->answer.root, "next_cursor");
    PL_CLEANUP_BUF struct pl_buf next;
    pl_buf_init(&next, 0);
    if (!cursor.len)
        return NULL;
    pl_buf_addf(&next, "%s%ccursor=", path, strchr(path, '?') ? '&' : '?');
    pl_api_escape(&next, cursor);
    if (next.status != PL_OK)
        deed->api.texts.is_cut = true;
    return next.status == PL_OK ? pl_deed_keep(deed, pl_buf_str(&next)) : NULL;
}

/* --- the answer ------------------------------------------------------------------------------ */

struct pl_str pl_deed_text(struct pl_deed *deed, const struct pl_json_node *object,
                           const char *name)
{
    return pl_api_text(&deed->api.texts, &deed->answer, object, name);
}

struct pl_str pl_deed_number(struct pl_deed *deed, const struct pl_json_node *object,
                             const char *name)
{
    const struct pl_json_node *value = pl_json_member(&deed->answer, object, name, PL_JSON_NUMBER);
    return value ? pl_json_span(&deed->answer, value) : PL_STR("-");
}

const char *pl_deed_keep(struct pl_deed *deed, struct pl_str text)
{
    char *copy = pl_arena_alloc(&deed->api.texts.arena, text.len + 1, 1);
    if (!copy) {
        deed->api.texts.is_cut = true;
        return NULL;
    }
    memcpy(copy, text.ptr ? text.ptr : "", text.len);
    copy[text.len] = '\0';
    return copy;
}

const struct pl_json_node *pl_deed_item(const struct pl_deed *deed, const struct pl_json_node *last)
{
    const struct pl_json_node *items =
        pl_json_member(&deed->answer, deed->answer.root, "items", PL_JSON_ARRAY);
    if (!items)
        return NULL;
    const struct pl_json_node *next = last ? pl_json_next(last) : pl_json_first(items);
    return next < pl_json_end(items) ? next : NULL;
}

enum pl_exit pl_deed_print(struct pl_deed *deed)
{
    if (deed->answer.root)
        pl_json_write_min(pl_console_out(deed->console), &deed->answer, deed->answer.root);
    else
        pl_console_puts(deed->console, "{}");
    pl_console_puts(deed->console, "\n");
    return PL_EXIT_OK;
}

enum pl_exit pl_deed_put_result(struct pl_deed *deed, struct pl_str bytes)
{
    const char *path = pl_deed_option(deed, PL_OPT_OUT);
    struct pl_error err = {0};
    if (path && strcmp(path, "-") != 0)
        return pl_file_write(path, bytes, &err) == PL_OK
                   ? PL_EXIT_OK
                   : pl_console_fail(deed->console, path, &err);
    pl_console_put(deed->console, bytes);
    if (deed->console->out_is_terminal && bytes.len && bytes.ptr[bytes.len - 1] != '\n')
        pl_console_puts(deed->console, "\n");
    return PL_EXIT_OK;
}

enum pl_exit pl_deed_print_made(struct pl_deed *deed, const char *name)
{
    if (deed->api.is_json)
        return pl_deed_print(deed);
    struct pl_str text = pl_deed_text(deed, deed->answer.root, name);
    pl_console_put_safe(deed->console,
                        text.len ? text : pl_deed_number(deed, deed->answer.root, name));
    pl_console_puts(deed->console, "\n");
    return PL_EXIT_OK;
}

enum pl_exit pl_deed_done(struct pl_deed *deed, const char *format, ...)
{
    char message[512];
    if (deed->api.is_json)
        return pl_deed_print(deed);
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    pl_console_say(deed->console, "%s", message);
    return PL_EXIT_OK;
}

void pl_deed_begin_table(struct pl_deed *deed, struct pl_columns *columns)
{
    pl_column_choice_begin(&deed->chosen, &deed->api.texts, deed->console, deed->columns, columns);
}

void pl_deed_page(struct pl_deed *deed)
{
    deed->console->is_paged = !pl_args_has(deed->args, PL_OPT_NO_PAGER);
}

enum pl_exit pl_deed_print_table(struct pl_deed *deed, struct pl_columns *columns, const char *how)
{
    const struct pl_json_node *items =
        pl_json_member(&deed->answer, deed->answer.root, "items", PL_JSON_ARRAY);
    int64_t total = pl_api_int(&deed->answer, deed->answer.root, "total", 0);
    pl_deed_page(deed);
    enum pl_status status = pl_columns_print(columns, deed->console);
    pl_columns_deinit(columns);
    if (status != PL_OK)
        return pl_deed_stop(deed, status);
    if (how && items && total > pl_json_count(items))
        pl_console_hint(deed->console, "%u of %lld; %s", pl_json_count(items), (long long)total,
                        how);
    return PL_EXIT_OK;
}
