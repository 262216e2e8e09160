/* Talkers and readers: see people.h. A talker does one thing at a time, and turns to another node
 * if one does not answer. A reader reconnects with its position; every event must be the next one
 * of its epoch, or a snapshot. */
#include "people.h"

#include "base.h"
#include "base/mem.h"
#include "base/table.h"
#include "base/text/uuid.h"
#include "checks.h"
#include "json/json.h"
#include "json/number.h"
#include "json/text.h"
#include "kernel.h"
#include "live/listener.h"
#include "machine.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A snapshot has fifty turns, and these readers do not request older ones. */
enum { PATIENCE_MS = 3500, TALKERS_MAX = 8, SAID_OF_SESSION = 18, LONG_WORDS = 450, HEARD_MS = 60 };

struct attachment; /* of a reader to a process; the node's memory */

struct reader {
    struct reader_view view;
    size_t machine;
    uint64_t life, number; /* of the process; of the attachment */
    bool is_attached, is_asking;
    struct attachment *at;
    int64_t heard_us;
    int64_t told_epoch,
        told_sequence; /* what it was told when it subscribed; what is later is live */
};

/* A wanted action: making a session (SIZE_MAX), or sending a message. */
struct talker {
    bool is_busy, is_waiting;
    size_t said;                   /* index + 1; 0: making the session */
    size_t session, machine, only; /* only: SIZE_MAX, or the only node to use */
    uint64_t life, number;
    int64_t asked_us;
    size_t n_left;
};

static struct people {
    size_t n_sessions, n_readers, n_talkers, n_said;
    struct pl_id sessions[SESSIONS_MAX], user;
    bool is_made[SESSIONS_MAX];
    struct said said[SAID_MAX];
    struct talker talkers[TALKERS_MAX + SESSIONS_MAX * MACHINES_MAX];
    uint64_t n_numbers;
    bool is_hushed;
    size_t n_long; /* the first messages of a session whose answers take long */
    struct reader readers[READERS_MAX]; /* last */
} people;

const char *people_session_id(size_t i)
{
    return people.sessions[i].text;
}

size_t people_n_sessions(void)
{
    return people.n_sessions;
}

size_t people_n_said(void)
{
    return people.n_said;
}

const struct said *people_said(size_t i)
{
    return &people.said[i];
}

size_t people_n_readers(void)
{
    return people.n_readers;
}

const struct reader_view *people_reader(size_t i)
{
    return &people.readers[i].view;
}

bool people_hear(size_t machine)
{
    for (size_t i = 0; i < people.n_readers; i++) {
        const struct reader *reader = &people.readers[i];
        if (reader->is_attached && reader->machine == machine && reader->heard_us &&
            sim_now_us() - reader->heard_us < HEARD_MS * SIM_MS)
            return true;
    }
    return false;
}

/* A node that serves, as far as a client can see; SIZE_MAX: none. */
static size_t any_machine(size_t not_this)
{
    size_t found[MACHINES_MAX], n = 0;
    for (size_t i = 0; i < MACHINES_MAX; i++)
        if (machine_looks_ready(i) && i != not_this)
            found[n++] = i;
    return n                                                     ? found[sim_below(n)]
           : not_this < MACHINES_MAX && machine_server(not_this) ? not_this
                                                                 : SIZE_MAX;
}

/* --- talking --------------------------------------------------------------------------------- */

/* A request at a node; its memory. */
struct asked {
    struct pl_session_command command;
    struct talker *talker;
    uint64_t number;
    char message[TEXT_MAX];
};

/* What is wanted is copied: a frozen node reads it late, when its talker wants something else. */
struct asking {
    struct talker *talker;
    uint64_t number;
    size_t said, session; /* of the talker */
};

static void talk(void *ctx);

