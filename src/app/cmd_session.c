/* parley session: conversations kept by a server. One function per verb; all of them over the same
 * REST interface that everybody else uses. */
#include "app/api.h"
#include "app/columns.h"
#include "app/follow.h"
#include "app/input.h"
#include "app/turn_show.h"

#include "base/utf8.h"
#include "base/uuid.h"
#include "io/clock.h"
#include "io/entropy.h"
#include "json/number.h"
#include "json/write.h"

#include <stdio.h>

enum { MAX_LIMIT = 100, MAX_MESSAGE = 4 << 20, MAX_IMPORT = 32 << 20, INTENT_WIDTH = 60 };

struct job {
    struct pl_api api; /* owned */
    struct pl_console *console;
    const struct pl_args *args;
    const char *words[4];   /* operands behind the verb; NULL behind the last */
    struct pl_buf body;     /* owned; of the request */
    struct pl_json_out out; /* into it */
    struct pl_json_doc answer;
};

static const char *option(const struct job *job, enum pl_option_id id)
{
    return pl_api_option(job->args, id);
}

static enum pl_exit fail(struct job *job, enum pl_status status, struct pl_error *err)
{
    return pl_api_fail(&job->api, status, err);
}

/* A whole number from 1 to 100, for the API to check nothing twice. */
static enum pl_exit check_count(struct job *job, enum pl_option_id id)
{
    const struct pl_option_use *use = pl_args_find(job->args, id);
    int64_t n = 0;
    if (!use || (pl_json_number_int64(pl_str_of(use->values[0]), &n) && n >= 1 && n <= MAX_LIMIT))
        return PL_EXIT_OK;
    return pl_usage_fail(job->console, "session", "--%s is a whole number from 1 to %d, not \"%s\"",
                         use->option->name, MAX_LIMIT, use->values[0]);
}

/* Sends what was written to the body (nothing: no body) and keeps the answer. */
static enum pl_exit ask(struct job *job, const char *method, const char *path)
{
    struct pl_error err = {0};
    if (job->body.status != PL_OK)
        return fail(job, job->body.status, &err);
    return pl_api_ask(&job->api, method, path, pl_buf_str(&job->body), &job->answer);
}

/* The answer as it came, for machines. */
static enum pl_exit print_answer(struct job *job)
{
    if (job->answer.root)
        pl_json_write_min(pl_console_out(job->console), &job->answer, job->answer.root);
    else
        pl_console_puts(job->console, "{}");
    pl_console_puts(job->console, "\n");
    return PL_EXIT_OK;
}

static struct pl_str text_of(struct job *job, const struct pl_json_node *object, const char *name)
{
    return pl_api_text(&job->api.texts, &job->answer, object, name);
}

/* A session that was made: its id, so that it can be used in a script. */
static enum pl_exit print_made(struct job *job)
{
    if (job->api.is_json)
        return print_answer(job);
    pl_console_put_safe(job->console, text_of(job, job->answer.root, "id"));
    pl_console_puts(job->console, "\n");
    return PL_EXIT_OK;
}

/* --- looking --------------------------------------------------------------------------------- */

