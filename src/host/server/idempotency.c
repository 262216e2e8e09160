/* Idempotency-Key: the same request twice is one deed and one answer, for 24 hours.
 *
 * A key is claimed twice over. While its request runs it stands in a list in memory, so a second
 * one is told to wait (409). With the deed its row is committed, in the same transaction where the
 * deed has one, so that after a crash nobody does it again; and the answer is put beside it before
 * it is sent. A request that was refused leaves nothing behind: it did nothing, and may come again.
 */
#include "io/clock.h"
#include "server/exchange_int.h"

#include "server/shard_int.h"

#include <sodium/crypto_generichash.h>

static void add_part(crypto_generichash_state *state, struct pl_str part)
{
    uint64_t n = part.len;
    crypto_generichash_update(state, (const unsigned char *)&n, sizeof n);
    crypto_generichash_update(state, (const unsigned char *)part.ptr, part.len);
}

/* Method, target and body, each with its length, so that nothing can move from one to the other. */
static void hash_request(struct pl_exchange *x, uint8_t ret_hash[32])
{
    struct pl_str digest = pl_exchange_own(x)->body_digest;
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

/* Puts it into the list of those that run; false when the same key is there. */
static bool enlist(struct pl_server_own *server, struct pl_claim *claim)
{
    bool is_free = true;
    pthread_mutex_lock(&server->claims_lock);
    for (struct pl_claim *other = server->claims; other && is_free; other = other->next)
        is_free = !is_same(other, claim);
    if (is_free) {
        claim->prev = NULL;
        claim->next = server->claims;
        if (claim->next)
            claim->next->prev = claim;
        server->claims = claim;
        claim->is_listed = true;
    }
    pthread_mutex_unlock(&server->claims_lock);
    return is_free;
}

void pl_claim_end(struct pl_exchange_own *own)
{
    struct pl_claim *claim = &own->claim;
    if (!claim->is_listed)
        return;
    struct pl_server_own *server = pl_server_own(own->x.shard->server);
    pthread_mutex_lock(&server->claims_lock);
    if (claim->prev)
        claim->prev->next = claim->next;
    else
        server->claims = claim->next;
    if (claim->next)
        claim->next->prev = claim->prev;
    claim->is_listed = false;
    pthread_mutex_unlock(&server->claims_lock);
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

bool pl_claim_begin(struct pl_exchange_own *own, bool *ret_has_key)
{
    struct pl_exchange *x = &own->x;
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
    own->claim.user_id = x->caller.user_id;
    own->claim.key = key;
    hash_request(x, own->claim.request_hash);
    if (enlist(pl_server_own(x->shard->server), &own->claim))
        return true;
    pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                        "A request with this Idempotency-Key is still running; try again in a "
                        "moment.");
    return false;
}

/* The stored form is the media type, a line break and the body. */
static void replay(struct pl_exchange *x, const struct pl_idempotency_row *row)
{
    const char *end = row->answer.len ? memchr(row->answer.ptr, '\n', row->answer.len) : NULL;
    size_t n_type = end ? (size_t)(end - row->answer.ptr) : 0;
    char *type = pl_arena_zalloc(&x->arena, n_type + 1, 1);
    if (!type) {
        pl_exchange_fail(x, PL_NOMEM, NULL);
        return;
    }
    memcpy(type, row->answer.ptr, n_type);
    x->content_type = type;
    x->status = (int)row->status;
    pl_buf_add(&x->reply, pl_str_slice(row->answer, n_type + 1, row->answer.len));
    pl_exchange_header(x, "Idempotency-Replayed", "true");
    x->is_answered = true;
}

void pl_claim_look(struct pl_exchange *x)
{
    struct pl_claim *claim = &pl_exchange_own(x)->claim;
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
        pl_exchange_problem(x, PL_PROBLEM_IDEMPOTENCY_MISMATCH, NULL,
                            "This Idempotency-Key was used for another request; take a new one.");
    else if (row.status == 0)
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "This was carried out, and its answer was lost when the server ended; "
                            "look at what it made.");
    else
        replay(x, &row);
}

static struct pl_idempotency_row row_of(const struct pl_exchange_own *own)
{
    return (struct pl_idempotency_row){
        .user_id = own->claim.user_id,
        .key = own->claim.key,
        .request_hash = {(const char *)own->claim.request_hash, 32},
        .created_ms = pl_clock_unix_ms(), /* it may be another shard that asks */
    };
}

void pl_claim_add(struct pl_exchange_own *own, struct pl_batch *batch)
{
    if (!own->claim.is_listed || own->claim.is_added)
        return;
    struct pl_idempotency_row row = row_of(own);
    if (own->claim.is_expired)
        pl_batch_expire_idempotency(batch, row.created_ms - PL_IDEMPOTENCY_KEPT_MS + 1);
    pl_batch_claim_idempotency(batch, &row);
    own->claim.is_added = true;
}

struct pl_batch *pl_claim_settle(struct pl_exchange_own *own)
{
    struct pl_exchange *x = &own->x;
    bool has_answer = x->status >= 200 && x->status < 300 && !own->sending.read;
    struct pl_str body = own->kept_reply.ptr ? own->kept_reply : pl_buf_str(&x->reply);
    if (!own->claim.is_listed || !has_answer || body.len > PL_IDEMPOTENCY_MAX_REPLY)
        return NULL;
    struct pl_batch *batch = pl_batch_create();
    PL_CLEANUP_BUF struct pl_buf answer;
    pl_buf_init(&answer, 0);
    pl_buf_adds(&answer, x->content_type);
    pl_buf_addc(&answer, '\n');
    pl_buf_add(&answer, body);
    if (!batch || answer.status != PL_OK) {
        pl_batch_destroy(batch);
        return NULL;
    }
    struct pl_idempotency_row row = row_of(own);
    row.status = x->status;
    row.answer = pl_buf_str(&answer);
    pl_claim_add(own, batch);
    pl_batch_settle_idempotency(batch, &row);
    return batch;
}
