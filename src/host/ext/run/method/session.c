/* The methods session, ui and events: what an extension sees of a session and does to it. Each
 * is sent to the session as a command of the instance's user: other users' sessions do not exist
 * for it. */
#include "ext/run/method/method.h"

#include "base/mem.h"
#include "json/text.h"
#include "live/hub.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* --- commands to the session ------------------------------------------------------------------ */

/* It outlives the call: the session has it until it answers. */
struct asking {
    struct pl_session_command command;
    struct pl_ext_hostcall *call; /* NULL: the call is over */
    void (*done)(struct pl_ext_hostcall *call, struct pl_session_command *command);
    struct pl_arena arena;
};

static void on_done(struct pl_session_command *command)
{
    struct asking *asking = PL_CONTAINER_OF(command, struct asking, command);
    struct pl_ext_hostcall *call = asking->call;
    if (call) {
        call->asking = NULL;
        if (command->problem == PL_PROBLEM_NOT_FOUND)
            pl_hostcall_fail(call, "invalid_request", "not_found", "there is no such session");
        else if (command->problem != PL_PROBLEM_COUNT)
            pl_hostcall_fail(
                call, command->problem == PL_PROBLEM_OVERLOADED ? "io" : "invalid_request", NULL,
                "%s", command->err.message[0] ? command->err.message : "the session refused it");
        else
            asking->done(call, command);
    }
    pl_session_command_deinit(command);
    pl_arena_deinit(&asking->arena);
    pl_mem_free(asking);
}

static struct asking *begin(struct pl_ext_hostcall *call, enum pl_command_kind kind,
                            void (*done)(struct pl_ext_hostcall *, struct pl_session_command *))
{
    struct asking *asking = pl_mem_alloc(1, sizeof *asking);
    if (!asking) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return NULL;
    }
    *asking = (struct asking){.call = call, .done = done};
    pl_arena_init(&asking->arena, 0);
    struct pl_str user_id = pl_arena_dup(&asking->arena, call->user_id);
    struct pl_str session_id = pl_arena_dup(&asking->arena, call->session_id);
    if (!user_id.ptr || !session_id.ptr) {
        pl_arena_deinit(&asking->arena);
        pl_mem_free(asking);
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return NULL;
    }
    pl_session_command_init(&asking->command, kind, call->exts->shard, user_id, session_id);
    asking->command.done = on_done;
    return asking;
}

static void send(struct asking *asking)
{
    asking->call->asking = asking;
    pl_session_command_send(&asking->command);
}

void pl_ext_session_cancel(struct pl_ext_hostcall *call)
{
    struct asking *asking = call->asking;
    if (asking)
        asking->call = NULL;
    call->asking = NULL;
}

static void done_nothing(struct pl_ext_hostcall *call, struct pl_session_command *command)
{
    (void)command;
    pl_buf_adds(&call->output, "{}");
    pl_hostcall_succeed(call);
}

static bool needs_text(struct pl_ext_hostcall *call, const char *key, struct pl_str *ret_text)
{
    if (!pl_hostcall_text(call, call->params, key, ret_text))
        return false;
    if (ret_text->len)
        return true;
    pl_hostcall_fail(call, "invalid_request", NULL, "%s needs %s, a text that is not empty",
                     call->method->name, key);
    return false;
}

/* --- session: looking ------------------------------------------------------------------------- */

static const struct pl_json_node *look_at(struct pl_ext_hostcall *call,
                                          struct pl_session_command *command,
                                          struct pl_json_doc *ret_doc)
{
    struct pl_str text = pl_arena_dup(&call->arena, pl_buf_str(&command->reply));
    if (!text.ptr || pl_json_parse(&call->arena, text, &pl_json_own, ret_doc, NULL) != PL_OK) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return NULL;
    }
    return pl_json_get(ret_doc, ret_doc->root, PL_STR("session"));
}