static enum pl_exit print_list(struct job *job)
{
    static const char *const names[] = {"ID", "STATUS", "CHANGED", "MODEL", "INTENT"};
    const struct pl_json_node *items =
        pl_api_member(&job->answer, job->answer.root, "items", PL_JSON_ARRAY);
    struct pl_error err = {0};
    struct pl_columns columns;
    if (!items || !pl_json_count(items)) {
        pl_console_say(job->console, "no session found; \"parley session new\" makes one");
        return PL_EXIT_OK;
    }
    pl_columns_init(&columns, names, sizeof names / sizeof *names);
    for (const struct pl_json_node *one = pl_json_first(items); one < pl_json_end(items);
         one = pl_json_next(one)) {
        struct pl_str model = text_of(job, one, "model");
        pl_columns_add(&columns, text_of(job, one, "id"));
        pl_columns_add(&columns, text_of(job, one, "status"));
        pl_columns_add(&columns, pl_time_of(&job->api.texts, text_of(job, one, "updated_at")));
        pl_columns_add(&columns, model.len ? model : PL_STR("-"));
        pl_columns_add(&columns,
                       pl_line_of(&job->api.texts, text_of(job, one, "intent"), INTENT_WIDTH));
    }
    enum pl_status status = pl_columns_print(&columns, job->console);
    pl_columns_deinit(&columns);
    int64_t total = pl_api_int(&job->answer, job->answer.root, "total", 0);
    if (total > pl_json_count(items))
        pl_console_hint(job->console, "%u of %lld; --limit shows more, --query TEXT fewer.",
                        pl_json_count(items), (long long)total);
    return status == PL_OK ? PL_EXIT_OK : fail(job, status, &err);
}

static enum pl_exit run_list(struct job *job)
{
    static const struct {
        enum pl_option_id id;
        const char *name;
    } params[] = {{PL_OPT_LIMIT, "limit"}, {PL_OPT_STATUS, "status"}, {PL_OPT_QUERY, "q"}};
    PL_CLEANUP_BUF struct pl_buf path;
    pl_buf_init(&path, 0);
    pl_buf_adds(&path, "/api/sessions");
    char before = '?';
    for (size_t i = 0; i < sizeof params / sizeof *params; i++) {
        const char *value = option(job, params[i].id);
        if (!value)
            continue;
        pl_buf_addf(&path, "%c%s=", before, params[i].name);
        pl_api_escape(&path, pl_str_of(value));
        before = '&';
    }
    pl_buf_addc(&path, '\0');
    enum pl_exit code = ask(job, "GET", path.status == PL_OK ? path.ptr : NULL);
    if (code != PL_EXIT_OK)
        return code;
    return job->api.is_json ? print_answer(job) : print_list(job);
}

static enum pl_exit show_both(struct job *job, const struct pl_json_doc *session)
{
    struct pl_texts *texts = &job->api.texts;
    struct pl_buf *out = pl_console_out(job->console);
    if (job->api.is_json) {
        pl_buf_adds(out, "{\"session\":");
        pl_json_write_min(out, session, session->root);
        pl_buf_adds(out, ",\"turns\":");
        pl_json_write_min(out, &job->answer, job->answer.root);
        pl_buf_adds(out, "}\n");
        return PL_EXIT_OK;
    }
    pl_show_session(job->console, texts, session, session->root);
    for (const struct pl_json_node *turn = pl_json_first(job->answer.root);
         turn < pl_json_end(job->answer.root); turn = pl_json_next(turn))
        pl_show_turn(job->console, texts, &job->answer, turn);
    return PL_EXIT_OK;
}

static enum pl_exit run_show(struct job *job)
{
    const char *n_turns = option(job, PL_OPT_TURNS);
    struct pl_error err = {0};
    enum pl_exit code =
        ask(job, "GET", pl_api_path(&job->api, "/api/sessions/%", job->words[0], NULL));
    struct pl_json_doc session = job->answer;
    if (code == PL_EXIT_OK)
        code = ask(job, "GET",
                   pl_api_path(&job->api, "/api/sessions/%/messages?limit=%", job->words[0],
                               n_turns ? n_turns : "10", NULL));
    if (code != PL_EXIT_OK)
        return code;
    if (!session.root || !job->answer.root || pl_json_kind(job->answer.root) != PL_JSON_ARRAY)
        return fail(job, pl_fail(&err, PL_IO, "the answer is not what a Parley server says"), &err);
    return show_both(job, &session);
}

/* --- making and ending ----------------------------------------------------------------------- */

static enum pl_exit run_new(struct job *job)
{
    pl_json_out_open(&job->out, '{');
    pl_api_out_option(&job->out, job->args, PL_OPT_INTENT, "intent");
    pl_api_out_option(&job->out, job->args, PL_OPT_MODEL, "model");
    pl_json_out_close(&job->out, '}');
    enum pl_exit code = ask(job, "POST", "/api/sessions");
    return code == PL_EXIT_OK ? print_made(job) : code;
}

