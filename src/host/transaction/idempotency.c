/* Idempotency-Key: the same request sent twice has one effect and one answer, for 24 hours.
 *
 * A key is claimed in two places. While its request runs, the key is in a list in memory, and a
 * second request gets 409. Its row is committed in the transaction of the change, with the answer,
 * so a client that retries after a crash gets that answer. A refused request leaves no row: it may
 * be sent again.
 *
 * Some answers contain values that only the database assigns (the number of a memory). Their row
 * first has the seed of the new ids; the answer is stored before it is sent. After a crash in
 * between, the route runs again, changes nothing, and answers from the store (is_done).
 *
 * Secrets are not stored: a repeated answer has null in their place (kept_reply).
 *
 *     machine claim
 *
 *     NONE -> LISTED -> CLAIMED -> ANSWERED -> ENDED
 *     LISTED -> ANSWERED                  the answer is known with the deed
 *     CLAIMED, ANSWERED -> LISTED         the deed was not committed: it is tried again
 *     LISTED, CLAIMED -> ENDED */
#include "transaction/idempotency.h"

#include "base/mem.h"
#include "http/routes/route.h"
#include "io/clock.h"
#include "io/move.h"
#include "shard/log.h"
#include "transaction/claim_row.h"

#include <pthread.h>
#include <sodium/crypto_generichash.h>

#define TO(name) PL_TO(PL_CLAIM_##name)
#define WITH_X   "the exchange ends it before it sends its answer"
static const struct pl_state states[] = {
    [PL_CLAIM_NONE] = {"none", TO(LISTED), PL_WAIT_OPEN, PL_CANCEL_NONE,
                       .why = "most requests stay here: they have no key"},
    [PL_CLAIM_LISTED] = {"listed", TO(CLAIMED) | TO(ANSWERED) | TO(ENDED), PL_WAIT_OPEN,
                         PL_CANCEL_NONE, .why = WITH_X},
    [PL_CLAIM_CLAIMED] = {"claimed", TO(ANSWERED) | TO(LISTED) | TO(ENDED), PL_WAIT_OPEN,
                          PL_CANCEL_NONE, .why = WITH_X},
    [PL_CLAIM_ANSWERED] = {"answered", TO(LISTED) | TO(ENDED), PL_WAIT_OPEN, PL_CANCEL_NONE,
                           .why = WITH_X},
    [PL_CLAIM_ENDED] = {"ended", 0},
};
#undef TO
static const struct pl_machine machine = PL_MACHINE("claim", states);

static void become(struct pl_claim *claim, enum pl_claim_state to)
{
    claim->state = (enum pl_claim_state)pl_move(&machine, claim, claim->state, to);
}

bool pl_claim_has_row(const struct pl_claim *claim)
{
    return claim->state == PL_CLAIM_CLAIMED || claim->state == PL_CLAIM_ANSWERED;
}

void pl_claim_forget_row(struct pl_claim *claim)
{
    if (pl_claim_has_row(claim))
        become(claim, PL_CLAIM_LISTED);
}

/* Whether its answer may still be added to a batch. */
static bool is_open(const struct pl_claim *claim)
{
    return claim->state == PL_CLAIM_LISTED || claim->state == PL_CLAIM_CLAIMED;
}

/* Whether its request is running. */
static bool is_listed(const struct pl_claim *claim)
{
    return claim->state != PL_CLAIM_NONE && claim->state != PL_CLAIM_ENDED;
}

struct pl_claims {
    pthread_mutex_t lock;
    struct pl_claim *first; /* borrowed from their exchanges; under the lock */
};

struct pl_claims *pl_claims_create(void)
{
    struct pl_claims *claims = pl_mem_alloc(1, sizeof *claims);
    if (!claims)
        return NULL;
    claims->first = NULL;
    pthread_mutex_init(&claims->lock, NULL);
    return claims;
}

void pl_claims_destroy(struct pl_claims *claims)
{
    if (!claims)
        return;
    pthread_mutex_destroy(&claims->lock);
    pl_mem_free(claims);
}

static void add_part(crypto_generichash_state *state, struct pl_str part)
{
    uint64_t n = part.len;
    crypto_generichash_update(state, (const unsigned char *)&n, sizeof n);
    crypto_generichash_update(state, (const unsigned char *)part.ptr, part.len);
}

/* Hashes method, target and body, each with its length, so that no byte can move from one to the
 * next. */