static void is_answered(struct pl_session_command *command)
{
    struct asked *asked = PL_CONTAINER_OF(command, struct asked, command);
    struct talker *talker = asked->talker;
    enum pl_problem problem = command->problem;
    bool is_good = problem == PL_PROBLEM_COUNT;
    bool is_mine = talker->number == asked->number;
    if (!talker->said && problem == PL_PROBLEM_CONFLICT)
        is_good = checks_has_session(talker->session); /* an earlier attempt had made it */
    if (is_good && talker->said && is_mine) {
        people.said[talker->said - 1].is_acknowledged = true;
        sim_trace("[%d] acknowledged %s", sim_owner(), people.said[talker->said - 1].id);
    }
    if (is_good && !talker->said && is_mine)
        people.is_made[talker->session] = true;
    if (!is_good && is_mine) {
        sim_trace("[%d] refused %s: %s, %s", sim_owner(),
                  talker->said ? people.said[talker->said - 1].id : "a session",
                  pl_problem_info(problem)->code, command->err.message);
        if (!pl_problem_info(problem)->is_retryable && problem != PL_PROBLEM_CONFLICT)
            sim_fail("what a client may repeat was refused for good: %s, %s",
                     pl_problem_info(problem)->code, command->err.message);
    }
    if (is_mine) {
        talker->is_waiting = false;
        talker->is_busy = !is_good;
        sim_at(sim_now_us() + sim_between(50, is_good ? 900 : 400) * SIM_MS, talk, talker);
    }
    pl_session_command_deinit(command);
    pl_mem_free(asked);
}

/* Its id, and words: the answer repeats them, one every 20 ms. */
static void write_message(const struct said *said, size_t number, char *to)
{
    int n = snprintf(to, TEXT_MAX, "\"%s", said->id);
    for (size_t i = number * 7 % 30; i && n < TEXT_MAX - 8; i--)
        n += snprintf(to + n, TEXT_MAX - (size_t)n, " w%zu", i);
    for (size_t i = 0; said->is_long && i < LONG_WORDS && n < TEXT_MAX - 8; i++)
        n += snprintf(to + n, TEXT_MAX - (size_t)n, " w");
    snprintf(to + n, TEXT_MAX - (size_t)n, "\"");
}

static void ask(struct pl_shard *shard, void *ctx)
{
    struct asking *asking = ctx;
    struct talker *talker = asking->talker;
    struct asked *asked = pl_mem_alloc(1, sizeof *asked);
    *asked = (struct asked){.talker = talker, .number = asking->number};
    size_t number = asking->said;
    struct pl_str session = pl_str_of(people.sessions[asking->session].text);
    pl_mem_free(asking);
    struct pl_str user = pl_str_of(people.user.text);
    struct pl_session_command *command = &asked->command;
    if (number) {
        const struct said *said = &people.said[number - 1];
        pl_session_command_init(command, PL_COMMAND_EVENT, shard, user, session);
        write_message(said, number, asked->message);
        command->event.kind = PL_SE_CHAT;
        command->event.chat.message = pl_str_of(asked->message);
        command->event.chat.client_message_id = pl_str_of(said->id);
        command->event.chat.when_busy = PL_BUSY_ENQUEUE;
    } else {
        pl_session_command_init(command, PL_COMMAND_CREATE, shard, user, session);
        int64_t now_ms = pl_loop_unix_ms(shard->loop);
        command->record = (struct pl_session_record){.id = session,
                                                     .user_id = user,
                                                     .intent = PL_STR("simulated"),
                                                     .model = PL_STR("demo/slow"),
                                                     .created_ms = now_ms,
                                                     .updated_ms = now_ms};
    }
    command->done = is_answered;
    pl_session_command_send(command);
}

static bool begin_something(struct talker *talker)
{
    if (talker->only != SIZE_MAX && !talker->n_left)
        return false;
    if (talker->only == SIZE_MAX) {
        if (people.is_hushed || people.n_said == SAID_MAX)
            return false;
        talker->session = sim_below(people.n_sessions);
    }
    size_t n = 0;
    for (size_t i = 0; i < people.n_said; i++)
        n += people.said[i].session == talker->session;
    if (people.n_said == SAID_MAX || (talker->only == SIZE_MAX && n >= SAID_OF_SESSION))
        return false;
    talker->n_left = 0;
    talker->is_busy = true;
    talker->said = 0;
    if (!people.is_made[talker->session])
        return talker->session < people.n_sessions;
    struct said *said = &people.said[people.n_said++];
    *said = (struct said){.session = talker->session, .is_long = n < people.n_long};
    snprintf(said->id, sizeof said->id, "m%zu-%llx", people.n_said,
             (unsigned long long)(sim_random() >> 44));
    talker->said = people.n_said;
    return true;
}

