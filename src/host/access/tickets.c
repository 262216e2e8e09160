/* Tickets for sockets, and the one-time code of the first start: secrets in memory, or in rows if
 * several nodes share the store.
 *
 *     edges first_code
 *
 *     NONE -> OPEN                no administrator has a key
 *     OPEN -> TAKEN -> OPEN       the key could not be made
 *     OPEN, TAKEN -> OVER         an administrator has a key, however made; or the hour is over */
#include "access/auth_int.h"

#include "io/clock.h"
#include "store/node/shared.h"

#include <assert.h>
#include <sodium/crypto_verify_32.h>

enum { MAX_USER_TICKETS = 64, TICKET_MS = 30000 };

#define TO(name) (1u << PL_FIRST_CODE_##name)
static const unsigned first_code_edges[] = {
    [PL_FIRST_CODE_NONE] = TO(OPEN),
    [PL_FIRST_CODE_OPEN] = TO(TAKEN) | TO(OVER),
    [PL_FIRST_CODE_TAKEN] = TO(OPEN) | TO(OVER),
    [PL_FIRST_CODE_OVER] = 0,
};
#undef TO

void pl_auth_first_code_become(struct pl_auth *auth, enum pl_first_code to)
{
    assert(first_code_edges[auth->first_code_state] >> to & 1);
    auth->first_code_state = to;
}

/* --- tickets --------------------------------------------------------------------------------- */

/* A place for one more ticket of this user: a free one, or that of the user's oldest ticket if the
 * user has many or no place is free. A user never displaces another user's tickets. NULL: others
 * hold all places. */
static struct pl_auth_ticket *ticket_place(struct pl_auth *auth, struct pl_str user_id,
                                           int64_t now_ms)
{
    struct pl_auth_ticket *empty = NULL, *oldest = NULL;
    size_t n_own = 0;
    for (size_t i = 0; i < PL_MAX_TICKETS; i++) {
        struct pl_auth_ticket *ticket = &auth->tickets[i];
        if (ticket->until_ms <= now_ms) {
            empty = empty ? empty : ticket;
        } else if (pl_str_eq(pl_str_of(ticket->user_id), user_id)) {
            n_own++;
            if (!oldest || ticket->number < oldest->number)
                oldest = ticket;
        }
    }
    return empty && n_own < MAX_USER_TICKETS ? empty : oldest;
}

bool pl_auth_is_shared(const struct pl_auth *auth)
{
    return auth->store != NULL;
}

static enum pl_status make_row(struct pl_auth *auth, const struct pl_caller *caller,
                               struct pl_str text)
{
    struct pl_ticket_row row = {.user_id = caller->user_id, .key_id = caller->key_id};
    pl_secret_hash(text, row.hash);
    return pl_store_ticket_put(auth->store, &row, TICKET_MS, MAX_USER_TICKETS, NULL);
}

static enum pl_status take_row(struct pl_auth *auth, struct pl_arena *arena, const uint8_t hash[32],
                               struct pl_caller *ret_caller)
{
    struct pl_ticket_row row;
    enum pl_status status = pl_store_ticket_take(auth->store, arena, hash, &row, NULL);
    if (status != PL_OK)
        return status;
    /* Another node may have just created the key. If the refresh fails, the table in memory
     * decides. */
    (void)pl_auth_refresh(auth, NULL, NULL);
    return pl_auth_caller_of(auth, arena, row.user_id, row.key_id, pl_clock_unix_ms(), ret_caller);
}

enum pl_status pl_auth_ticket_make(struct pl_auth *auth, const struct pl_caller *caller,
                                   int64_t now_ms, char ret_ticket[PL_TICKET_SIZE + 1])
{
    char text[PL_TICKET_SIZE + 1];
    if (!pl_secret_make(text))
        return PL_NOMEM;
    if (auth->store) {
        enum pl_status status = make_row(auth, caller, (struct pl_str){text, PL_TICKET_SIZE});
        memcpy(ret_ticket, text, sizeof text);
        return status;
    }
    pthread_mutex_lock(&auth->tickets_lock);
    struct pl_auth_ticket *ticket = ticket_place(auth, caller->user_id, now_ms);
    if (!ticket) {
        pthread_mutex_unlock(&auth->tickets_lock);
        return PL_LIMIT;
    }
    pl_secret_hash((struct pl_str){text, PL_TICKET_SIZE}, ticket->hash);
    pl_auth_copy_text(ticket->user_id, sizeof ticket->user_id, caller->user_id);
    pl_auth_copy_text(ticket->key_id, sizeof ticket->key_id, caller->key_id);
    ticket->until_ms = now_ms + TICKET_MS;
    ticket->number = auth->n_tickets_made++;
    pthread_mutex_unlock(&auth->tickets_lock);
    memcpy(ret_ticket, text, sizeof text);
    return PL_OK;
}