static void done_state(struct pl_ext_hostcall *call, struct pl_session_command *command)
{
    struct pl_json_doc doc;
    const struct pl_json_node *session = look_at(call, command, &doc);
    if (!session)
        return;
    const struct pl_json_node *questions = pl_json_get(&doc, doc.root, PL_STR("questions"));
    const struct pl_json_node *queue = pl_json_get(&doc, doc.root, PL_STR("queue"));
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "session");
    pl_json_out_raw(&out, pl_json_span(&doc, session));
    pl_json_out_key(&out, "n_questions");
    pl_json_out_int(&out, questions ? pl_json_count(questions) : 0);
    pl_json_out_key(&out, "n_queued");
    pl_json_out_int(&out, queue ? pl_json_count(queue) : 0);
    pl_json_out_close(&out, '}');
    pl_hostcall_succeed(call);
}

static void done_model(struct pl_ext_hostcall *call, struct pl_session_command *command)
{
    struct pl_json_doc doc;
    const struct pl_json_node *session = look_at(call, command, &doc);
    const struct pl_json_node *model = session ? pl_json_get(&doc, session, PL_STR("model")) : NULL;
    if (!session)
        return;
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "model");
    pl_json_out_raw(&out, model ? pl_json_span(&doc, model) : PL_STR("null"));
    pl_json_out_close(&out, '}');
    pl_hostcall_succeed(call);
}

static void op_look(struct pl_ext_hostcall *call,
                    void (*done)(struct pl_ext_hostcall *, struct pl_session_command *))
{
    struct asking *asking = begin(call, PL_COMMAND_LOOK, done);
    if (asking)
        send(asking);
}

static void op_get_state(struct pl_ext_hostcall *call)
{
    op_look(call, done_state);
}

static void op_get_model(struct pl_ext_hostcall *call)
{
    op_look(call, done_model);
}

/* --- session: its turns ----------------------------------------------------------------------- */

struct paging {
    int64_t limit, before;
    bool only_usage;
};

static void put_turn(struct pl_json_out *out, const struct pl_turn_row *row, struct pl_buf *text)
{
    pl_buf_clear(text);
    if (pl_turn_row_write(row, text) == PL_OK)
        pl_json_out_raw(out, pl_buf_str(text));
}

static void write_usage(struct pl_ext_hostcall *call, const struct pl_turn_page *page,
                        struct pl_json_out *out)
{
    PL_CLEANUP_BUF struct pl_buf text;
    struct pl_json_doc doc;
    pl_buf_init(&text, 0);
    for (size_t i = page->n_items; i > 0; i--) {
        pl_buf_clear(&text);
        if (pl_turn_row_write(&page->items[i - 1], &text) != PL_OK)
            continue;
        struct pl_str copy = pl_arena_dup(&call->arena, pl_buf_str(&text));
        if (!copy.ptr || pl_json_parse(&call->arena, copy, &pl_json_own, &doc, NULL) != PL_OK)
            continue;
        const struct pl_json_node *usage = pl_json_member(&doc, doc.root, "usage", PL_JSON_OBJECT);
        const struct pl_json_node *model = pl_json_member(&doc, doc.root, "model", PL_JSON_STRING);
        if (!usage)
            continue;
        pl_json_out_key(out, "model");
        pl_json_out_raw(out, model ? pl_json_span(&doc, model) : PL_STR("null"));
        pl_json_out_key(out, "usage");
        pl_json_out_raw(out, pl_json_span(&doc, usage));
        return;
    }
    pl_json_out_key(out, "usage");
    pl_json_out_null(out);
}