/* Sends the current action, again if necessary, or begins the next one. */
static void talk(void *ctx)
{
    struct talker *talker = ctx;
    if (talker->is_waiting)
        return;
    if (!talker->is_busy && !begin_something(talker))
        return;
    size_t machine = talker->only != SIZE_MAX && machine_server(talker->only)
                         ? talker->only
                         : any_machine(SIZE_MAX);
    if (machine == SIZE_MAX) {
        sim_at(sim_now_us() + 200 * SIM_MS, talk, talker);
        return;
    }
    talker->machine = machine;
    talker->life = machine_life(machine);
    talker->number = ++people.n_numbers;
    talker->asked_us = sim_now_us();
    talker->is_waiting = true;
    sim_trace("[%d] is asked for %s in session %zu", machine_owner(machine),
              talker->said ? people.said[talker->said - 1].id : "a session", talker->session);
    struct asking *asking = sim_alloc(sizeof *asking);
    *asking = (struct asking){talker, talker->number, talker->said, talker->session};
    machine_do(machine, ask, asking);
}

static void look_at_talkers(void)
{
    for (size_t i = 0; i < sizeof people.talkers / sizeof *people.talkers; i++) {
        struct talker *talker = &people.talkers[i];
        if (!talker->is_waiting)
            continue;
        bool is_over = machine_life(talker->machine) != talker->life ||
                       machine_state(talker->machine) != MACHINE_SERVING;
        if (!is_over && sim_now_us() - talker->asked_us < (int64_t)PATIENCE_MS * SIM_MS)
            continue;
        talker->is_waiting = false;
        talker->number = ++people.n_numbers; /* a late answer is ignored */
        talk(talker);
    }
}

/* --- reading --------------------------------------------------------------------------------- */

struct attachment {
    struct pl_live live; /* first */
    struct reader *reader;
    uint64_t number;
};

static bool is_present(const struct attachment *at)
{
    return at->reader->number == at->number;
}

static void free_over(struct pl_loop_hook *end)
{
    pl_mem_free(PL_CONTAINER_OF(end, struct attachment, live.flush));
}

static void on_close(struct pl_live *live, uint16_t code, const char *reason)
{
    struct attachment *at = (struct attachment *)live;
    (void)code, (void)reason;
    if (live->state == PL_LIVE_OVER)
        return;
    if (is_present(at)) {
        at->reader->is_attached = false;
        at->reader->at = NULL;
        at->reader->number = ++people.n_numbers;
    }
    pl_loop_hook_remove(live->shard->loop, &live->flush);
    live->shard->n_conns++; /* normally counted on accepting a connection, which is missing here */
    pl_live_deinit(live);
    live->flush.fn = free_over;
    pl_loop_hook_add(live->shard->loop, &live->flush);
}

static void close_later(struct pl_shard *shard, void *ctx)
{
    (void)shard;
    struct attachment *at = ctx;
    on_close(&at->live, 0, NULL);
}

static void on_subscribed(struct pl_live *live, struct pl_subscription *sub,
                          const struct pl_session_command *command, const char *mode)
{
    struct attachment *at = (struct attachment *)live;
    sub->is_acknowledged = true;
    if (!is_present(at))
        return;
    at->reader->told_epoch = command->epoch;
    at->reader->told_sequence = command->position;
    sim_trace("[%d] reader %zu listens from %lld:%lld (%s)", sim_owner(),
              (size_t)(at->reader - people.readers), (long long)command->epoch,
              (long long)command->position, mode);
}

/* It does not exist yet, or is unavailable: the client connects again later. */
static void on_refused(struct pl_live *live, struct pl_subscription *sub,
                       const struct pl_session_command *command)
{
    struct attachment *at = (struct attachment *)live;
    (void)sub;
    if (!is_present(at))
        return;
    sim_trace("[%d] reader %zu is refused: %s", sim_owner(), (size_t)(at->reader - people.readers),
              pl_problem_info(command->problem)->code);
    at->reader->is_attached = false; /* the next look closes the attachment */
}

static void beat(struct pl_live *live)
{
    (void)live;
}

