/* The stored form of an answer: "*", the media type, a line break, header lines, an empty line, the
 * body. idempotency.c reads it. */
#include "transaction/claim_row.h"

#include "io/clock.h"
#include "transaction/idempotency.h"

bool pl_claim_row_has_answer(int64_t status, struct pl_str body)
{
    return status >= 200 && status < 300 && (body.len || status == 204) &&
           body.len <= PL_IDEMPOTENCY_MAX_REPLY;
}

static bool spell_answer(const struct pl_claim_row *row, struct pl_str headers, struct pl_str body,
                         struct pl_buf *to)
{
    if (!pl_claim_row_has_answer(row->status, body))
        return false;
    pl_buf_addc(to, '*');
    pl_buf_add(to, row->content_type);
    pl_buf_addc(to, '\n');
    pl_buf_add(to, row->headers);
    pl_buf_add(to, headers);
    pl_buf_adds(to, "\r\n");
    pl_buf_add(to, body);
    return to->status == PL_OK;
}

enum pl_claim_state pl_claim_row_add(const struct pl_claim_row *row, struct pl_str headers,
                                     struct pl_str body, struct pl_batch *batch)
{
    PL_CLEANUP_BUF struct pl_buf answer;
    pl_buf_init(&answer, 0);
    bool has_answer = spell_answer(row, headers, body, &answer);
    struct pl_idempotency_row written = {
        .user_id = row->user_id,
        .key = row->key,
        .request_hash = row->request_hash,
        .created_ms = pl_clock_unix_ms(),
        .status = has_answer ? row->status : 0,
        .answer = has_answer ? pl_buf_str(&answer)
                             : (struct pl_str){(const char *)&row->seed, sizeof row->seed},
    };
    if (row->is_settling) {
        if (has_answer)
            pl_batch_settle_idempotency(batch, &written);
        return has_answer ? PL_CLAIM_ANSWERED : PL_CLAIM_LISTED;
    }
    if (row->is_expired)
        pl_batch_expire_idempotency(batch, written.created_ms - PL_IDEMPOTENCY_KEPT_MS + 1);
    pl_batch_claim_idempotency(batch, &written);
    return has_answer ? PL_CLAIM_ANSWERED : PL_CLAIM_CLAIMED;
}
