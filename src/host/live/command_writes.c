/* Adds the rows of a command to a batch. */
#include "live/command_writes.h"

#include "live/command.h"

bool pl_session_command_has_writes(const struct pl_session_command *command)
{
    const struct pl_command_writes *writes = &command->writes;
    return command->extend || writes->ends_shares || writes->share.id.len || writes->claim.key.len;
}

static void claim(struct pl_session_command *command, struct pl_batch *batch)
{
    const struct pl_command_writes *writes = &command->writes;
    struct pl_str body = writes->kept.ptr ? writes->kept : pl_buf_str(&command->reply);
    PL_CLEANUP_BUF struct pl_buf headers;
    pl_buf_init(&headers, 0);
    if (!writes->kept.ptr)
        pl_buf_addf(&headers, PL_POSITION_HEADER ": " PL_POSITION_FORMAT "\r\n",
                    (long long)command->epoch, (long long)command->position);
    struct pl_claim_row row = writes->claim;
    if (headers.status != PL_OK || command->reply.status != PL_OK)
        row.status = 0; /* the key is claimed nevertheless */
    command->claimed = pl_claim_row_add(&row, pl_buf_str(&headers), body, batch);
}

void pl_session_command_write(struct pl_session_command *command, struct pl_batch *batch)
{
    const struct pl_command_writes *writes = &command->writes;
    if (command->extend)
        command->extend(command, batch);
    if (writes->ends_shares)
        pl_batch_delete_shares(batch, command->user_id, command->session_id);
    if (writes->share.id.len)
        pl_batch_put_share(batch, &writes->share);
    if (writes->claim.key.len)
        claim(command, batch);
}