static struct read_turn *turn_of(struct reader_view *view, const char *id)
{
    for (size_t i = 0; i < view->n_turns; i++)
        if (strcmp(view->turns[i].id, id) == 0)
            return &view->turns[i];
    if (view->n_turns == TURNS_MAX) {
        sim_fail("a reader has too many turns");
        view->n_turns = 0;
    }
    struct read_turn *turn = &view->turns[view->n_turns++];
    *turn = (struct read_turn){0};
    snprintf(turn->id, sizeof turn->id, "%s", id);
    return turn;
}

static void copy_text(const struct pl_json_doc *doc, const struct pl_json_node *node, char *to,
                      size_t size)
{
    struct pl_str raw =
        node && pl_json_is(node, PL_JSON_STRING) ? pl_json_raw(doc, node) : (struct pl_str){"", 0};
    snprintf(to, size, "%.*s", (int)raw.len, raw.ptr);
}

static const struct pl_json_node *get(const struct pl_json_doc *doc,
                                      const struct pl_json_node *object, const char *name)
{
    return object ? pl_json_get(doc, object, pl_str_of(name)) : NULL;
}

/* Blocks are separated by a bar. */
void people_turn_text(const struct pl_json_doc *doc, const struct pl_json_node *turn, char *to,
                      size_t size)
{
    const struct pl_json_node *blocks = get(doc, turn, "blocks");
    size_t n = 0;
    to[0] = '\0';
    if (!blocks)
        return;
    for (const struct pl_json_node *block = pl_json_first(blocks); block < pl_json_end(blocks);
         block = pl_json_next(block)) {
        /* In a row a text is a block by itself. */
        const struct pl_json_node *content =
            pl_json_is(block, PL_JSON_OBJECT) ? get(doc, block, "content") : block;
        struct pl_str text = content ? pl_json_span(doc, content) : PL_STR("");
        if (content && pl_json_is(content, PL_JSON_STRING))
            text = pl_json_raw(doc, content);
        n += (size_t)snprintf(to + n, size - n, "%s%.*s", n ? "|" : "", (int)text.len, text.ptr);
        if (n >= size)
            abort();
    }
}

static void take_turn(struct reader_view *view, const struct pl_json_doc *doc,
                      const struct pl_json_node *node)
{
    char id[64];
    copy_text(doc, get(doc, node, "turn_id"), id, sizeof id);
    struct read_turn *turn = turn_of(view, id);
    copy_text(doc, get(doc, node, "status"), turn->status, sizeof turn->status);
    people_turn_text(doc, node, turn->text, sizeof turn->text);
}

static void take_patch(struct reader_view *view, const struct pl_json_doc *doc)
{
    char id[64], type[32];
    copy_text(doc, get(doc, doc->root, "turn_id"), id, sizeof id);
    copy_text(doc, get(doc, doc->root, "patch_type"), type, sizeof type);
    const struct pl_json_node *data = get(doc, doc->root, "data");
    struct read_turn *turn = turn_of(view, id);
    if (strcmp(type, "set_status") == 0)
        copy_text(doc, get(doc, data, "status"), turn->status, sizeof turn->status);
    if (strcmp(type, "add_content") != 0)
        return;
    char delta[TEXT_MAX], whole[TEXT_MAX];
    copy_text(doc, get(doc, data, "text_delta"), delta, sizeof delta);
    copy_text(doc, get(doc, data, "content"), whole, sizeof whole);
    /* The simulated answers have one block of text. */
    if (get(doc, data, "content"))
        snprintf(turn->text, sizeof turn->text, "%s", whole);
    else if (strlen(turn->text) + strlen(delta) < sizeof turn->text)
        memcpy(turn->text + strlen(turn->text), delta, strlen(delta) + 1);
}

static void take_snapshot(struct reader_view *view, const struct pl_json_doc *doc)
{
    char mode[16];
    copy_text(doc, get(doc, doc->root, "mode"), mode, sizeof mode);
    const struct pl_json_node *turns = get(doc, doc->root, "turns");
    if (strcmp(mode, "snapshot") == 0)
        view->n_turns = 0;
    for (const struct pl_json_node *turn = pl_json_first(turns); turn < pl_json_end(turns);
         turn = pl_json_next(turn))
        take_turn(view, doc, turn);
}