static enum pl_exit run_fork(struct job *job)
{
    pl_json_out_open(&job->out, '{');
    pl_api_out_option(&job->out, job->args, PL_OPT_TURN, "turn_id");
    pl_api_out_option(&job->out, job->args, PL_OPT_INTENT, "intent");
    pl_json_out_close(&job->out, '}');
    enum pl_exit code =
        ask(job, "POST", pl_api_path(&job->api, "/api/sessions/%/fork", job->words[0], NULL));
    return code == PL_EXIT_OK ? print_made(job) : code;
}

static enum pl_exit run_stop(struct job *job)
{
    enum pl_exit code =
        ask(job, "POST", pl_api_path(&job->api, "/api/sessions/%/stop", job->words[0], NULL));
    if (code != PL_EXIT_OK || job->api.is_json)
        return code == PL_EXIT_OK ? print_answer(job) : code;
    bool was_running = pl_api_member(&job->answer, job->answer.root, "stopped", PL_JSON_TRUE);
    pl_console_say(job->console, was_running ? "stopped" : "nothing was running");
    return PL_EXIT_OK;
}

static enum pl_exit run_delete(struct job *job)
{
    enum pl_exit code =
        ask(job, "DELETE", pl_api_path(&job->api, "/api/sessions/%", job->words[0], NULL));
    if (code != PL_EXIT_OK || job->api.is_json)
        return code == PL_EXIT_OK ? print_answer(job) : code;
    pl_console_say(job->console, "deleted %s with all its turns", job->words[0]);
    return PL_EXIT_OK;
}

static enum pl_exit run_share(struct job *job)
{
    enum pl_exit code =
        ask(job, "POST", pl_api_path(&job->api, "/api/sessions/%/share", job->words[0], NULL));
    if (code != PL_EXIT_OK || job->api.is_json)
        return code == PL_EXIT_OK ? print_answer(job) : code;
    if (!job->api.unix_path)
        pl_console_puts(job->console, job->api.url);
    pl_console_put_safe(job->console, text_of(job, job->answer.root, "path"));
    pl_console_puts(job->console, "\n");
    if (job->api.unix_path)
        pl_console_hint(job->console, "The link is this path behind the address of the server.");
    return PL_EXIT_OK;
}

/* --- talking --------------------------------------------------------------------------------- */

/* MESSAGE, or standard input for "-". */
static enum pl_exit out_message(struct job *job, const char *word)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    struct pl_error err = {0};
    struct pl_str text = pl_str_of(word);
    if (strcmp(word, "-") == 0) {
        if (pl_file_read(word, MAX_MESSAGE, NULL, &file, &err) != PL_OK)
            return pl_console_fail(job->console, pl_input_name(word), &err);
        text = file.bytes;
        while (text.len && text.ptr[text.len - 1] == '\n')
            text.len--;
    }
    if (!pl_utf8_is_valid(text))
        return fail(job, pl_fail(&err, PL_UNREADABLE, "the message is not UTF-8"), &err);
    pl_json_out_key(&job->out, "message");
    pl_json_out_text(&job->out, text.len ? text : PL_STR(""));
    return PL_EXIT_OK;
}

/* An id of our own, to know our chat among others. */
static bool make_message_id(char ret_id[PL_UUID_SIZE + 1])
{
    uint64_t random[2];
    if (!pl_entropy_fill(random, sizeof random))
        return false;
    pl_uuid7_write(ret_id, pl_clock_unix_ms(), random);
    ret_id[PL_UUID_SIZE] = '\0';
    return true;
}

