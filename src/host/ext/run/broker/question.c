/* A question of an extension to the person of a session: for a capability, or from the method
 * ui. It is an aside of the session (core/session/aside.c), so it is shown and answered like
 * other questions. Calls with the same question wait for one answer. Its id names this shard,
 * which receives the answer.
 *
 *     machine question
 *
 *     NEW -> SENT -> ASKED -> ENDING -> OVER
 *     NEW -> OVER                               out of memory
 *     SENT -> ENDING                            the session did not take it
 *     SENT -> LEFT -> OVER                      it ended before its command is back */
#include "ext/run/broker/broker.h"

#include "base/mem.h"
#include "io/move.h"
#include "json/text.h"

#include <stdio.h>

enum { QUESTION_MS = 600000, MAX_ID = 64 };

enum state {
    QUESTION_NEW,
    QUESTION_SENT,   /* its command is under way */
    QUESTION_ASKED,  /* the session has it */
    QUESTION_ENDING, /* the waiting calls continue */
    QUESTION_LEFT,   /* the same, or no call waits; its command is still under way */
    QUESTION_OVER,
};

#define TO(name) PL_TO(QUESTION_##name)
static const struct pl_state states[] = {
    [QUESTION_NEW] = {"new", TO(SENT) | TO(OVER)},
    [QUESTION_SENT] = {"sent", TO(ASKED) | TO(ENDING) | TO(LEFT), PL_WAIT_SET, PL_CANCEL_LATER,
                       .why = "QUESTION_MS"},
    [QUESTION_ASKED] = {"asked", TO(ENDING), PL_WAIT_SET, PL_CANCEL_ENDS,
                        .why = "QUESTION_MS, since it was sent"},
    [QUESTION_ENDING] = {"ending", TO(OVER)},
    [QUESTION_LEFT] = {"left", TO(OVER), PL_WAIT_OPEN, PL_CANCEL_LATER,
                       .why = "every command of a session comes back"},
    [QUESTION_OVER] = {"over", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("question", states);

struct waiter {
    struct waiter *next;
    struct pl_ext_hostcall *call; /* borrowed */
    void (*decided)(struct pl_ext_hostcall *call, enum pl_ext_reason reason);
    void (*answered)(struct pl_ext_hostcall *call, struct pl_str answer);
    enum pl_hostcall_state back; /* of `answered`: the former state of the call */
    struct pl_ext_ask *ask;      /* borrowed; set if a tool call waits, not a host call */
    void (*ask_decided)(struct pl_ext_ask *ask, enum pl_ext_reason reason);
};

/* Who asks for what; views. */
struct about {
    struct pl_ext_shard *exts;
    struct pl_str extension_id, user_id, session_id, turn_id, target, what, manifest_hash;
    enum pl_ext_capability capability;
};

struct pl_ext_question {
    struct pl_table_link link; /* key: id */
    struct pl_ext_shard *exts; /* borrowed */
    enum state state;
    char id[MAX_ID];
    struct pl_arena arena;
    struct pl_str extension_id, user_id, session_id, target, manifest_hash; /* arena */
    enum pl_ext_capability capability;
    bool is_capability;
    struct waiter *waiters; /* owned */
    struct pl_timer timer;
    struct pl_session_command command;
};

static void become(struct pl_ext_question *q, enum state to)
{
    q->state = (enum state)pl_move(&machine, q, q->state, to);
}

/* --- memory ----------------------------------------------------------------------------------- */

static void destroy(struct pl_ext_question *q)
{
    if (q->state != QUESTION_NEW)
        pl_session_command_deinit(&q->command);
    become(q, QUESTION_OVER);
    pl_arena_deinit(&q->arena);
    pl_mem_free(q);
}

/* The session has withdrawn the question. */
static void on_withdrawn(struct pl_session_command *command)
{
    pl_session_command_deinit(command);
    pl_mem_free(command);
}

static void withdraw(struct pl_ext_question *q)
{
    size_t n_id = strlen(q->id), n_user = q->user_id.len, n_session = q->session_id.len;
    struct pl_session_command *command =
        pl_mem_alloc(1, sizeof *command + n_id + n_user + n_session);
    if (!command)
        return;
    char *text = (char *)(command + 1);
    memcpy(text, q->id, n_id);
    memcpy(text + n_id, q->user_id.ptr, n_user);
    memcpy(text + n_id + n_user, q->session_id.ptr, n_session);
    pl_session_command_init(command, PL_COMMAND_EVENT, q->exts->shard,
                            (struct pl_str){text + n_id, n_user},
                            (struct pl_str){text + n_id + n_user, n_session});
    command->event.kind = PL_SE_ASIDE_END;
    command->event.aside.id = (struct pl_str){text, n_id};
    command->done = on_withdrawn;
    pl_session_command_send(command);
}

/* --- the clock -------------------------------------------------------------------------------- */

static void hold_clock(struct pl_ext_hostcall *call)
{
    if (pl_timer_is_on(&call->timer)) {
        call->left_ms = call->timer.due_ms - pl_loop_now_ms(call->exts->loop);
        call->timeout_ms = call->left_ms > 1 ? call->left_ms : 1;
        pl_timer_stop(call->exts->loop, &call->timer);
    }
    if (call->parent)
        pl_ext_ask_hold_clock(call->parent);
}

static void let_clock(struct pl_ext_hostcall *call)
{
    if (call->parent && call->parent->instance)
        pl_ext_ask_let_clock(call->parent);
}

/* --- answers ---------------------------------------------------------------------------------- */

static void audit(struct pl_ext_question *q, enum pl_ext_reason reason, const char *remember)
{
    PL_CLEANUP_BUF struct pl_buf detail;
    pl_buf_init(&detail, 0);
    struct pl_json_out out = pl_json_out(&detail);
    const struct {
        const char *key;
        struct pl_str value;
    } members[] = {
        {"session_id", q->session_id},
        {"capability", pl_str_of(pl_ext_capability_name(q->capability))},
        {"reason", pl_str_of(pl_ext_reason_text(reason))},
        {"remember", pl_str_of(remember)},
    };
    pl_json_out_open(&out, '{');
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        pl_json_out_key(&out, members[i].key);
        pl_json_out_text(&out, members[i].value);
    }
    pl_json_out_close(&out, '}');
    struct pl_ext_audited what = {
        .user_id = q->user_id,
        .action = "question",
        .object = q->extension_id,
        .detail = pl_buf_str(&detail),
    };
    if (detail.status == PL_OK)
        pl_ext_audit(q->exts, &what, NULL, NULL);
}

static void on_stored(void *ctx, enum pl_status status, const struct pl_error *err)
{
    (void)ctx, (void)status, (void)err; /* if this fails, the person is asked again */
}

static void remember(struct pl_ext_question *q, bool is_allowed, const char *how)
{
    struct pl_ext_place *place = pl_ext_place_find(q->exts, q->extension_id, q->user_id);
    if (!place)
        return;
    if (!is_allowed)
        pl_ext_denials_add(place, q->session_id);
    if (strcmp(how, "once") == 0)
        return;
    bool is_always = strcmp(how, "always") == 0;
    pl_ext_answers_keep(place, q->capability, q->target,
                        is_always ? (struct pl_str){0} : q->session_id, is_allowed);
    struct pl_batch *batch = is_always ? pl_batch_create() : NULL;
    if (!batch)
        return;
    struct pl_extension_answer_row row = {
        .user_id = q->user_id,
        .capability = pl_str_of(pl_ext_capability_name(q->capability)),
        .target = q->target,
        .manifest_hash = q->manifest_hash,
        .is_allowed = is_allowed,
        .answered_ms = pl_loop_unix_ms(q->exts->loop),
    };
    pl_batch_put_extension_answer(batch, q->extension_id, &row);
    pl_store_submit(q->exts->shard->server->store, q->exts->loop, batch, on_stored, NULL);
}

static const char *word_of(const struct pl_json_doc *doc)
{
    static const char *const words[] = {"session", "always"};
    const struct pl_json_node *n = pl_json_get(doc, doc->root, PL_STR("remember"));
    for (size_t i = 0; n && i < sizeof words / sizeof *words; i++)
        if (pl_json_text_is(doc, n, pl_str_of(words[i])))
            return words[i];
    return "once";
}

/* Each waiting call continues, and leaves the question. */
static void tell(struct pl_ext_question *q, enum pl_ext_reason reason, struct pl_str answer)
{
    while (q->waiters) {
        struct waiter *w = q->waiters;
        struct pl_ext_hostcall *call = w->call;
        q->waiters = w->next;
        if (w->ask) {
            w->ask->question = NULL;
            pl_ext_ask_let_clock(w->ask);
            w->ask_decided(w->ask, reason);
            pl_mem_free(w);
            continue;
        }
        call->state_question = NULL;
        let_clock(call);
        if (!w->decided)
            pl_hostcall_become(call, w->back);
        if (w->decided)
            w->decided(call, reason);
        else
            w->answered(call, answer);
        pl_mem_free(w);
    }
}

/* Moves first: a call that continues may make another one leave, and the question must outlive
 * that. */
static void end(struct pl_ext_question *q, enum state to, enum pl_ext_reason reason,
                struct pl_str answer)
{
    become(q, to);
    pl_timer_stop(q->exts->loop, &q->timer);
    tell(q, reason, answer);
    pl_table_remove(&q->exts->questions, &q->link);
    if (q->state == QUESTION_ENDING)
        destroy(q);
}

/* The end by anything but its command. */
static void end_now(struct pl_ext_question *q, enum pl_ext_reason reason, struct pl_str answer)
{
    end(q, q->state == QUESTION_SENT ? QUESTION_LEFT : QUESTION_ENDING, reason, answer);
}

static void decide(struct pl_ext_question *q, struct pl_str answer)
{
    struct pl_json_doc doc;
    enum pl_ext_reason reason = PL_EXT_REASON_PROMPT_NO_PERSON; /* it was cancelled */
    if (answer.len && pl_json_parse(&q->arena, answer, &pl_json_own, &doc, NULL) == PL_OK) {
        bool is_allowed = pl_json_is(pl_json_get(&doc, doc.root, PL_STR("approve")), PL_JSON_TRUE);
        const char *how = word_of(&doc);
        reason = is_allowed ? PL_EXT_REASON_PROMPT_USER_ALLOW : PL_EXT_REASON_PROMPT_USER_DENY;
        remember(q, is_allowed, how);
        audit(q, reason, how);
    }
    end_now(q, reason, answer);
}

static void answer(struct pl_ext_question *q, struct pl_str text)
{
    if (q->is_capability)
        decide(q, text);
    else
        end_now(q, PL_EXT_REASON_COUNT, text);
}

static void on_late(struct pl_timer *timer)
{
    struct pl_ext_question *q = PL_CONTAINER_OF(timer, struct pl_ext_question, timer);
    if (q->is_capability)
        audit(q, PL_EXT_REASON_PROMPT_TIMEOUT, "once");
    withdraw(q);
    end_now(q, PL_EXT_REASON_PROMPT_TIMEOUT, (struct pl_str){0});
}

/* A call no longer waits for it. */
static void lose_waiter(struct pl_ext_question *q)
{
    if (q->waiters || (q->state != QUESTION_SENT && q->state != QUESTION_ASKED))
        return;
    withdraw(q);
    end_now(q, PL_EXT_REASON_COUNT, (struct pl_str){0});
}

static void on_asked(struct pl_session_command *command)
{
    struct pl_ext_question *q = PL_CONTAINER_OF(command, struct pl_ext_question, command);
    if (q->state == QUESTION_LEFT)
        destroy(q);
    else if (command->problem == PL_PROBLEM_COUNT)
        become(q, QUESTION_ASKED);
    else
        end(q, QUESTION_ENDING, PL_EXT_REASON_PROMPT_NO_PERSON, (struct pl_str){0});
}

/* --- asking ----------------------------------------------------------------------------------- */

static bool add_waiter(struct pl_ext_question *q, const struct waiter *waiter)
{
    struct waiter *w = pl_mem_alloc(1, sizeof *w);
    if (!w)
        return false;
    *w = *waiter;
    w->next = q->waiters;
    q->waiters = w;
    if (w->ask) {
        w->ask->question = q;
        pl_ext_ask_hold_clock(w->ask);
        return true;
    }
    w->call->state_question = q;
    pl_hostcall_become(w->call, PL_HOSTCALL_ASKING);
    hold_clock(w->call);
    return true;
}

static struct pl_str keep(struct pl_ext_question *q, struct pl_str text, bool *is_whole)
{
    struct pl_str copy = pl_arena_dup(&q->arena, text);
    *is_whole &= copy.ptr || !text.len;
    return copy;
}

static struct about about_hostcall(const struct pl_ext_hostcall *call)
{
    return (struct about){
        .exts = call->exts,
        .extension_id = call->extension_id,
        .user_id = call->user_id,
        .session_id = call->session_id,
        .turn_id = call->turn_id,
        .target = call->target,
        .manifest_hash = call->known->row.manifest_hash,
        .capability = call->capability,
    };
}

static struct pl_ext_question *create(const struct about *call)
{
    struct pl_ext_question *q = pl_mem_alloc(1, sizeof *q);
    struct pl_id_seed seed = pl_shard_seed(call->exts->shard);
    bool is_whole = true;
    if (!q)
        return NULL;
    *q = (struct pl_ext_question){.exts = call->exts, .capability = call->capability};
    snprintf(q->id, sizeof q->id, "ask_%02x%s", (unsigned)call->exts->shard->index,
             pl_id_take(&seed, "").text);
    q->link.key = pl_str_of(q->id);
    pl_arena_init(&q->arena, 0);
    q->extension_id = keep(q, call->extension_id, &is_whole);
    q->user_id = keep(q, call->user_id, &is_whole);
    q->session_id = keep(q, call->session_id, &is_whole);
    q->target = keep(q, call->target, &is_whole);
    q->manifest_hash = keep(q, call->manifest_hash, &is_whole);
    if (is_whole && pl_table_put(&call->exts->questions, &q->link))
        return q;
    destroy(q);
    return NULL;
}

static void send(struct pl_ext_question *q, const char *kind, struct pl_str turn_id,
                 struct pl_str questions)
{
    pl_session_command_init(&q->command, PL_COMMAND_EVENT, q->exts->shard, q->user_id,
                            q->session_id);
    q->command.event.kind = PL_SE_ASIDE;
    q->command.event.aside.id = pl_str_of(q->id);
    q->command.event.aside.turn_id = turn_id;
    q->command.event.aside.kind = pl_str_of(kind);
    q->command.event.aside.questions = questions;
    q->command.done = on_asked;
    become(q, QUESTION_SENT);
    pl_timer_start(q->exts->loop, &q->timer, QUESTION_MS, on_late);
    pl_session_command_send(&q->command);
}

static struct pl_ext_question *find_equal(const struct about *call)
{
    const struct pl_table *table = &call->exts->questions;
    for (struct pl_table_link *link = pl_table_next(table, NULL); link;
         link = pl_table_next(table, link)) {
        struct pl_ext_question *q = PL_CONTAINER_OF(link, struct pl_ext_question, link);
        if (q->is_capability && q->capability == call->capability &&
            pl_str_eq(q->target, call->target) && pl_str_eq(q->session_id, call->session_id) &&
            pl_str_eq(q->extension_id, call->extension_id) && pl_str_eq(q->user_id, call->user_id))
            return q;
    }
    return NULL;
}

/* "May demo use exec: git status?" */
static void write_capability(const struct about *call, struct pl_buf *to)
{
    PL_CLEANUP_BUF struct pl_buf words;
    static const char *const options[] = {"approve", "deny"};
    pl_buf_init(&words, 0);
    pl_buf_addf(&words, "May the extension %.*s use %s", PL_STR_ARG(call->extension_id),
                pl_ext_capability_name(call->capability));
    if (call->what.len)
        pl_buf_addf(&words, ": %.*s", PL_STR_ARG(call->what));
    pl_buf_addc(&words, '?');
    struct pl_json_out out = pl_json_out(to);
    pl_json_out_open(&out, '{');
    pl_json_out_key(&out, "questions");
    pl_json_out_open(&out, '[');
    pl_json_out_open(&out, '{');
    const struct {
        const char *key;
        struct pl_str value;
    } members[] = {
        {"question", pl_buf_str(&words)},
        {"header", call->extension_id},
        {"extension_id", call->extension_id},
        {"capability", pl_str_of(pl_ext_capability_name(call->capability))},
        {"target", call->what},
    };
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        pl_json_out_key(&out, members[i].key);
        pl_json_out_text(&out, members[i].value);
    }
    pl_json_out_key(&out, "options");
    pl_json_out_open(&out, '[');
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        pl_json_out_open(&out, '{');
        pl_json_out_key(&out, "label");
        pl_json_out_text(&out, pl_str_of(options[i]));
        pl_json_out_close(&out, '}');
    }
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    pl_json_out_close(&out, ']');
    pl_json_out_close(&out, '}');
    if (words.status != PL_OK)
        to->status = words.status;
}