/* Reads the session first to check its owner: another user's session is not found. */
static void read_turns(struct pl_job *job)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(job, struct pl_ext_hostcall, job);
    const struct paging *paging = call->own;
    struct pl_store *store = call->exts->shard->server->store;
    struct pl_session_record record;
    struct pl_turn_page page = {0};
    struct pl_error err = {0};
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    enum pl_status status =
        pl_store_session_get(store, &call->arena, call->user_id, call->session_id, &record, &err);
    struct pl_turn_query query = {
        .session_id = call->session_id,
        .after = -1,
        .before = paging->before,
        .limit = (size_t)paging->limit,
        .changed_after = -1,
        .is_newest_first = true,
        .max_bytes = 3 << 20,
    };
    if (status == PL_OK)
        status = pl_store_turn_list(store, &call->arena, &query, &page, &err);
    if (status != PL_OK) {
        bool is_missing = status == PL_NOT_FOUND;
        pl_hostcall_set_error(call, is_missing ? "invalid_request" : "io",
                              is_missing ? "not_found" : NULL, "%s",
                              is_missing ? "there is no such session" : err.message);
        return;
    }
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    if (paging->only_usage) {
        write_usage(call, &page, &out);
    } else {
        pl_json_out_key(&out, "messages");
        pl_json_out_open(&out, '[');
        for (size_t i = 0; i < page.n_items; i++)
            put_turn(&out, &page.items[i], &text);
        pl_json_out_close(&out, ']');
        pl_json_out_key(&out, "has_more");
        pl_json_out_bool(&out, page.has_more);
    }
    pl_json_out_close(&out, '}');
}

static void page(struct pl_ext_hostcall *call, bool only_usage)
{
    struct paging *paging = pl_arena_zalloc(&call->arena, 1, sizeof *paging);
    if (!paging) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    paging->only_usage = only_usage;
    call->own = paging;
    if (!pl_hostcall_int(call, call->params, "limit", 1, 100, 50, &paging->limit) ||
        !pl_hostcall_int(call, call->params, "before", 0, INT64_MAX, INT64_MAX, &paging->before))
        return;
    pl_hostcall_work(call, read_turns, NULL);
}

static void op_get_messages(struct pl_ext_hostcall *call)
{
    page(call, false);
}

static void op_get_context(struct pl_ext_hostcall *call)
{
    page(call, true);
}

/* --- session: entries of the extension's own -------------------------------------------------- */

/* They are lines of a file in its state: sessions/ID.jsonl. */
static struct pl_str entries_path(struct pl_ext_hostcall *call)
{
    char path[128];
    int n = snprintf(path, sizeof path, "sessions/%.*s.jsonl", PL_STR_ARG(call->session_id));
    return n > 0 && n < (int)sizeof path
               ? pl_arena_dup(&call->arena, (struct pl_str){path, (size_t)n})
               : (struct pl_str){0};
}

struct entry {
    struct pl_ext_root root;
    struct pl_str path, line; /* line: to be appended; empty: read all */
};

static bool owns_session(struct pl_ext_hostcall *call)
{
    struct pl_session_record record;
    struct pl_error err = {0};
    enum pl_status status = pl_store_session_get(call->exts->shard->server->store, &call->arena,
                                                 call->user_id, call->session_id, &record, &err);
    if (status != PL_OK)
        pl_hostcall_set_error(call, status == PL_NOT_FOUND ? "invalid_request" : "io",
                              status == PL_NOT_FOUND ? "not_found" : NULL, "%s",
                              status == PL_NOT_FOUND ? "there is no such session" : err.message);
    return status == PL_OK;
}

static void run_entry(struct pl_job *job)
{
    struct pl_ext_hostcall *call = PL_CONTAINER_OF(job, struct pl_ext_hostcall, job);
    struct entry *entry = call->own;
    PL_CLEANUP_BUF struct pl_buf text;
    enum { MOST = 3 << 20 };
    pl_buf_init(&text, 0);
    int root_fd = owns_session(call) ? pl_ext_root_open(call, &entry->root) : -1;
    if (root_fd < 0)
        return;
    if (entry->line.len) {
        if (pl_ext_file_write(call, &entry->root, root_fd, entry->path, PL_EXT_WRITE_APPEND, true,
                              entry->line))
            pl_buf_adds(&call->output, "{}");
        close(root_fd);
        return;
    }
    int fd = pl_ext_file_open(call, &entry->root, root_fd, entry->path, O_RDONLY);
    if (fd < 0 && call->error_reason && strcmp(call->error_reason, "not_found") == 0)
        call->error = call->error_reason = NULL;
    if (fd >= 0) {
        (void)pl_ext_file_read(call, fd, 0, MOST, &text);
        close(fd);
    }
    close(root_fd);
    if (call->error)
        return;
    pl_buf_adds(&call->output, "{\"entries\":[");
    for (size_t i = 0; i < text.len; i++) {
        bool is_end = text.ptr[i] == '\n';
        if (!is_end)
            pl_buf_addc(&call->output, text.ptr[i]);
        else if (i + 1 < text.len)
            pl_buf_addc(&call->output, ',');
    }
    pl_buf_adds(&call->output, "]}");
}

