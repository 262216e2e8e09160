/* Hands this session over: the result is the packet, which carries all another agent needs. Nothing
 * is sent; whoever gets it has it accepted by POST /api/handoffs. */
#include "server/handing.h"
#include "server/shard.h"
#include "server/tool_int.h"

static enum pl_status make_packet(struct pl_run *run, const struct pl_json_doc *arguments)
{
    struct pl_handoff_opts wish = {0};
    const struct {
        const char *name;
        struct pl_str *to;
    } members[] = {
        {"target", &wish.target}, {"objective", &wish.objective}, {"status", &wish.status},
        {"next", &wish.next},     {"summary", &wish.summary},
    };
    enum pl_status status = PL_OK;
    for (size_t i = 0; i < sizeof members / sizeof *members && status == PL_OK; i++)
        status = pl_tool_text(run, arguments, members[i].name, members[i].to);
    pl_buf_adds(&run->text, "{\"packet\":");
    if (status == PL_OK)
        status = pl_handoff_write(run->server->store, run->session_id, wish, &run->text, &run->err);
    pl_buf_addc(&run->text, '}');
    return status;
}

void pl_tool_handoff(struct pl_run *run, const struct pl_json_doc *arguments)
{
    (void)arguments;
    pl_tool_work(run, make_packet);
}