/* False if out of memory. */
static bool ask(const struct about *about, const struct waiter *waiter, const char *kind,
                struct pl_str questions)
{
    struct pl_ext_question *q = create(about);
    bool is_whole = q;
    struct pl_str text = q ? keep(q, questions, &is_whole) : (struct pl_str){0};
    struct pl_str turn_id = q ? keep(q, about->turn_id, &is_whole) : (struct pl_str){0};
    if (is_whole)
        q->is_capability = waiter->decided || waiter->ask_decided;
    if (is_whole && add_waiter(q, waiter)) {
        send(q, kind, turn_id, text);
        return true;
    }
    if (q) {
        pl_table_remove(&q->exts->questions, &q->link);
        destroy(q);
    }
    return false;
}

static bool ask_capability(const struct about *about, const struct waiter *waiter)
{
    struct pl_ext_question *q = find_equal(about);
    if (q)
        return add_waiter(q, waiter);
    PL_CLEANUP_BUF struct pl_buf questions;
    pl_buf_init(&questions, 0);
    write_capability(about, &questions);
    return questions.status == PL_OK && ask(about, waiter, "capability", pl_buf_str(&questions));
}

void pl_question_ask_capability(struct pl_ext_hostcall *call,
                                void (*decided)(struct pl_ext_hostcall *call,
                                                enum pl_ext_reason reason))
{
    PL_CLEANUP_BUF struct pl_buf what;
    struct waiter waiter = {.call = call, .decided = decided};
    struct about about = about_hostcall(call);
    pl_buf_init(&what, 0);
    pl_ext_redact_text(&what, call->what, &call->instance->secrets);
    about.what = pl_buf_str(&what);
    if (what.status != PL_OK || !ask_capability(&about, &waiter))
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
}