static void entry(struct pl_ext_hostcall *call, bool appends)
{
    struct entry *entry = pl_arena_zalloc(&call->arena, 1, sizeof *entry);
    PL_CLEANUP_BUF struct pl_buf line;
    pl_buf_init(&line, 0);
    if (!entry || !(entry->path = entries_path(call)).ptr) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    if (!pl_ext_root_find(call, true, &entry->root))
        return;
    if (appends) {
        struct pl_str type;
        const struct pl_json_node *data = pl_json_get(&call->doc, call->params, PL_STR("data"));
        if (!needs_text(call, "type", &type))
            return;
        struct pl_json_out out = pl_json_out(&line);
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "type");
        pl_json_out_text(&out, type);
        pl_json_out_key(&out, "data");
        if (data)
            pl_json_write_min(&line, &call->doc, data);
        else
            pl_buf_adds(&line, "null");
        pl_buf_addf(&line, ",\"at_ms\":%lld}\n", (long long)pl_loop_unix_ms(call->exts->loop));
        entry->line = pl_arena_dup(&call->arena, pl_buf_str(&line));
        if (line.status != PL_OK || !entry->line.ptr) {
            pl_hostcall_fail(call, "internal", NULL, "out of memory");
            return;
        }
    }
    call->own = entry;
    pl_hostcall_work(call, run_entry, NULL);
}

static void op_append_entry(struct pl_ext_hostcall *call)
{
    entry(call, true);
}

static void op_get_entries(struct pl_ext_hostcall *call)
{
    entry(call, false);
}

/* --- session: changing ------------------------------------------------------------------------ */

static void op_set_name(struct pl_ext_hostcall *call)
{
    struct pl_str name;
    struct asking *asking = NULL;
    if (needs_text(call, "name", &name))
        asking = begin(call, PL_COMMAND_EVENT, done_nothing);
    if (!asking)
        return;
    asking->command.event.kind = PL_SE_SETTINGS;
    asking->command.event.settings.has_intent = true;
    asking->command.event.settings.intent =
        pl_arena_dup(&asking->arena, pl_str_slice(name, 0, 4000));
    send(asking);
}

static void op_set_model(struct pl_ext_hostcall *call)
{
    struct pl_str model;
    struct asking *asking = NULL;
    if (!needs_text(call, "model", &model))
        return;
    if (!call->exts->host->above->is_model(call->exts->shard, model)) {
        pl_hostcall_fail(call, "invalid_request", "not_found", "there is no such model");
        return;
    }
    asking = begin(call, PL_COMMAND_EVENT, done_nothing);
    if (!asking)
        return;
    asking->command.event.kind = PL_SE_SETTINGS;
    asking->command.event.settings.has_model = true;
    asking->command.event.settings.model = pl_arena_dup(&asking->arena, model);
    send(asking);
}

/* --- ui --------------------------------------------------------------------------------------- */

/* The text that a person chose or wrote, in any form of an answer: a text, {value}, {answer},
 * {answers: {…: text}}. */
static struct pl_str value_of(struct pl_ext_hostcall *call, struct pl_str answer)
{
    static const char *const keys[] = {"value", "answer", "answers"};
    struct pl_json_doc doc;
    if (pl_json_parse(&call->arena, answer, &pl_json_own, &doc, NULL) != PL_OK)
        return PL_STR("null");
    const struct pl_json_node *n = doc.root;
    for (int depth = 0; depth < 3; depth++) {
        const struct pl_json_node *inner = NULL;
        if (pl_json_is(n, PL_JSON_ARRAY) && pl_json_count(n) == 1) {
            n = pl_json_first(n);
            continue;
        }
        if (!pl_json_is(n, PL_JSON_OBJECT))
            break;
        for (size_t i = 0; i < sizeof keys / sizeof *keys && !inner; i++)
            inner = pl_json_get(&doc, n, pl_str_of(keys[i]));
        if (!inner && pl_json_count(n) == 1)
            inner = pl_json_first(n) + 1;
        if (!inner)
            break;
        n = inner;
    }
    return pl_json_span(&doc, n);
}