enum pl_status pl_auth_ticket_take(struct pl_auth *auth, struct pl_arena *arena, struct pl_str text,
                                   int64_t now_ms, struct pl_caller *ret_caller)
{
    uint8_t hash[32];
    struct pl_auth_ticket found = {0};
    if (text.len != PL_TICKET_SIZE)
        return PL_NOT_FOUND;
    pl_secret_hash(text, hash);
    if (auth->store)
        return take_row(auth, arena, hash, ret_caller);
    pthread_mutex_lock(&auth->tickets_lock);
    for (size_t i = 0; i < PL_MAX_TICKETS; i++) {
        struct pl_auth_ticket *ticket = &auth->tickets[i];
        if (ticket->until_ms <= now_ms || crypto_verify_32(ticket->hash, hash) != 0)
            continue;
        found = *ticket;
        ticket->until_ms = 0;
        break;
    }
    pthread_mutex_unlock(&auth->tickets_lock);
    if (found.until_ms <= now_ms)
        return PL_NOT_FOUND;
    return pl_auth_caller_of(auth, arena, pl_str_of(found.user_id), pl_str_of(found.key_id),
                             pl_clock_unix_ms(), ret_caller);
}

/* --- the first start ------------------------------------------------------------------------- */

const char *pl_auth_first_code(const struct pl_auth *auth)
{
    return auth->first_code[0] ? auth->first_code : NULL;
}

bool pl_auth_first_code_is_open(struct pl_auth *auth, int64_t unix_ms)
{
    pthread_mutex_lock(&auth->tickets_lock);
    bool is_open =
        auth->first_code_state == PL_FIRST_CODE_OPEN && unix_ms < auth->first_code_until_ms;
    pthread_mutex_unlock(&auth->tickets_lock);
    return is_open;
}

static bool is_same(struct pl_str a, struct pl_str b)
{
    uint8_t one[32], other[32];
    pl_secret_hash(a, one);
    pl_secret_hash(b, other);
    return crypto_verify_32(one, other) == 0;
}

/* The row decides: another node may have started later, or an administrator may have a key. */
static bool take_code_row(struct pl_auth *auth, struct pl_str given)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_str right = {0};
    int64_t lasts_ms = 0;
    pl_arena_init(&arena, 0);
    return pl_store_login_code_get(auth->store, &arena, &right, &lasts_ms, NULL) == PL_OK &&
           is_same(given, right) && pl_store_login_code_take(auth->store, right, NULL) == PL_OK;
}

enum pl_status pl_auth_share_first_code(struct pl_auth *auth, struct pl_error *err)
{
    PL_CLEANUP_ARENA struct pl_arena arena;
    struct pl_str code = {0};
    int64_t lasts_ms = 0;
    if (!auth->store || auth->first_code_state != PL_FIRST_CODE_OPEN)
        return PL_OK;
    pl_arena_init(&arena, 0);
    enum pl_status status =
        pl_store_login_code_put(auth->store, pl_str_of(auth->first_code), PL_FIRST_CODE_MS, err);
    if (status == PL_OK)
        status = pl_store_login_code_get(auth->store, &arena, &code, &lasts_ms, err);
    if (status == PL_OK)
        pl_auth_copy_text(auth->first_code, sizeof auth->first_code, code);
    return status;
}

bool pl_auth_take_first_code(struct pl_auth *auth, struct pl_str code, int64_t now_ms)
{
    uint8_t given[32], right[32];
    pl_secret_hash(code, given);
    pthread_mutex_lock(&auth->tickets_lock);
    pl_secret_hash(pl_str_of(auth->first_code), right);
    if (auth->first_code_state == PL_FIRST_CODE_OPEN && now_ms >= auth->first_code_until_ms)
        pl_auth_first_code_become(auth, PL_FIRST_CODE_OVER);
    if (auth->store) {
        bool is_open = auth->first_code_state == PL_FIRST_CODE_OPEN;
        pthread_mutex_unlock(&auth->tickets_lock);
        return is_open && take_code_row(auth, code);
    }
    bool is_right =
        auth->first_code_state == PL_FIRST_CODE_OPEN && crypto_verify_32(given, right) == 0;
    if (is_right)
        pl_auth_first_code_become(auth, PL_FIRST_CODE_TAKEN);
    pthread_mutex_unlock(&auth->tickets_lock);
    return is_right;
}

void pl_auth_return_first_code(struct pl_auth *auth)
{
    if (auth->store) {
        (void)pl_store_login_code_put(auth->store, pl_str_of(auth->first_code), PL_FIRST_CODE_MS,
                                      NULL);
        return;
    }
    pthread_mutex_lock(&auth->tickets_lock);
    if (auth->first_code_state == PL_FIRST_CODE_TAKEN)
        pl_auth_first_code_become(auth, PL_FIRST_CODE_OPEN);
    pthread_mutex_unlock(&auth->tickets_lock);
}

void pl_auth_end_first_code(struct pl_auth *auth)
{
    pthread_mutex_lock(&auth->tickets_lock);
    if (auth->first_code_state == PL_FIRST_CODE_OPEN ||
        auth->first_code_state == PL_FIRST_CODE_TAKEN)
        pl_auth_first_code_become(auth, PL_FIRST_CODE_OVER);
    pthread_mutex_unlock(&auth->tickets_lock);
}