void pl_question_ask_call(struct pl_ext_ask *ask, struct pl_str what,
                          void (*decided)(struct pl_ext_ask *ask, enum pl_ext_reason reason))
{
    struct waiter waiter = {.ask = ask, .ask_decided = decided};
    struct about about = {
        .exts = ask->instance->exts,
        .extension_id = ask->extension_id,
        .user_id = ask->user_id,
        .session_id = ask->session_id,
        .turn_id = ask->turn_id,
        .target = ask->name,
        .what = what,
        .manifest_hash = ask->instance->known->row.manifest_hash,
        .capability = ask->asked,
    };
    if (!ask_capability(&about, &waiter))
        pl_ext_ask_fail(ask, PL_TOOL_ERROR_MEMORY, "Out of memory.");
}

void pl_question_ask_person(struct pl_ext_hostcall *call, const char *kind, struct pl_str questions,
                            void (*answered)(struct pl_ext_hostcall *call, struct pl_str answer))
{
    struct waiter waiter = {.call = call, .answered = answered, .back = call->state};
    struct about about = about_hostcall(call);
    if (!ask(&about, &waiter, kind, questions))
        pl_hostcall_fail(call, "internal", NULL, "out of memory");
}

void pl_question_leave_call(struct pl_ext_ask *ask)
{
    struct pl_ext_question *q = PL_TAKE(ask->question);
    for (struct waiter **at = q ? &q->waiters : NULL; at && *at; at = &(*at)->next)
        if ((*at)->ask == ask) {
            struct waiter *w = *at;
            *at = w->next;
            pl_mem_free(w);
            break;
        }
    if (q)
        lose_waiter(q);
}

