/* A message on its way into a session passes extensions first. "/name words" goes to the extension
 * that has this command: `text` of its answer is shown to the person, `prompt` is sent as their
 * message. Any other message passes the hook `input`, which may change it, handle it, or refuse it.
 *
 * Meanwhile the session continues: this file owns the command, and returns it to the driver at the
 * end. */
#include "agent/driver_int.h"
#include "agent/background/unattended.h"
#include "base/mem.h"
#include "ext/run/ext.h"
#include "json/text.h"
#include "json/write.h"

#include <stdio.h>

enum { MAX_WORDS = 100 };

struct intake {
    struct pl_session_command *command; /* held until it is answered or readmitted */
    struct pl_session_command notice;   /* shows a text to the person */
    struct pl_shard *shard;             /* borrowed */
    struct pl_arena arena;
    struct pl_str user_id, session_id, text; /* arena */
    struct pl_str name, extension_id;        /* arena; for a command */
};

static void destroy(struct intake *intake)
{
    pl_arena_deinit(&intake->arena);
    pl_mem_free(intake);
}

/* Passes it to the session, unchanged or with another text. */
static void readmit(struct intake *intake, struct pl_str text)
{
    struct pl_session_command *command = intake->command;
    if (text.ptr) {
        PL_CLEANUP_BUF struct pl_buf quoted;
        pl_buf_init(&quoted, 0);
        pl_json_quote(&quoted, text);
        char *copy = quoted.status == PL_OK ? pl_mem_alloc(1, quoted.len) : NULL;
        if (!copy) {
            pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
            destroy(intake);
            return;
        }
        memcpy(copy, quoted.ptr, quoted.len);
        command->event.chat.message = (struct pl_str){copy, quoted.len};
        command->own_text = copy;
    }
    command->is_admitted = true;
    destroy(intake);
    pl_driver_readmit(command);
}

static void refuse(struct intake *intake, struct pl_str by, struct pl_str why)
{
    struct pl_error err = {0};
    (void)pl_fail(&err, PL_INVALID, "Blocked by %.*s: %.*s", PL_STR_ARG(by),
                  (int)(why.len < 300 ? why.len : 300), why.len ? why.ptr : "no reason was given");
    pl_driver_refuse(intake->command, PL_PROBLEM_FORBIDDEN, &err);
    destroy(intake);
}

/* An extension has handled it: nothing is passed on. */
static void answer_handled(struct intake *intake)
{
    struct pl_session_command *command = intake->command;
    pl_buf_addf(&command->reply, "{\"session_id\":\"%.*s\",\"queued\":false,\"handled\":true}",
                PL_STR_ARG(intake->session_id));
    pl_driver_answer(command);
    destroy(intake);
}

/* --- commands --------------------------------------------------------------------------------- */

static void on_noticed(struct pl_session_command *notice)
{
    struct intake *intake = PL_CONTAINER_OF(notice, struct intake, notice);
    pl_session_command_deinit(notice);
    answer_handled(intake);
}

static void show(struct intake *intake, struct pl_str text)
{
    pl_session_command_init(&intake->notice, PL_COMMAND_EVENT, intake->shard, intake->user_id,
                            intake->session_id);
    intake->notice.event.kind = PL_SE_NOTICE;
    intake->notice.event.notice.text = pl_str_slice(text, 0, 8000);
    intake->notice.done = on_noticed;
    pl_session_command_send(&intake->notice);
}

static void on_command(struct pl_ext_ask *ask)
{
    struct intake *intake = ask->ctx;
    struct pl_json_doc doc;
    struct pl_str output = pl_arena_dup(&intake->arena, pl_buf_str(&ask->reply));
    if (ask->is_failed) {
        show(intake, pl_arena_dup(&intake->arena, pl_str_of(ask->message)));
        return;
    }
    if (!output.ptr || pl_json_parse(&intake->arena, output, &pl_json_own, &doc, NULL) != PL_OK) {
        pl_driver_refuse(intake->command, PL_PROBLEM_OVERLOADED, NULL);
        destroy(intake);
        return;
    }
    struct pl_str prompt = pl_json_member_text(&intake->arena, &doc, doc.root, "prompt");
    struct pl_str text = pl_json_member_text(&intake->arena, &doc, doc.root, "text");
    if (prompt.len && !ask->is_error)
        readmit(intake, prompt);
    else if (text.len)
        show(intake, text);
    else
        answer_handled(intake);
}