static void take_event(struct reader *reader, const char *event, int64_t epoch, int64_t sequence,
                       struct pl_str data)
{
    struct reader_view *view = &reader->view;
    struct pl_arena arena PL_CLEANUP_ARENA;
    pl_arena_init(&arena, 0);
    struct pl_json_doc doc;
    if (pl_json_parse(&arena, data, &pl_json_own, &doc, NULL) != PL_OK) {
        sim_fail("a reader got what is not JSON: %.*s", (int)data.len, data.ptr);
        return;
    }
    bool is_snapshot = strcmp(event, "session:snapshot") == 0;
    size_t number = (size_t)(reader - people.readers);
    if (!is_snapshot && (epoch != view->epoch || sequence != view->sequence + 1)) {
        sim_fail("reader %zu at %lld:%lld got %lld:%lld (%s)", number, (long long)view->epoch,
                 (long long)view->sequence, (long long)epoch, (long long)sequence, event);
        return;
    }
    if (is_snapshot && epoch < view->epoch) {
        sim_fail("reader %zu of epoch %lld got a snapshot of %lld", number, (long long)view->epoch,
                 (long long)epoch);
        return;
    }
    bool is_live =
        !is_snapshot && (epoch != reader->told_epoch || sequence > reader->told_sequence);
    checks_heard(view->session, epoch, reader->machine, is_live);
    view->epoch = epoch;
    view->sequence = sequence;
    if (is_snapshot)
        take_snapshot(view, &doc);
    else if (strcmp(event, "turn:start") == 0 || strcmp(event, "turn:end") == 0)
        take_turn(view, &doc, get(&doc, doc.root, "turn"));
    else if (strcmp(event, "turn:patch") == 0)
        take_patch(view, &doc);
}

/* "id: E:S\nevent: NAME\ndata: JSON\n\n", several of them. */
static struct pl_str choose(struct pl_live *live, struct pl_str events)
{
    struct attachment *at = (struct attachment *)live;
    const char *from = events.ptr, *end = events.ptr + events.len;
    while (is_present(at) && from < end && !sim_failure()) {
        const char *stop = memmem(from, (size_t)(end - from), "\n\n", 2);
        long long epoch = -1, sequence = -1;
        char event[64] = "", head[128];
        snprintf(head, sizeof head, "%.*s", (int)(end - from < 120 ? end - from : 120), from);
        const char *data = memmem(from, (size_t)(end - from), "\ndata: ", 7);
        if (!stop || !data ||
            sscanf(head, "id: %lld:%lld\nevent: %63s", &epoch, &sequence, event) != 3) {
            sim_fail("a reader got what is no event: %.*s", (int)(end - from), from);
            break;
        }
        at->reader->heard_us = sim_now_us();
        take_event(at->reader, event, epoch, sequence,
                   (struct pl_str){data + 7, (size_t)(stop - data) - 7});
        from = stop + 2;
    }
    return (struct pl_str){0};
}

static const struct pl_live_kind kind = {
    .on_subscribed = on_subscribed,
    .on_refused = on_refused,
    .beat = beat,
    .close = on_close,
    .choose = choose,
};

struct attaching {
    struct reader *reader;
    uint64_t number;
};

static void attach(struct pl_shard *shard, void *ctx)
{
    struct attaching attaching = *(struct attaching *)ctx;
    pl_mem_free(ctx);
    struct reader *reader = attaching.reader;
    if (reader->number != attaching.number)
        return;
    struct attachment *at = pl_mem_alloc(1, sizeof *at);
    *at = (struct attachment){.reader = reader, .number = attaching.number};
    pl_live_init(&at->live, &kind, shard, NULL);
    pl_live_become(&at->live, PL_LIVE_OPEN);
    struct pl_caller caller = {.user_id = pl_str_of(people.user.text)};
    at->live.who = pl_live_who(&caller);
    reader->at = at;
    reader->is_asking = false;
    struct pl_since since = {reader->view.epoch >= 0, reader->view.epoch, reader->view.sequence};
    pl_live_subscribe(&at->live, pl_str_of(people.sessions[reader->view.session].text), PL_LANE_SSE,
                      since);
}

static void detach(struct reader *reader)
{
    if (reader->at && machine_life(reader->machine) == reader->life &&
        machine_server(reader->machine))
        machine_do(reader->machine, close_later, reader->at);
    reader->at = NULL;
    reader->is_attached = reader->is_asking = false;
    reader->number = ++people.n_numbers;
}