static enum pl_exit run_chat(struct job *job)
{
    char id[PL_UUID_SIZE + 1], position[PL_HTTP_CALL_HEADER_SIZE];
    struct pl_error err = {0};
    if (!make_message_id(id))
        return fail(job, pl_fail(&err, PL_IO, "the system gives no random bytes"), &err);
    pl_json_out_open(&job->out, '{');
    enum pl_exit code = out_message(job, job->words[1]);
    pl_api_out_option(&job->out, job->args, PL_OPT_MODEL, "model");
    pl_json_out_key(&job->out, "client_message_id");
    pl_json_out_text(&job->out, pl_str_of(id));
    pl_json_out_close(&job->out, '}');
    bool waits = !pl_args_has(job->args, PL_OPT_NO_WAIT);
    if (code == PL_EXIT_OK && waits)
        code = pl_follow_position(&job->api, job->words[0], position);
    if (code == PL_EXIT_OK)
        code =
            ask(job, "POST", pl_api_path(&job->api, "/api/sessions/%/chat", job->words[0], NULL));
    if (code != PL_EXIT_OK)
        return code;
    if (pl_api_member(&job->answer, job->answer.root, "queued", PL_JSON_TRUE))
        pl_console_say(job->console, "the session is busy; the message waits for its turn");
    if (waits)
        return pl_follow(&job->api, job->words[0], position, id);
    return job->api.is_json ? print_answer(job) : PL_EXIT_OK;
}

static enum pl_exit run_answer(struct job *job)
{
    char position[PL_HTTP_CALL_HEADER_SIZE];
    struct pl_error err = {0};
    struct pl_json_doc answer;
    if (pl_json_parse(&job->api.texts.arena, pl_str_of(job->words[2]), NULL, &answer, &err) !=
        PL_OK)
        return pl_usage_fail(job->console, "session",
                             "the answer must be JSON (a text needs its quotes: '\"yes\"'): %s",
                             err.message);
    bool waits = !pl_args_has(job->args, PL_OPT_NO_WAIT);
    enum pl_exit code = waits ? pl_follow_position(&job->api, job->words[0], position) : PL_EXIT_OK;
    pl_json_out_open(&job->out, '{');
    pl_json_out_key(&job->out, "answer");
    pl_json_out_raw(&job->out, pl_json_span(&answer, answer.root));
    pl_json_out_close(&job->out, '}');
    if (code == PL_EXIT_OK)
        code = ask(job, "POST",
                   pl_api_path(&job->api, "/api/sessions/%/questions/%/answer", job->words[0],
                               job->words[1], NULL));
    if (code != PL_EXIT_OK)
        return code;
    bool is_repeated = pl_api_member(&job->answer, job->answer.root, "repeated", PL_JSON_TRUE);
    if (is_repeated)
        pl_console_say(job->console, "it was answered so before");
    else if (waits)
        return pl_follow(&job->api, job->words[0], position, NULL);
    return job->api.is_json ? print_answer(job) : PL_EXIT_OK;
}

/* --- leaving and coming ---------------------------------------------------------------------- */

static enum pl_exit run_export(struct job *job)
{
    PL_CLEANUP_BUF struct pl_buf reply;
    pl_buf_init(&reply, 0);
    const char *format = option(job, PL_OPT_FORMAT), *path = option(job, PL_OPT_OUT);
    struct pl_http_call call = {.method = "GET"};
    struct pl_error err = {0};
    enum pl_exit code = pl_api_call(&job->api, &call,
                                    pl_api_path(&job->api, "/api/sessions/%/export?format=%",
                                                job->words[0], format ? format : "turns", NULL),
                                    &reply);
    if (code != PL_EXIT_OK)
        return code;
    if (path && pl_file_write(path, pl_buf_str(&reply), &err) != PL_OK)
        return pl_console_fail(job->console, path, &err);
    if (path)
        return PL_EXIT_OK;
    pl_console_put(job->console, pl_buf_str(&reply));
    if (job->console->out_is_terminal && reply.len && reply.ptr[reply.len - 1] != '\n')
        pl_console_puts(job->console, "\n");
    return PL_EXIT_OK;
}

