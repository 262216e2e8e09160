/* Links that let anybody read a session: created, stored as a hash, shown once. */
#include "service/sessions/share_link.h"

#include "access/key_table.h"
#include "http/json_members.h"
#include "http/routes/route.h"
#include "store/store.h"
#include "transaction/idempotency.h"

#include <stdio.h>

struct pl_share_link *pl_share_link_make(struct pl_exchange *x, struct pl_str session_id)
{
    struct pl_share_link *link = pl_arena_zalloc(&x->arena, 1, sizeof *link);
    if (!link || !pl_secret_make(link->token))
        return NULL;
    struct pl_id_seed seed = pl_shard_seed(x->shard);
    link->id = pl_id_take(&seed, "share_");
    link->created_ms = seed.unix_ms;
    link->session_id = session_id;
    pl_secret_hash(pl_str_of(link->token), link->hash);
    return link;
}

struct pl_share_row pl_share_link_row(const struct pl_share_link *link, struct pl_str user_id)
{
    return (struct pl_share_row){
        .id = pl_str_of(link->id.text),
        .user_id = user_id,
        .session_id = link->session_id,
        .hash = {(const char *)link->hash, sizeof link->hash},
        .created_ms = link->created_ms,
    };
}

void pl_share_link_write(const struct pl_share_link *link, bool has_token, struct pl_json_out *out)
{
    char path[sizeof "/api/share/" + PL_TICKET_SIZE];
    const char *page = path + strlen("/api"); /* the address for people */
    snprintf(path, sizeof path, "/api/share/%s", link->token);
    pl_json_out_open(out, '{');
    pl_json_out_key(out, "id");
    pl_json_out_text(out, pl_str_of(link->id.text));
    pl_json_out_key(out, "session_id");
    pl_json_out_text(out, link->session_id);
    const char *const secrets[][2] = {{"token", link->token}, {"path", path}, {"page_path", page}};
    for (size_t i = 0; i < sizeof secrets / sizeof *secrets; i++) {
        pl_json_out_key(out, secrets[i][0]);
        if (has_token)
            pl_json_out_text(out, pl_str_of(secrets[i][1]));
        else
            pl_json_out_null(out);
    }
    pl_put_time(out, "created_at", link->created_ms);
    pl_json_out_close(out, '}');
}

/* {…} -> {…,"share":{…}} */
static void add_member(const struct pl_share_link *link, bool has_token, struct pl_buf *session)
{
    struct pl_json_out out = pl_json_out(session);
    if (session->len)
        session->len--; /* the closing brace, added again below */
    pl_buf_adds(session, ",\"share\":");
    pl_share_link_write(link, has_token, &out);
    pl_buf_addc(session, '}');
}

void pl_share_link_keep(const struct pl_share_link *link, struct pl_session_command *command,
                        struct pl_batch *batch)
{
    struct pl_exchange *x = pl_session_command_exchange(command);
    struct pl_buf kept PL_CLEANUP_BUF;
    struct pl_share_row row = pl_share_link_row(link, x->caller.user_id);
    pl_batch_put_share(batch, &row);
    if (!pl_exchange_claim(x)->key.len)
        return;
    pl_buf_init(&kept, 0);
    pl_buf_add(&kept, pl_buf_str(&command->reply));
    add_member(link, false, &kept);
    x->status = x->route->status;
    if (kept.status == PL_OK)
        pl_exchange_keep_instead(x, pl_arena_dup(&x->arena, pl_buf_str(&kept)));
    pl_session_command_claim(command, batch);
}

void pl_share_link_tell(const struct pl_share_link *link, struct pl_session_command *command)
{
    add_member(link, true, &command->reply);
}