/* A reader whose node is gone, or is silent for long (no beats of the connection), moves to
 * another. */
static void look_at_readers(void)
{
    for (size_t i = 0; i < people.n_readers; i++) {
        struct reader *reader = &people.readers[i];
        bool is_lost = machine_life(reader->machine) != reader->life ||
                       machine_state(reader->machine) != MACHINE_SERVING ||
                       machine_is_frozen(reader->machine);
        if (reader->is_attached && !is_lost && !sim_one_in(400))
            continue;
        if (!people.is_made[reader->view.session])
            continue;
        detach(reader);
        size_t machine = any_machine(reader->machine);
        if (machine == SIZE_MAX)
            continue;
        reader->machine = machine;
        reader->life = machine_life(machine);
        reader->is_attached = true;
        struct attaching *attaching = sim_alloc(sizeof *attaching);
        *attaching = (struct attaching){reader, reader->number};
        machine_do(machine, attach, attaching);
    }
}

/* --- life ------------------------------------------------------------------------------------ */

static void look(void *ctx)
{
    (void)ctx;
    look_at_talkers();
    look_at_readers();
    sim_at(sim_now_us() + 150 * SIM_MS, look, NULL);
}

static struct pl_id make_id(const char *prefix)
{
    struct pl_id_seed seed = {.unix_ms = INT64_C(1790000000000),
                              .random = {sim_random(), sim_random()}};
    return pl_id_take(&seed, prefix);
}

/* The hexadecimal digits of its UUID equal its bytes in the store. */
static void make_user(void)
{
    char text[160];
    people.user = make_id("user_");
    int n = snprintf(text, sizeof text,
                     "INSERT INTO users (id, name, is_admin, created_ms) VALUES (x'");
    for (const char *c = people.user.text + 5; *c; c++)
        if (*c != '-')
            text[n++] = *c;
    snprintf(text + n, sizeof text - (size_t)n, "', 'somebody', 0, 1)");
    int owner = sim_set_owner(SIM_PROCESS);
    if (sqlite3_exec(base_rows(), text, NULL, NULL, NULL) != SQLITE_OK)
        abort();
    sim_set_owner(owner);
}

void people_begin(size_t n_sessions, size_t n_readers, size_t n_talkers, size_t n_long)
{
    /* Readers are large; they are cleared only as far as they are used. */
    memset(&people, 0, offsetof(struct people, readers));
    memset(people.readers, 0, n_readers * sizeof *people.readers);
    people.n_sessions = n_sessions;
    people.n_readers = n_readers;
    people.n_talkers = n_talkers;
    people.n_long = n_long;
    make_user();
    for (size_t i = 0; i < n_sessions; i++)
        people.sessions[i] = make_id("sess_");
    for (size_t i = 0; i < n_readers; i++)
        people.readers[i].view =
            (struct reader_view){.session = i % n_sessions, .epoch = -1, .sequence = -1};
    for (size_t i = 0; i < n_talkers; i++) {
        people.talkers[i].only = SIZE_MAX;
        sim_at(sim_now_us() + sim_between(1, 500) * SIM_MS, talk, &people.talkers[i]);
    }
    sim_at(sim_now_us(), look, NULL);
}

void people_hush(void)
{
    people.is_hushed = true;
}

void people_probe(void)
{
    size_t at = TALKERS_MAX;
    for (size_t i = 0; i < MACHINES_MAX; i++)
        for (size_t k = 0; k < people.n_sessions; k++) {
            struct talker *talker = &people.talkers[at++];
            if (!machine_server(i) || machine_is_frozen(i))
                continue;
            *talker = (struct talker){.only = i, .session = k, .n_left = 1};
            talk(talker);
        }
}

bool people_are_done(void)
{
    for (size_t i = 0; i < people.n_said; i++)
        if (!people.said[i].is_acknowledged)
            return false;
    for (size_t i = 0; i < sizeof people.talkers / sizeof *people.talkers; i++)
        if (people.talkers[i].is_busy)
            return false;
    return true;
}

void people_say_missing(void)
{
    for (size_t i = 0; i < people.n_said; i++)
        if (!people.said[i].is_acknowledged)
            sim_trace("not acknowledged: %s in session %zu", people.said[i].id,
                      people.said[i].session);
}
