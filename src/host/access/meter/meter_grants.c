#include "access/meter/meter_grants.h"

#define MINUTE_MS INT64_C(60000)

int64_t pl_grant_left(struct pl_grant *grant, int64_t now_ms)
{
    if (now_ms >= grant->until_ms) {
        grant->left = grant->left < 0 ? grant->left : 0;
        grant->n_promised = 0;
    }
    return grant->left;
}

int64_t pl_grant_want(struct pl_grant *grant, int64_t n, int64_t now_ms)
{
    int64_t left = pl_grant_left(grant, now_ms) - grant->n_promised;
    grant->n_promised += n;
    return left < n ? n - left : 0;
}

/* The database may already be in the next minute: the rest of the previous grant is then void.
 * Within a minute, the earlier of two ends counts. */
void pl_grant_add(struct pl_grant *grant, int64_t given, int64_t until_ms)
{
    bool is_next = until_ms - grant->until_ms > MINUTE_MS / 2;
    if (is_next && grant->left > 0)
        grant->left = 0;
    if (is_next || until_ms < grant->until_ms)
        grant->until_ms = until_ms;
    grant->left += given;
}

void pl_grant_use(struct pl_grant *grant, int64_t n_promised, int64_t n_used)
{
    grant->n_promised -= n_promised < grant->n_promised ? n_promised : grant->n_promised;
    grant->left -= n_used;
}

int64_t pl_grant_wait_s(const struct pl_grant *grant, int64_t now_ms)
{
    int64_t left_ms =
        grant->until_ms > now_ms ? grant->until_ms - now_ms : MINUTE_MS - now_ms % MINUTE_MS;
    return left_ms / 1000 + 1;
}