/* JSON goes as it is, byte for byte; any other document as the text it is. */
static enum pl_exit run_import(struct job *job)
{
    PL_CLEANUP_FILE struct pl_file file = {0};
    PL_CLEANUP_ARENA struct pl_arena arena;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    struct pl_error err = {0};
    if (pl_file_read(job->words[0], MAX_IMPORT, NULL, &file, &err) != PL_OK)
        return pl_console_fail(job->console, pl_input_name(job->words[0]), &err);
    if (!pl_utf8_is_valid(file.bytes)) {
        (void)pl_fail(&err, PL_UNREADABLE, "this is not UTF-8, so it is no conversation");
        return pl_console_fail(job->console, pl_input_name(job->words[0]), &err);
    }
    bool is_json = pl_json_parse(&arena, file.bytes, NULL, &doc, NULL) == PL_OK;
    pl_json_out_open(&job->out, '{');
    pl_api_out_option(&job->out, job->args, PL_OPT_FROM, "from");
    pl_api_out_option(&job->out, job->args, PL_OPT_INTENT, "intent");
    pl_api_out_option(&job->out, job->args, PL_OPT_MODEL, "model");
    pl_json_out_key(&job->out, "document");
    if (is_json)
        pl_json_out_raw(&job->out, pl_json_span(&doc, doc.root));
    else
        pl_json_out_text(&job->out, file.bytes.len ? file.bytes : PL_STR(""));
    pl_json_out_close(&job->out, '}');
    enum pl_exit code = ask(job, "POST", "/api/sessions/import");
    return code == PL_EXIT_OK ? print_made(job) : code;
}

/* --- the verbs ------------------------------------------------------------------------------- */

static const struct verb {
    const char *name;
    size_t n_words;
    const char *words; /* what follows it */
    enum pl_exit (*run)(struct job *job);
} verbs[] = {
    {"list", 0, "", run_list},          {"new", 0, "", run_new},
    {"show", 1, " ID", run_show},       {"chat", 2, " ID MESSAGE", run_chat},
    {"stop", 1, " ID", run_stop},       {"answer", 3, " ID TOOL_CALL_ID JSON", run_answer},
    {"delete", 1, " ID", run_delete},   {"export", 1, " ID", run_export},
    {"import", 1, " FILE", run_import}, {"fork", 1, " ID", run_fork},
    {"share", 1, " ID", run_share},
};

static const struct verb *find_verb(const char *name)
{
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verbs[i].name, name) == 0)
            return &verbs[i];
    return NULL;
}

enum pl_exit pl_cmd_session(struct pl_console *console, const struct pl_args *args)
{
    const char *name = args->operands.ptr[0];
    const struct verb *verb = find_verb(name);
    if (!verb)
        return pl_usage_fail(console, "session",
                             "\"%s\" is not what can be done with sessions: list, new, show, chat, "
                             "stop, answer, delete, export, import, fork or share",
                             name);
    if (args->operands.len != verb->n_words + 1)
        return pl_usage_fail(console, "session", "it is: parley session %s%s", verb->name,
                             verb->words);
    struct job job = {.console = console, .args = args};
    for (size_t i = 0; i < verb->n_words; i++)
        job.words[i] = args->operands.ptr[i + 1];
    pl_buf_init(&job.body, 0);
    job.out = pl_json_out(&job.body);
    enum pl_exit code = pl_api_open(&job.api, console, args, "session");
    if (code == PL_EXIT_OK)
        code = check_count(&job, PL_OPT_LIMIT);
    if (code == PL_EXIT_OK)
        code = check_count(&job, PL_OPT_TURNS);
    if (code == PL_EXIT_OK)
        code = verb->run(&job);
    if (code == PL_EXIT_OK && job.api.texts.is_cut)
        code = fail(&job, PL_NOMEM, &(struct pl_error){0});
    pl_api_close(&job.api);
    pl_buf_deinit(&job.body);
    return code;
}