/* `value` is JSON; empty: nobody answered. */
static void give_value(struct pl_ext_hostcall *call, struct pl_str value)
{
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "value");
    pl_json_out_raw(&out, value.len ? value : PL_STR("null"));
    if (!value.len) {
        pl_json_out_key(&out, "dismissed");
        pl_json_out_bool(&out, true);
    }
    pl_json_out_close(&out, '}');
    pl_hostcall_succeed(call);
}

static void on_answered(struct pl_ext_hostcall *call, struct pl_str answer)
{
    give_value(call, answer.len ? value_of(call, answer) : answer);
}

/* The answer to a yes-no question: anything except yes is no. */
static void on_confirmed(struct pl_ext_hostcall *call, struct pl_str answer)
{
    struct pl_str value = answer.len ? value_of(call, answer) : answer;
    bool is_yes = pl_str_eq(value, PL_STR("true")) || pl_str_eq(value, PL_STR("\"yes\""));
    give_value(call, !value.len ? value : is_yes ? PL_STR("true") : PL_STR("false"));
}

static bool put_options(struct pl_ext_hostcall *call, struct pl_json_out *out, bool is_confirm)
{
    const struct pl_json_node *list = pl_json_get(&call->doc, call->params, PL_STR("options"));
    if (is_confirm) {
        pl_json_out_raw(out, PL_STR("[{\"label\":\"yes\"},{\"label\":\"no\"}]"));
        return true;
    }
    if (!list || !pl_json_is(list, PL_JSON_ARRAY) || !pl_json_count(list)) {
        pl_hostcall_fail(call, "invalid_request", NULL, "select needs options, an array of texts");
        return false;
    }
    pl_json_out_open(out, '[');
    for (const struct pl_json_node *n = pl_json_first(list); n < pl_json_end(list);
         n = pl_json_next(n)) {
        if (!pl_json_is(n, PL_JSON_STRING) || n->len <= 2) {
            pl_hostcall_fail(call, "invalid_request", NULL, "an option is a text");
            return false;
        }
        pl_json_out_open(out, '{');
        pl_json_out_key(out, "label");
        pl_json_out_raw(out, pl_json_span(&call->doc, n));
        pl_json_out_close(out, '}');
    }
    pl_json_out_close(out, ']');
    return true;
}

static void ask(struct pl_ext_hostcall *call, const char *detail_key, bool has_options,
                bool is_confirm)
{
    struct pl_str title, detail;
    PL_CLEANUP_BUF struct pl_buf questions, words;
    pl_buf_init(&questions, 0);
    pl_buf_init(&words, 0);
    if (!needs_text(call, "title", &title) ||
        (detail_key && !pl_hostcall_text(call, call->params, detail_key, &detail)))
        return;
    if (!call->has_person) {
        pl_hostcall_deny(call, PL_EXT_REASON_PROMPT_NO_PERSON);
        return;
    }
    pl_buf_add(&words, pl_str_slice(title, 0, 2000));
    if (is_confirm && detail.len) {
        pl_buf_addc(&words, '\n');
        pl_buf_add(&words, pl_str_slice(detail, 0, 4000));
    }
    struct pl_json_out out = pl_json_out(&questions);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "questions");
    pl_json_out_open(&out, '[');
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "question");
    pl_json_out_text(&out, pl_buf_str(&words));
    pl_json_out_key(&out, "header");
    pl_json_out_text(&out, call->extension_id);
    if (detail_key && !is_confirm && detail.len) {
        pl_json_out_key(&out, detail_key);
        pl_json_out_text(&out, detail);
    }
    pl_json_out_key(&out, "options");
    if (!has_options)
        pl_json_out_raw(&out, PL_STR("[]"));
    else if (!put_options(call, &out, is_confirm))
        return;
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    if (questions.status != PL_OK || words.status != PL_OK)
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
    else
        pl_question_ask_person(call, "ask", pl_buf_str(&questions),
                               is_confirm ? on_confirmed : on_answered);
}

