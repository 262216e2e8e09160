/* Idempotency-Key: the same request twice is one deed and one answer, for 24 hours.
 *
 * A key is claimed twice over. While its request runs it stands in a list in memory, so a second
 * one is told to wait (409). With the deed its row is committed in the same transaction, and the
 * answer is in the row: whoever asks again after a crash gets it. A request that was refused leaves
 * nothing behind: it did nothing, and may come again.
 *
 * Some answers name what only the database gives (the number of a memory). Their row has the seed
 * of the ids that were made instead, and the answer is put beside it before it is sent. After a
 * crash in between the route runs once more, makes nothing, and tells what it finds (is_done).
 *
 * Secrets are not kept: the answer to a repetition has null in their place (kept_reply). */
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

/* The stored form: "*", the media type, a line break, header lines, an empty line, the body. Rows
 * of earlier versions have no "*" and no headers. */
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
    x->is_answered = true;
}

/* In place of an answer: a sign, the time and the randomness. Rows of earlier versions have no
 * note. */
struct kept_seed {
    uint64_t sign;
    int64_t unix_ms;
    uint64_t random[2];
    int64_t note;
};
#define SEED_SIGN UINT64_C(0x64656573) /* "seed" */

static bool read_seed(struct pl_str text, struct pl_claim *claim)
{
    struct kept_seed kept = {0};
    if (text.len != sizeof kept && text.len != offsetof(struct kept_seed, note))
        return false;
    memcpy(&kept, text.ptr, text.len);
    claim->note = kept.note;
    claim->seed = (struct pl_id_seed){.unix_ms = kept.unix_ms};
    memcpy(claim->seed.random, kept.random, sizeof kept.random);
    return kept.sign == SEED_SIGN;
}

struct pl_id_seed pl_claim_seed(struct pl_exchange *x)
{
    struct pl_claim *claim = &pl_exchange_own(x)->claim;
    if (!claim->is_done)
        claim->seed = pl_shard_seed(x->shard);
    return claim->seed;
}

/* The deed is done and its answer is missing. */
static void retell(struct pl_exchange *x, const struct pl_idempotency_row *row)
{
    struct pl_claim *claim = &pl_exchange_own(x)->claim;
    claim->is_done = x->route->flags & PL_ROUTE_RETELLS && read_seed(row->answer, claim);
    claim->is_added = claim->is_done;
    if (!claim->is_done)
        pl_exchange_problem(x, PL_PROBLEM_CONFLICT, NULL,
                            "This was begun, and the server ended before it had an answer; look at "
                            "what it made.");
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
        retell(x, &row);
    else
        replay(x, &row);
}

bool pl_claim_again(struct pl_exchange *x)
{
    struct pl_claim *claim = &pl_exchange_own(x)->claim;
    claim->is_added = claim->has_answer = false;
    if (claim->is_listed)
        pl_claim_look(x);
    if (x->is_answered || x->is_problem)
        return false;
    pl_buf_clear(&x->reply);
    pl_buf_clear(&x->headers);
    return true;
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

/* False: there is none yet, or it is too long to be kept. */
static bool spell_answer(struct pl_exchange_own *own, struct pl_buf *to)
{
    const struct pl_exchange *x = &own->x;
    struct pl_str body = own->kept_reply.ptr ? own->kept_reply : pl_buf_str(&x->reply);
    bool is_good = !x->is_problem && x->status >= 200 && x->status < 300 && !own->sending.read;
    if (!is_good || (!body.len && x->status != 204) || body.len > PL_IDEMPOTENCY_MAX_REPLY)
        return false;
    pl_buf_addc(to, '*');
    pl_buf_adds(to, x->content_type);
    pl_buf_addc(to, '\n');
    pl_buf_add(to, pl_buf_str(&x->headers));
    pl_buf_adds(to, "\r\n");
    pl_buf_add(to, body);
    return to->status == PL_OK;
}

void pl_claim_add(struct pl_exchange_own *own, struct pl_batch *batch)
{
    struct pl_claim *claim = &own->claim;
    if (!claim->is_listed || claim->is_added)
        return;
    struct pl_idempotency_row row = row_of(own);
    struct kept_seed seed = {
        .sign = SEED_SIGN, .unix_ms = claim->seed.unix_ms, .note = claim->note};
    PL_CLEANUP_BUF struct pl_buf answer;
    pl_buf_init(&answer, 0);
    memcpy(seed.random, claim->seed.random, sizeof seed.random);
    row.answer = (struct pl_str){(const char *)&seed, sizeof seed};
    claim->has_answer = spell_answer(own, &answer);
    if (claim->has_answer) {
        row.status = own->x.status;
        row.answer = pl_buf_str(&answer);
    }
    if (claim->is_expired)
        pl_batch_expire_idempotency(batch, row.created_ms - PL_IDEMPOTENCY_KEPT_MS + 1);
    pl_batch_claim_idempotency(batch, &row);
    claim->is_added = true;
}

void pl_claim_keep_answer(struct pl_exchange_own *own, struct pl_batch *batch)
{
    struct pl_claim *claim = &own->claim;
    PL_CLEANUP_BUF struct pl_buf answer;
    pl_buf_init(&answer, 0);
    if (!claim->is_added) {
        pl_claim_add(own, batch);
    } else if (claim->is_listed && !claim->has_answer && spell_answer(own, &answer)) {
        struct pl_idempotency_row row = row_of(own);
        row.status = own->x.status;
        row.answer = pl_buf_str(&answer);
        pl_batch_settle_idempotency(batch, &row);
        claim->has_answer = true;
    }
}

struct pl_batch *pl_claim_settle(struct pl_exchange_own *own)
{
    const struct pl_claim *claim = &own->claim;
    PL_CLEANUP_BUF struct pl_buf answer;
    pl_buf_init(&answer, 0);
    if (!claim->is_listed || (claim->is_added && claim->has_answer) || !spell_answer(own, &answer))
        return NULL;
    struct pl_batch *batch = pl_batch_create();
    if (batch)
        pl_claim_keep_answer(own, batch);
    return batch;
}