static void hash_request(struct pl_exchange *x, uint8_t ret_hash[32])
{
    struct pl_str digest = pl_exchange_body_digest(x);
    crypto_generichash_state state;
    crypto_generichash_init(&state, NULL, 0, 32);
    add_part(&state, pl_str_of(pl_method_text(x->method)));
    add_part(&state, x->head->target);
    add_part(&state, digest.len ? digest : x->body_text);
    crypto_generichash_final(&state, ret_hash, 32);
}

static bool is_same(const struct pl_claim *a, const struct pl_claim *b)
{
    return pl_str_eq(a->user_id, b->user_id) && pl_str_eq(a->key, b->key);
}

/* Adds the claim to the list of running requests; false if the same key is there. */
static bool enlist(struct pl_claims *claims, struct pl_claim *claim)
{
    bool is_free = true;
    pthread_mutex_lock(&claims->lock);
    for (struct pl_claim *other = claims->first; other && is_free; other = other->next)
        is_free = !is_same(other, claim);
    if (is_free) {
        claim->prev = NULL;
        claim->next = claims->first;
        if (claim->next)
            claim->next->prev = claim;
        claims->first = claim;
        become(claim, PL_CLAIM_LISTED);
    }
    pthread_mutex_unlock(&claims->lock);
    return is_free;
}

static void end(struct pl_exchange *x)
{
    struct pl_claim *claim = pl_exchange_claim(x);
    if (!is_listed(claim))
        return;
    struct pl_claims *claims = x->shard->server->claims;
    pthread_mutex_lock(&claims->lock);
    if (claim->prev)
        claim->prev->next = claim->next;
    else
        claims->first = claim->next;
    if (claim->next)
        claim->next->prev = claim->prev;
    become(claim, PL_CLAIM_ENDED);
    pthread_mutex_unlock(&claims->lock);
}

static bool is_key(struct pl_str key)
{
    if (key.len > PL_IDEMPOTENCY_MAX_KEY)
        return false;
    for (size_t i = 0; i < key.len; i++)
        if (key.ptr[i] < 0x20 || key.ptr[i] > 0x7E)
            return false;
    return key.len > 0;
}

/* The same request is running, here or on another node. */
static void say_running(struct pl_exchange *x)
{
    pl_exchange_problem(x, PL_PROBLEM_REQUEST_RUNNING, NULL,
                        "A request with this Idempotency-Key is still running; try again in a "
                        "moment.");
}

static bool begin(struct pl_exchange *x, bool *ret_has_key)
{
    struct pl_claim *claim = pl_exchange_claim(x);
    struct pl_str key = pl_http_header_get(x->head, "idempotency-key");
    *ret_has_key = key.ptr != NULL;
    if (!key.ptr)
        return true;
    if (!is_key(key)) {
        pl_exchange_problem(x, PL_PROBLEM_INVALID_REQUEST, NULL,
                            "An Idempotency-Key has 1 to %d printable ASCII characters.",
                            PL_IDEMPOTENCY_MAX_KEY);
        return false;
    }
    claim->user_id = x->caller.user_id;
    claim->key = key;
    hash_request(x, claim->request_hash);
    if (enlist(x->shard->server->claims, claim))
        return true;
    say_running(x);
    return false;
}

/* Reads the form that claim_row.c writes. Rows of earlier versions have no "*" and no headers. */
static struct pl_str cut(struct pl_str *text, const char *mark)
{
    size_t n = strlen(mark);
    const char *end = text->len ? memmem(text->ptr, text->len, mark, n) : NULL;
    size_t at = end ? (size_t)(end - text->ptr) : text->len;
    struct pl_str before = pl_str_slice(*text, 0, at);
    *text = pl_str_slice(*text, end ? at + n : at, text->len);
    return before;
}

static void replay(struct pl_exchange *x, const struct pl_idempotency_row *row)
{
    struct pl_str rest = row->answer;
    bool has_headers = rest.len && rest.ptr[0] == '*';
    rest = pl_str_slice(rest, has_headers, rest.len);
    struct pl_str type = cut(&rest, "\n");
    char *content_type = pl_arena_zalloc(&x->arena, type.len + 1, 1);
    if (!content_type) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        return;
    }
    memcpy(content_type, type.ptr, type.len);
    x->content_type = content_type;
    x->status = (int)row->status;
    for (struct pl_str line; has_headers && (line = cut(&rest, "\r\n")).len;) {
        pl_buf_add(&x->headers, line);
        pl_buf_adds(&x->headers, "\r\n");
    }
    pl_buf_add(&x->reply, rest);
    pl_exchange_header(x, "Idempotency-Replayed", "true");
    x->is_replayed = true;
}

