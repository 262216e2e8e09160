#include "guards.h"

#include "cluster/lease.h"
#include "cluster/node_link.h"
#include "node/node_int.h"

const char *const guard_names[GUARD_COUNT] = {"mark",   "lock",       "terminate", "generation",
                                              "steady", "self-fence", "gaps"};
static enum guard missing = GUARD_COUNT;

void guards_begin(enum guard without)
{
    missing = without;
}

bool __real_pl_lease_may_take_over(const struct pl_lease *lease, int64_t now_ms);
bool __wrap_pl_lease_may_take_over(const struct pl_lease *lease, int64_t now_ms)
{
    return missing == GUARD_STEADY || __real_pl_lease_may_take_over(lease, now_ms);
}

bool __real_pl_node_holds(struct pl_node *node);
bool __wrap_pl_node_holds(struct pl_node *node)
{
    return missing == GUARD_SELF_FENCE || __real_pl_node_holds(node);
}

bool __real_pl_mail_all(struct pl_node *node, enum pl_node_mail_kind what,
                        const struct pl_node_id *sender);
bool __wrap_pl_mail_all(struct pl_node *node, enum pl_node_mail_kind what,
                        const struct pl_node_id *sender)
{
    return (missing == GUARD_SELF_FENCE && what == PL_MAIL_HUSH) ||
           __real_pl_mail_all(node, what, sender);
}

enum pl_node_link_verdict __real_pl_node_link_got(struct pl_node_link_in *link, unsigned char kind,
                                                  uint64_t number);
enum pl_node_link_verdict __wrap_pl_node_link_got(struct pl_node_link_in *link, unsigned char kind,
                                                  uint64_t number)
{
    enum pl_node_link_verdict verdict = __real_pl_node_link_got(link, kind, number);
    return missing == GUARD_GAPS && verdict == PL_NODE_LINK_RESYNC ? PL_NODE_LINK_TAKE : verdict;
}

enum pl_node_link_verdict __real_pl_node_link_beat(struct pl_node_link_in *link, uint64_t last);
enum pl_node_link_verdict __wrap_pl_node_link_beat(struct pl_node_link_in *link, uint64_t last)
{
    enum pl_node_link_verdict verdict = __real_pl_node_link_beat(link, last);
    return missing == GUARD_GAPS ? PL_NODE_LINK_TAKE : verdict;
}