/* Splits words like a shell: by spaces, with quotes and backslashes. */
static void write_args(struct intake *intake, struct pl_str text, struct pl_buf *to)
{
    struct pl_json_out out = pl_json_out(to);
    PL_CLEANUP_BUF struct pl_buf word;
    char quote = 0;
    bool is_in = false;
    size_t n = 0;
    (void)intake;
    pl_buf_init(&word, 0);
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i <= text.len && n < MAX_WORDS; i++) {
        char c = i < text.len ? text.ptr[i] : ' ';
        bool is_space = c == ' ' || c == '\t' || c == '\n';
        if (quote && i < text.len) {
            if (c == quote)
                quote = 0;
            else
                pl_buf_addc(&word, c);
        } else if (c == '\'' || c == '"') {
            quote = c;
            is_in = true;
        } else if (c == '\\' && i + 1 < text.len) {
            pl_buf_addc(&word, text.ptr[++i]);
            is_in = true;
        } else if (!is_space) {
            pl_buf_addc(&word, c);
            is_in = true;
        } else if (is_in) {
            pl_json_out_text(&out, pl_buf_str(&word));
            pl_buf_clear(&word);
            is_in = false;
            n++;
        }
    }
    pl_json_out_close(&out, ']');
}

static bool start_command(struct intake *intake)
{
    PL_CLEANUP_BUF struct pl_buf args, input;
    struct pl_ext_ask *ask = pl_ext_ask_create(intake->shard, PL_EXT_ASK_COMMAND);
    if (!ask)
        return false;
    pl_buf_init(&args, 0);
    pl_buf_init(&input, 0);
    struct pl_str rest = pl_str_slice(intake->text, intake->name.len + 1, intake->text.len);
    write_args(intake, rest, &args);
    struct pl_json_out out = pl_json_out(&input);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "text");
    pl_json_out_text(&out, intake->text);
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, intake->session_id);
    pl_json_out_close(&out, '}');
    ask->extension_id = pl_ext_ask_keep(ask, intake->extension_id);
    ask->user_id = pl_ext_ask_keep(ask, intake->user_id);
    ask->session_id = pl_ext_ask_keep(ask, intake->session_id);
    ask->name = pl_ext_ask_keep(ask, intake->name);
    ask->args = pl_ext_ask_keep(ask, pl_buf_str(&args));
    ask->input = pl_ext_ask_keep(ask, pl_buf_str(&input));
    ask->has_person = !pl_unattended_has(intake->shard->server->unattended, intake->session_id);
    ask->done = on_command;
    ask->ctx = intake;
    pl_ext_ask_send(ask);
    return true;
}

/* --- the hook --------------------------------------------------------------------------------- */

static void on_ruling(void *ctx, const struct pl_ext_ruling *ruling)
{
    struct intake *intake = ctx;
    struct pl_json_doc doc;
    struct pl_str data =
        ruling->is_changed ? pl_arena_dup(&intake->arena, ruling->data) : (struct pl_str){0};
    if (ruling->verdict == PL_EXT_VERDICT_BLOCK)
        refuse(intake, ruling->by, ruling->why);
    else if (ruling->is_handled)
        answer_handled(intake);
    else if (data.ptr && pl_json_parse(&intake->arena, data, &pl_json_own, &doc, NULL) == PL_OK)
        readmit(intake, pl_json_member_text(&intake->arena, &doc, doc.root, "text"));
    else
        readmit(intake, (struct pl_str){0});
}

