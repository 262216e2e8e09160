/* Checks the guarantees on the rows of the database: see checks.h.
 *
 * After every transaction: epochs, generations, versions and positions of sessions only grow; a
 * change of a session was written by its owner, and not by a node that was taken over. At the end:
 * every acknowledged message is stored once, any other at most once; every reader has exactly the
 * turns of the store. */
#include "checks.h"

#include "base.h"
#include "json/json.h"
#include "kernel.h"
#include "machine.h"
#include "people.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct row {
    bool is_there, has_owner, is_running;
    int64_t epoch, generation, version, next_event;
    int64_t epoch_us; /* start of this epoch */
    struct pl_node_id owner;
};

static struct row rows_before[SESSIONS_MAX];
static int64_t ended_us; /* when the last session became idle */
static int n_taken;      /* nodes that are gone */
static void (*tell_taken)(void);
static char why[200];

static void bind_session(sqlite3_stmt *stmt, size_t session)
{
    unsigned char id[16];
    size_t n = 0;
    for (const char *c = people_session_id(session) + 5; *c && n < 32; c++) {
        if (*c == '-')
            continue;
        unsigned digit = (unsigned)(*c <= '9' ? *c - '0' : *c - 'a' + 10);
        id[n / 2] = (unsigned char)(n % 2 ? id[n / 2] << 4 | digit : digit);
        n++;
    }
    sqlite3_bind_blob(stmt, 1, id, sizeof id, SQLITE_TRANSIENT);
}

static struct row read_row(sqlite3_stmt *stmt, size_t session)
{
    struct row row = {0};
    bind_session(stmt, session);
    if (sqlite3_step(stmt) == SQLITE_ROW) {
        row.is_there = true;
        row.epoch = sqlite3_column_int64(stmt, 0);
        row.generation = sqlite3_column_int64(stmt, 1);
        row.version = sqlite3_column_int64(stmt, 2);
        row.next_event = sqlite3_column_int64(stmt, 3);
        row.has_owner = sqlite3_column_bytes(stmt, 4) == sizeof row.owner.bytes;
        row.is_running = sqlite3_column_int64(stmt, 5);
        if (row.has_owner)
            memcpy(row.owner.bytes, sqlite3_column_blob(stmt, 4), sizeof row.owner.bytes);
    }
    sqlite3_reset(stmt);
    return row;
}

static bool is_gone(const struct pl_node_id *writer)
{
    sqlite3_stmt *stmt = base_statement("SELECT is_gone FROM commits WHERE writer = ?1");
    sqlite3_bind_blob(stmt, 1, writer->bytes, sizeof writer->bytes, SQLITE_STATIC);
    bool is_gone = sqlite3_step(stmt) == SQLITE_ROW && sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return is_gone;
}

static void compare(size_t i, const struct row *a, const struct row *b,
                    const struct pl_node_id *writer)
{
    if (!a->is_there)
        return;
    if (!b->is_there) {
        sim_fail("session %zu is not there any more", i);
        return;
    }
    if (b->epoch < a->epoch || b->generation < a->generation || b->version < a->version ||
        (b->epoch == a->epoch && b->next_event < a->next_event))
        sim_fail(
            "session %zu went back: epoch %lld to %lld, generation %lld to %lld, version %lld to "
            "%lld, next event %lld to %lld",
            i, (long long)a->epoch, (long long)b->epoch, (long long)a->generation,
            (long long)b->generation, (long long)a->version, (long long)b->version,
            (long long)a->next_event, (long long)b->next_event);
    bool has_changed =
        b->epoch != a->epoch || b->version != a->version || b->next_event != a->next_event;
    if (!has_changed || pl_node_id_is_zero(writer))
        return;
    bool was_owner = a->has_owner && pl_node_id_eq(&a->owner, writer);
    bool is_owner = b->has_owner && pl_node_id_eq(&b->owner, writer);
    /* The node that settles a session takes it and releases it in one transaction. */
    bool was_free = b->generation > a->generation && (!a->has_owner || is_gone(&a->owner));
    if (!was_owner && !is_owner && !was_free)
        sim_fail("session %zu was changed by a node that does not own it", i);
}