static void op_select(struct pl_ext_hostcall *call)
{
    ask(call, NULL, true, false);
}

static void op_confirm(struct pl_ext_hostcall *call)
{
    ask(call, "message", true, true);
}

static void op_input(struct pl_ext_hostcall *call)
{
    ask(call, "placeholder", false, false);
}

static void op_editor(struct pl_ext_hostcall *call)
{
    ask(call, "prefill", false, false);
}

static void notice(struct pl_ext_hostcall *call, struct pl_str text)
{
    struct asking *asking = begin(call, PL_COMMAND_EVENT, done_nothing);
    if (!asking)
        return;
    asking->command.event.kind = PL_SE_NOTICE;
    asking->command.event.notice.text = pl_arena_dup(&asking->arena, pl_str_slice(text, 0, 8000));
    send(asking);
}

static void op_notify(struct pl_ext_hostcall *call)
{
    struct pl_str message;
    if (needs_text(call, "message", &message))
        notice(call, message);
}

/* For the user's clients: {session_id, extension_id, op, …} as the extension sent it. */
static void done_show(struct pl_ext_hostcall *call, struct pl_session_command *command)
{
    PL_CLEANUP_BUF struct pl_buf data;
    (void)command;
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, call->session_id);
    pl_json_out_key(&out, "extension_id");
    pl_json_out_text(&out, call->extension_id);
    pl_json_out_key(&out, "ui");
    pl_json_out_raw(&out, pl_json_span(&call->doc, call->params));
    pl_json_out_close(&out, '}');
    if (data.status == PL_OK)
        pl_hub_tell_user(call->exts->shard->server, call->user_id, "extension:ui",
                         pl_buf_str(&data));
    pl_buf_adds(&call->output, "{}");
    pl_hostcall_succeed(call);
}

static void op_show(struct pl_ext_hostcall *call)
{
    enum { MOST = 64 << 10 };
    if (call->params->len > MOST)
        pl_hostcall_fail(call, "invalid_request", "too_large", "at most 64 KiB are shown");
    else
        op_look(call, done_show);
}

/* --- events ----------------------------------------------------------------------------------- */

static bool takes_message(struct pl_ext_hostcall *call)
{
    struct pl_ext_instance *instance = call->instance;
    if (pl_ext_bucket_take(&instance->buckets[PL_EXT_QUOTA_USER_MESSAGES],
                           PL_EXT_QUOTA_USER_MESSAGES, 1, pl_loop_now_ms(call->exts->loop)))
        return true;
    pl_hostcall_fail(call, "io", "quota", "at most 10 messages a minute");
    (void)pl_ext_instance_strike(instance, "messages");
    return false;
}

static void op_send_message(struct pl_ext_hostcall *call)
{
    struct pl_str content;
    if (needs_text(call, "content", &content) && takes_message(call))
        notice(call, content);
}

static void op_send_user_message(struct pl_ext_hostcall *call)
{
    struct pl_str content, how;
    PL_CLEANUP_BUF struct pl_buf message;
    pl_buf_init(&message, 0);
    if (!needs_text(call, "content", &content) ||
        !pl_hostcall_text(call, call->params, "deliver_as", &how))
        return;
    bool steers = pl_str_eq(how, PL_STR("steer"));
    if (how.ptr && !steers && !pl_str_eq(how, PL_STR("follow_up"))) {
        pl_hostcall_fail(call, "invalid_request", NULL, "deliver_as is steer or follow_up");
        return;
    }
    if (!takes_message(call))
        return;
    struct asking *asking = begin(call, PL_COMMAND_EVENT, done_nothing);
    if (!asking)
        return;
    pl_json_quote(&message, content);
    asking->command.event.kind = PL_SE_CHAT;
    asking->command.event.chat.message = pl_arena_dup(&asking->arena, pl_buf_str(&message));
    asking->command.event.chat.when_busy = steers ? PL_BUSY_STEER : PL_BUSY_ENQUEUE;
    send(asking);
}