void pl_question_leave(struct pl_ext_hostcall *call)
{
    struct pl_ext_question *q = call->state_question;
    if (!q)
        return;
    call->state_question = NULL;
    let_clock(call);
    for (struct waiter **at = &q->waiters; *at; at = &(*at)->next)
        if ((*at)->call == call) {
            struct waiter *w = *at;
            *at = w->next;
            pl_mem_free(w);
            break;
        }
    lose_waiter(q);
}

/* --- answers come by letter ------------------------------------------------------------------- */

struct answering {
    struct pl_letter letter;
    struct pl_shard *shard;
    struct pl_str id, answer; /* in the same allocation */
};

static void on_answer(struct pl_letter *letter)
{
    struct answering *a = PL_CONTAINER_OF(letter, struct answering, letter);
    struct pl_table_link *link =
        a->shard->exts ? pl_table_get(&a->shard->exts->questions, a->id) : NULL;
    if (link)
        answer(PL_CONTAINER_OF(link, struct pl_ext_question, link), a->answer);
    pl_mem_free(a);
}

/* "ask_" and two hexadecimal digits: the shard that asked. */
static struct pl_shard *shard_of(struct pl_server *server, struct pl_str id)
{
    unsigned index = 0;
    char digits[3] = "";
    if (id.len < 6)
        return NULL;
    memcpy(digits, id.ptr + 4, 2);
    return sscanf(digits, "%2x", &index) == 1 && index < server->n_shards ? server->shards[index]
                                                                          : NULL;
}

void pl_ext_question_tell(struct pl_shard *home, struct pl_str question_id, struct pl_str answer)
{
    struct pl_shard *shard = shard_of(home->server, question_id);
    struct answering *a =
        shard ? pl_mem_alloc(1, sizeof *a + question_id.len + answer.len + 1) : NULL;
    if (!a)
        return;
    char *text = (char *)(a + 1);
    memcpy(text, question_id.ptr, question_id.len);
    memcpy(text + question_id.len, answer.ptr ? answer.ptr : "", answer.len);
    *a = (struct answering){
        .letter.open = on_answer,
        .shard = shard,
        .id = {text, question_id.len},
        .answer = {text + question_id.len, answer.len},
    };
    pl_loop_post(shard->loop, &a->letter);
}