#define SEED_SIGN UINT64_C(0x64656573) /* "seed" */

static bool read_seed(struct pl_str text, struct pl_claim *claim)
{
    struct pl_kept_seed kept = {0};
    if (text.len != sizeof kept && text.len != offsetof(struct pl_kept_seed, note))
        return false;
    memcpy(&kept, text.ptr, text.len);
    claim->note = kept.note;
    claim->seed = (struct pl_id_seed){.unix_ms = kept.unix_ms};
    memcpy(claim->seed.random, kept.random, sizeof kept.random);
    return kept.sign == SEED_SIGN;
}

struct pl_id_seed pl_claim_seed(struct pl_exchange *x)
{
    struct pl_claim *claim = pl_exchange_claim(x);
    if (!claim->is_done)
        claim->seed = pl_shard_seed(x->shard);
    return claim->seed;
}

/* The change was made, but its answer is missing. */
static void retell(struct pl_exchange *x, const struct pl_idempotency_row *row)
{
    struct pl_claim *claim = pl_exchange_claim(x);
    claim->is_done = x->route->flags & PL_ROUTE_RETELLS && read_seed(row->answer, claim);
    if (claim->is_done)
        become(claim, PL_CLAIM_CLAIMED);
    else
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "This request was begun, but the server ended before the answer; check "
                            "what it created.");
}

static void say_other(struct pl_exchange *x)
{
    pl_exchange_problem(x, PL_PROBLEM_IDEMPOTENCY_MISMATCH, NULL,
                        "This Idempotency-Key was used for another request; use a new one.");
}

static void look(struct pl_exchange *x)
{
    struct pl_claim *claim = pl_exchange_claim(x);
    struct pl_idempotency_row row;
    struct pl_error err = {0};
    enum pl_status status = pl_store_idempotency_get(x->shard->server->store, &x->arena,
                                                     claim->user_id, claim->key, &row, &err);
    if (status == PL_NOT_FOUND)
        return;
    if (status != PL_OK) {
        pl_exchange_fail(x, status, &err);
        return;
    }
    claim->is_expired = row.created_ms + PL_IDEMPOTENCY_KEPT_MS <= pl_clock_unix_ms();
    if (claim->is_expired)
        return;
    if (!pl_str_eq(row.request_hash, (struct pl_str){(const char *)claim->request_hash, 32}))
        say_other(x);
    else if (row.status == 0 && row.is_elsewhere)
        say_running(x);
    else if (row.status == 0)
        retell(x, &row);
    else
        replay(x, &row);
}

/* Another node ran the same request first: send its answer. Without a row something else failed,
 * and our answer stays. On a worker. */
static void look_for_winner(struct pl_exchange *x)
{
    const struct pl_claim *claim = pl_exchange_claim(x);
    struct pl_str hash = {(const char *)claim->request_hash, 32};
    struct pl_idempotency_row row;
    if (pl_store_idempotency_get(x->shard->server->store, &x->arena, claim->user_id, claim->key,
                                 &row, NULL) != PL_OK ||
        row.created_ms + PL_IDEMPOTENCY_KEPT_MS <= pl_clock_unix_ms())
        return;
    if (!pl_str_eq(row.request_hash, hash)) {
        say_other(x);
    } else if (row.status == 0) {
        say_running(x);
    } else {
        x->is_problem = false;
        pl_buf_clear(&x->reply);
        pl_buf_clear(&x->headers);
        replay(x, &row);
    }
}

bool pl_claim_again(struct pl_exchange *x)
{
    struct pl_claim *claim = pl_exchange_claim(x);
    pl_claim_forget_row(claim);
    if (is_listed(claim))
        look(x);
    if (x->is_replayed || x->is_problem)
        return false;
    pl_buf_clear(&x->reply);
    pl_buf_clear(&x->headers);
    return true;
}

/* 0: no answer is to be stored. */
static int64_t answer_status(const struct pl_exchange *x)
{
    return x->is_problem || pl_exchange_is_read_from(x) ? 0 : x->status;
}

/* False: there is no answer yet, or it is too long to be stored. */
static bool has_answer(const struct pl_exchange *x)
{
    struct pl_str kept = pl_exchange_kept_reply(x);
    return pl_claim_row_has_answer(answer_status(x), kept.ptr ? kept : pl_buf_str(&x->reply));
}