static void look_for_taken(void)
{
    sqlite3_stmt *stmt = base_statement("SELECT count(*) FROM commits WHERE is_gone = 1");
    int n = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int(stmt, 0) : 0;
    sqlite3_reset(stmt);
    if (n > n_taken)
        tell_taken();
    n_taken = n;
}

static void on_commit(const struct pl_node_id *writer)
{
    int owner = sim_set_owner(SIM_PROCESS);
    if (!pl_node_id_is_zero(writer) && is_gone(writer))
        sim_fail("a node that was taken over has written");
    sqlite3_stmt *stmt =
        base_statement("SELECT epoch, generation, version, next_event, owner, status = 'running' "
                       "FROM sessions WHERE id = ?1");
    for (size_t i = 0; i < people_n_sessions(); i++) {
        struct row row = read_row(stmt, i);
        compare(i, &rows_before[i], &row, writer);
        row.epoch_us = row.epoch == rows_before[i].epoch ? rows_before[i].epoch_us : sim_now_us();
        if (rows_before[i].is_running && !row.is_running)
            ended_us = sim_now_us();
        rows_before[i] = row;
    }
    look_for_taken();
    sim_set_owner(owner);
}

void checks_begin(void (*on_taken)(void))
{
    tell_taken = on_taken;
    n_taken = 0;
    memset(rows_before, 0, sizeof rows_before);
    ended_us = 0;
    base_on_commit = on_commit;
}

/* Frames in transit when a session gets a new epoch may still arrive, and so may those in a node's
 * memory when its lease ran out. */
enum { OLD_FRAMES_MS = 1500, LAST_FRAMES_MS = 200 };

/* The time since the lease of a machine's last process ran out, by the clock of the database that
 * granted it. */
static int64_t lapsed_ms(size_t machine)
{
    sqlite3_stmt *stmt =
        base_statement("SELECT sim_base_ms() - max(until_ms) FROM nodes WHERE name = ?1");
    char name[16];
    int owner = sim_set_owner(SIM_PROCESS);
    int n = snprintf(name, sizeof name, "node-%d", machine_owner(machine));
    sqlite3_bind_text(stmt, 1, name, n, SQLITE_STATIC);
    int64_t ms = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_reset(stmt);
    sim_set_owner(owner);
    return ms;
}

void checks_heard(size_t session, int64_t epoch, size_t machine, bool is_live)
{
    const struct row *row = &rows_before[session];
    if (epoch < row->epoch && sim_now_us() - row->epoch_us > (int64_t)OLD_FRAMES_MS * SIM_MS)
        sim_fail("a reader heard of epoch %lld of session %zu, which is in %lld for long",
                 (long long)epoch, session, (long long)row->epoch);
    int64_t ms = is_live ? lapsed_ms(machine) : 0;
    if (ms > LAST_FRAMES_MS)
        sim_fail("a reader of session %zu hears node %d, whose lease ran out %lld ms ago", session,
                 machine_owner(machine), (long long)ms);
}

bool checks_has_session(size_t session)
{
    return rows_before[session].is_there;
}

/* --- idle ------------------------------------------------------------------------------------ */

static int64_t count(const char *text)
{
    int owner = sim_set_owner(SIM_PROCESS);
    sqlite3_stmt *stmt = base_statement(text);
    int64_t n = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;
    sqlite3_reset(stmt);
    sim_set_owner(owner);
    return n;
}

bool checks_has_ended(void)
{
    enum { ENDED_MS = 40 };
    return ended_us && sim_now_us() - ended_us < ENDED_MS * SIM_MS;
}

bool checks_are_at_rest(void)
{
    int64_t n_running = count("SELECT count(*) FROM sessions WHERE status = 'running'");
    int64_t n_open = count("SELECT count(*) FROM turns WHERE status IN ('streaming', 'paused')");
    int64_t n_queued = count("SELECT count(*) FROM queued");
    snprintf(why, sizeof why, "%lld sessions run, %lld turns are open, %lld messages wait",
             (long long)n_running, (long long)n_open, (long long)n_queued);
    return !n_running && !n_open && !n_queued;
}