static bool start_hook(struct intake *intake)
{
    PL_CLEANUP_BUF struct pl_buf data;
    pl_buf_init(&data, 0);
    struct pl_json_out out = pl_json_out(&data);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "text");
    pl_json_out_text(&out, intake->text);
    pl_json_out_key(&out, "source");
    pl_json_out_text(&out, PL_STR("user"));
    pl_json_out_key(&out, "session_id");
    pl_json_out_text(&out, intake->session_id);
    pl_json_out_close(&out, '}');
    struct pl_ext_chain_query query = {
        .user_id = intake->user_id,
        .session_id = intake->session_id,
        .hook = PL_EXT_HOOK_INPUT,
        .data = pl_buf_str(&data),
        .has_person = !pl_unattended_has(intake->shard->server->unattended, intake->session_id),
    };
    return data.status == PL_OK && pl_ext_chain_start(intake->shard, &query, on_ruling, intake);
}

/* --- taking ----------------------------------------------------------------------------------- */

/* Only a message that is one text can be a command, or passes the hook with its text; for parts the
 * text is empty. */
static bool read_text(struct intake *intake, struct pl_str message)
{
    struct pl_json_doc doc;
    if (pl_json_parse(&intake->arena, message, &pl_json_own, &doc, NULL) != PL_OK)
        return false;
    if (!pl_json_is(doc.root, PL_JSON_STRING)) {
        intake->text = PL_STR("");
        return true;
    }
    return pl_json_text(&intake->arena, &doc, doc.root, &intake->text) == PL_OK;
}

static bool find_command(struct intake *intake)
{
    struct pl_ext_offered_command *commands = NULL;
    size_t n = 0, n_name = 1;
    struct pl_str text = intake->text;
    if (!text.len || text.ptr[0] != '/')
        return false;
    while (n_name < text.len && text.ptr[n_name] != ' ' && text.ptr[n_name] != '\n')
        n_name++;
    intake->name = pl_str_slice(text, 1, n_name);
    if (pl_ext_commands_of(intake->shard->server->ext, &intake->arena, intake->user_id, &commands,
                           &n) != PL_OK)
        return false;
    for (size_t i = 0; i < n; i++)
        if (pl_str_eq(commands[i].name, intake->name)) {
            intake->extension_id = commands[i].extension_id;
            return true;
        }
    return false;
}

static struct intake *create(struct pl_driver *driver, struct pl_session_command *command)
{
    const struct pl_session_record *record = pl_session_record(driver->session);
    struct intake *intake = pl_mem_alloc(1, sizeof *intake);
    if (!intake)
        return NULL;
    *intake = (struct intake){.command = command, .shard = driver->drivers->shard};
    pl_arena_init(&intake->arena, 0);
    intake->user_id = pl_arena_dup(&intake->arena, record->user_id);
    intake->session_id = pl_arena_dup(&intake->arena, driver->link.key);
    if (intake->user_id.ptr && intake->session_id.ptr &&
        read_text(intake, command->event.chat.message))
        return intake;
    destroy(intake);
    return NULL;
}

bool pl_intake_take(struct pl_driver *driver, struct pl_session_command *command)
{
    struct pl_ext_server *ext = driver->drivers->shard->server->ext;
    if (command->kind != PL_COMMAND_EVENT || command->event.kind != PL_SE_CHAT ||
        command->is_admitted || command->event.chat.is_recorded || !pl_ext_server_has_any(ext))
        return false;
    struct pl_str user_id = pl_session_record(driver->session)->user_id;
    bool is_slash = pl_str_begins(command->event.chat.message, "\"/");
    bool is_hooked = pl_ext_wants(ext, user_id, PL_EXT_HOOK_INPUT, (struct pl_str){0});
    struct intake *intake = is_slash || is_hooked ? create(driver, command) : NULL;
    if (!intake && (is_slash || is_hooked)) { /* fail closed: a message that cannot be checked does
                                                 not pass */
        pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
        return true;
    }
    if (!intake)
        return false;
    bool is_command = find_command(intake);
    if (!is_command && !is_hooked) {
        destroy(intake);
        return false;
    }
    if (is_command ? start_command(intake) : start_hook(intake))
        return true;
    pl_driver_refuse(command, PL_PROBLEM_OVERLOADED, NULL);
    destroy(intake);
    return true;
}