bool pl_claim_row_of(struct pl_exchange *x, bool may_settle, struct pl_claim_row *ret_row)
{
    const struct pl_claim *claim = pl_exchange_claim(x);
    bool is_settling = may_settle && claim->state == PL_CLAIM_CLAIMED;
    if (claim->state != PL_CLAIM_LISTED && !is_settling)
        return false;
    *ret_row = (struct pl_claim_row){
        .user_id = claim->user_id,
        .key = claim->key,
        .request_hash = {(const char *)claim->request_hash, sizeof claim->request_hash},
        .seed = {.sign = SEED_SIGN, .unix_ms = claim->seed.unix_ms, .note = claim->note},
        .is_settling = is_settling,
        .is_expired = claim->is_expired,
        .status = answer_status(x),
        .content_type = pl_str_of(x->content_type),
        .headers = pl_buf_str(&x->headers),
    };
    memcpy(ret_row->seed.random, claim->seed.random, sizeof ret_row->seed.random);
    return true;
}

void pl_claim_is_written(struct pl_exchange *x, enum pl_claim_state state)
{
    struct pl_claim *claim = pl_exchange_claim(x);
    bool is_further = (claim->state == PL_CLAIM_LISTED && state == PL_CLAIM_CLAIMED) ||
                      (is_open(claim) && state == PL_CLAIM_ANSWERED);
    if (is_further)
        become(claim, state);
}

/* Writes the claim with the answer made so far. */
static void add(struct pl_exchange *x, bool may_settle, struct pl_batch *batch)
{
    struct pl_claim_row row;
    struct pl_str kept = pl_exchange_kept_reply(x);
    if (pl_claim_row_of(x, may_settle, &row))
        pl_claim_is_written(x, pl_claim_row_add(&row, (struct pl_str){0},
                                                kept.ptr ? kept : pl_buf_str(&x->reply), batch));
}

void pl_claim_add(struct pl_exchange *x, struct pl_batch *batch)
{
    add(x, false, batch);
}

void pl_claim_keep_answer(struct pl_exchange *x, struct pl_batch *batch)
{
    add(x, true, batch);
}

/* A batch that stores the answer; NULL: nothing to store. */
static struct pl_batch *make_settling(struct pl_exchange *x)
{
    const struct pl_claim *claim = pl_exchange_claim(x);
    if (!is_listed(claim) || claim->state == PL_CLAIM_ANSWERED || !has_answer(x))
        return NULL;
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_claim_keep_answer(x, batch);
    return batch;
}

static void settled(void *ctx, enum pl_status status, const struct pl_error *err)
{
    struct pl_exchange *x = ctx;
    pl_exchange_is_back(x);
    if (status == PL_CONFLICT) {
        pl_exchange_work(x, look_for_winner, pl_exchange_settled);
        return;
    }
    /* The change is committed and the answer is correct: only a retry would not find it. */
    if (status != PL_OK)
        pl_log_say(x->shard->server->log, x->shard, PL_LOG_WARNING,
                   "an answer could not be stored for its Idempotency-Key: %s", err->message);
    pl_exchange_settled(x);
}

/* True if the change failed together with its claim, or because another node has just run the same
 * request: the object then has another version, or is gone. */
static bool is_lost(struct pl_exchange *x)
{
    static const enum pl_problem signs[] = {PL_PROBLEM_CONFLICT, PL_PROBLEM_PRECONDITION_FAILED,
                                            PL_PROBLEM_NOT_FOUND};
    const struct pl_claim *claim = pl_exchange_claim(x);
    if (!x->is_problem || !is_listed(claim))
        return false;
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (x->status == pl_problem_info(signs[i])->http_status)
            return pl_claim_has_row(claim) || x->shard->server->session_home;
    return false;
}

static bool settle(struct pl_exchange *x)
{
    if (is_lost(x)) {
        pl_exchange_work(x, look_for_winner, pl_exchange_settled);
        return true;
    }
    struct pl_batch *batch = make_settling(x);
    if (!batch)
        return false;
    pl_exchange_lend(x);
    pl_store_submit(x->shard->server->store, x->shard->loop, batch, settled, x);
    return true;
}

const struct pl_claim_ops pl_idempotency = {
    .begin = begin,
    .look = look,
    .settle = settle,
    .end = end,
};