const char *checks_why_not_at_rest(void)
{
    return why;
}

/* --- at the end ------------------------------------------------------------------------------ */

static void check_said(void)
{
    sqlite3_stmt *stmt = base_statement("SELECT count(*) FROM turns WHERE client_message_id = ?1");
    for (size_t i = 0; i < people_n_said(); i++) {
        const struct said *said = people_said(i);
        sqlite3_bind_text(stmt, 1, said->id, -1, SQLITE_STATIC);
        int64_t n = sqlite3_step(stmt) == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : -1;
        sqlite3_reset(stmt);
        if (n > 1 || (!n && said->is_acknowledged))
            sim_fail("%s was %s and is stored %lld times", said->id,
                     said->is_acknowledged ? "acknowledged" : "said", (long long)n);
    }
    sqlite3_reset(stmt);
}

/* Reads the stored turns of a session; returns their number. */
static size_t read_turns(size_t session, struct read_turn *to)
{
    sqlite3_stmt *stmt = base_statement(
        "SELECT lower(hex(t.id)), t.status, t.body FROM turns AS t JOIN sessions AS s ON "
        "s.key = t.session WHERE s.id = ?1 ORDER BY t.sequence");
    size_t n = 0;
    bind_session(stmt, session);
    while (n < TURNS_MAX && sqlite3_step(stmt) == SQLITE_ROW) {
        struct read_turn *turn = &to[n++];
        const char *hex = (const char *)sqlite3_column_text(stmt, 0);
        snprintf(turn->id, sizeof turn->id, "turn_%.8s-%.4s-%.4s-%.4s-%.12s", hex, hex + 8,
                 hex + 12, hex + 16, hex + 20);
        snprintf(turn->status, sizeof turn->status, "%s",
                 (const char *)sqlite3_column_text(stmt, 1));
        struct pl_arena arena;
        pl_arena_init(&arena, 0);
        struct pl_json_doc doc;
        struct pl_str body = {sqlite3_column_blob(stmt, 2), (size_t)sqlite3_column_bytes(stmt, 2)};
        if (pl_json_parse(&arena, body, &pl_json_own, &doc, NULL) == PL_OK)
            people_turn_text(&doc, doc.root, turn->text, sizeof turn->text);
        else
            sim_fail("the body of a turn is not JSON");
        pl_arena_deinit(&arena);
    }
    sqlite3_reset(stmt);
    return n;
}

static void check_reader(size_t number)
{
    static struct read_turn stored[TURNS_MAX];
    const struct reader_view *view = people_reader(number);
    size_t n = read_turns(view->session, stored);
    if (n != view->n_turns) {
        sim_fail("reader %zu of session %zu has %zu turns, the store %zu", number, view->session,
                 view->n_turns, n);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        const struct read_turn *a = &stored[i], *b = NULL;
        for (size_t k = 0; k < n; k++)
            if (strcmp(view->turns[k].id, a->id) == 0)
                b = &view->turns[k];
        if (!b || strcmp(a->status, b->status) != 0 || strcmp(a->text, b->text) != 0) {
            sim_fail(
                "reader %zu of session %zu: turn %s is \"%.80s\" (%s), in the store \"%.80s\" (%s)",
                number, view->session, a->id, b ? b->text : "", b ? b->status : "missing", a->text,
                a->status);
            return;
        }
    }
}

void checks_at_the_end(bool is_unmoved)
{
    int owner = sim_set_owner(SIM_PROCESS);
    check_said();
    for (size_t i = 0; i < people_n_readers(); i++)
        check_reader(i);
    if (is_unmoved && count("SELECT count(*) FROM commits WHERE is_gone = 1"))
        sim_fail("a node was taken over although no node had a fault");
    sim_set_owner(owner);
}