static void put_tools(struct pl_ext_hostcall *call)
{
    struct pl_ext_offered *tools = NULL;
    size_t n = 0;
    if (pl_ext_tools_of(call->exts->host, &call->arena, call->user_id, &tools, &n) != PL_OK) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "tools");
    pl_json_out_open(&out, '[');
    call->exts->host->above->write_tools(&out);
    for (size_t i = 0; i < n; i++)
        pl_json_out_text(&out, tools[i].name);
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    pl_hostcall_succeed(call);
}

static void op_get_all_tools(struct pl_ext_hostcall *call)
{
    put_tools(call);
}

static void done_active(struct pl_ext_hostcall *call, struct pl_session_command *command)
{
    struct pl_json_doc doc;
    const struct pl_json_node *session = look_at(call, command, &doc);
    const struct pl_json_node *tools =
        session ? pl_json_member(&doc, session, "tools", PL_JSON_ARRAY) : NULL;
    if (!session)
        return;
    if (!tools) {
        put_tools(call);
        return;
    }
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "tools");
    pl_json_out_open(&out, '[');
    for (const struct pl_json_node *n = pl_json_first(tools); n < pl_json_end(tools);
         n = pl_json_next(n)) {
        const struct pl_json_node *name =
            pl_json_is(n, PL_JSON_OBJECT) ? pl_json_get(&doc, n, PL_STR("name")) : n;
        if (name)
            pl_json_out_raw(&out, pl_json_span(&doc, name));
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    pl_hostcall_succeed(call);
}

static void op_get_active_tools(struct pl_ext_hostcall *call)
{
    op_look(call, done_active);
}

static bool is_known_tool(struct pl_ext_hostcall *call, const struct pl_json_node *n)
{
    struct pl_str name;
    struct pl_ext_offered tool;
    if (!pl_json_is(n, PL_JSON_STRING) || pl_json_text(&call->arena, &call->doc, n, &name) != PL_OK)
        return false;
    return call->exts->host->above->is_tool(name) ||
           pl_ext_tool_find(call->exts->host, &call->arena, call->user_id, name, &tool) == PL_OK;
}

static void op_set_active_tools(struct pl_ext_hostcall *call)
{
    const struct pl_json_node *tools =
        pl_json_member(&call->doc, call->params, "tools", PL_JSON_ARRAY);
    PL_CLEANUP_BUF struct pl_buf text;
    pl_buf_init(&text, 0);
    for (const struct pl_json_node *n = tools ? pl_json_first(tools) : NULL;
         n && n < pl_json_end(tools); n = pl_json_next(n))
        if (!is_known_tool(call, n)) {
            pl_hostcall_fail(call, "invalid_request", "not_found", "there is no tool %.*s",
                             PL_STR_ARG(pl_str_slice(pl_json_span(&call->doc, n), 0, 80)));
            return;
        }
    if (!tools) {
        pl_hostcall_fail(call, "invalid_request", NULL, "tools is an array of names");
        return;
    }
    struct asking *asking = begin(call, PL_COMMAND_EVENT, done_nothing);
    if (!asking)
        return;
    pl_json_write_min(&text, &call->doc, tools);
    asking->command.event.kind = PL_SE_SETTINGS;
    asking->command.event.settings.has_tools = true;
    asking->command.event.settings.tools = pl_arena_dup(&asking->arena, pl_buf_str(&text));
    send(asking);
}

static void op_get_commands(struct pl_ext_hostcall *call)
{
    struct pl_ext_offered_command *commands = NULL;
    size_t n = 0;
    if (pl_ext_commands_of(call->exts->host, &call->arena, call->user_id, &commands, &n) != PL_OK) {
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
        return;
    }
    struct pl_json_out out = pl_json_out(&call->output);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "commands");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < n; i++) {
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "name");
        pl_json_out_text(&out, commands[i].name);
        pl_json_out_key(&out, "description");
        pl_json_out_text(&out, commands[i].description);
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    pl_hostcall_succeed(call);
}

/* To the user's other extensions that subscribe to bus:TOPIC. */
static void op_emit(struct pl_ext_hostcall *call)
{
    struct pl_str topic;
    PL_CLEANUP_BUF struct pl_buf data;
    pl_buf_init(&data, 0);
    if (!needs_text(call, "topic", &topic))
        return;
    const struct pl_json_node *said = pl_json_get(&call->doc, call->params, PL_STR("data"));
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "from");
    pl_json_out_text(&out, call->extension_id);
    pl_json_out_key(&out, "topic");
    pl_json_out_text(&out, topic);
    pl_json_out_key(&out, "data");
    pl_json_out_raw(&out, said ? pl_json_span(&call->doc, said) : PL_STR("null"));
    pl_json_out_close(&out, '}');
    if (data.status == PL_OK)
        pl_ext_emit(call->exts->shard, call->user_id, call->session_id, topic, pl_buf_str(&data));
    pl_buf_adds(&call->output, "{}");
    pl_hostcall_succeed(call);
}

/* --- the tables ------------------------------------------------------------------------------- */

struct op {
    const char *name;
    void (*start)(struct pl_ext_hostcall *call);
    const char *members[6];
};

static void dispatch(struct pl_ext_hostcall *call, const struct op *ops, size_t n)
{
    struct pl_str name;
    if (!pl_hostcall_text(call, call->params, "op", &name))
        return;
    for (size_t i = 0; i < n; i++) {
        if (!pl_str_eq(name, pl_str_of(ops[i].name)))
            continue;
        const char *members[9] = {"op", "session_id"};
        memcpy(members + 2, ops[i].members, sizeof ops[i].members);
        if (pl_hostcall_members(call, call->params, members))
            ops[i].start(call);
        return;
    }
    pl_hostcall_fail(call, "invalid_request", NULL, "%s has no op \"%.*s\"", call->method->name,
                     PL_STR_ARG(pl_str_slice(name, 0, 60)));
}

void pl_ext_session_start(struct pl_ext_hostcall *call)
{
    static const struct op ops[] = {
        {"get_state", op_get_state, {0}},
        {"get_messages", op_get_messages, {"limit", "before"}},
        {"get_entries", op_get_entries, {0}},
        {"append_entry", op_append_entry, {"type", "data"}},
        {"set_name", op_set_name, {"name"}},
        {"get_model", op_get_model, {0}},
        {"set_model", op_set_model, {"model"}},
        {"get_context", op_get_context, {0}},
    };
    dispatch(call, ops, sizeof ops / sizeof *ops);
}

void pl_ext_ui_start(struct pl_ext_hostcall *call)
{
    static const struct op ops[] = {
        {"select", op_select, {"title", "options"}},
        {"confirm", op_confirm, {"title", "message"}},
        {"input", op_input, {"title", "placeholder"}},
        {"editor", op_editor, {"title", "prefill"}},
        {"notify", op_notify, {"message", "level"}},
        {"set_status", op_show, {"key", "text"}},
        {"set_widget", op_show, {"key", "lines"}},
        {"set_title", op_show, {"title"}},
    };
    dispatch(call, ops, sizeof ops / sizeof *ops);
}

void pl_ext_events_start(struct pl_ext_hostcall *call)
{
    static const struct op ops[] = {
        {"send_message", op_send_message, {"content"}},
        {"send_user_message", op_send_user_message, {"content", "deliver_as"}},
        {"get_active_tools", op_get_active_tools, {0}},
        {"get_all_tools", op_get_all_tools, {0}},
        {"set_active_tools", op_set_active_tools, {"tools"}},
        {"get_commands", op_get_commands, {0}},
        {"emit", op_emit, {"topic", "data"}},
    };
    dispatch(call, ops, sizeof ops / sizeof *ops);
}
