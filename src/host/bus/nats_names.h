/* Names in NATS: server addresses and subjects. Pure functions.
 *
 *     parley.CLUSTER.n.WRITER         letters to one node
 *     parley.CLUSTER.all              letters to everybody
 *     parley.CLUSTER.r.WRITER.TO      the reply subject of a letter: its sender and receiver. The
 *                                     server answers there if nobody listens to the subject of
 *                                     the letter. */
#ifndef PL_BUS_NATS_NAMES_H
#define PL_BUS_NATS_NAMES_H

#include "base/buf.h"
#include "cluster/node.h"

enum {
    PL_NATS_CLUSTER_MAX = 64,
    PL_NATS_SUBJECT_MAX = 192, /* including the NUL */
    PL_NATS_HOST_MAX = 256,
};

struct pl_nats_address {
    struct pl_str rest; /* the part after the scheme: [USER:PASSWORD@]HOST[:PORT] */
    struct pl_str host; /* without the brackets of an IPv6 address */
    bool is_secure;
};

/* Takes the first address off a list separated by commas. Returns false if none is left. */
bool pl_nats_next_address(struct pl_str *list, struct pl_str *ret_address);
/* Returns false if it is not nats://HOST[:PORT] or tls://HOST[:PORT]. */
bool pl_nats_read_address(struct pl_str address, struct pl_nats_address *ret_address);
/* Checks all addresses. PL_INVALID names the wrong one, without a password that may be in it. */
enum pl_status pl_nats_check_addresses(struct pl_str list, size_t *ret_n, struct pl_error *err);

bool pl_nats_is_cluster(struct pl_str name);

struct pl_nats_subject {
    char text[PL_NATS_SUBJECT_MAX];
};
/* All zeros for `to` means everybody. */
struct pl_nats_subject pl_nats_subject_to(struct pl_str cluster, const struct pl_node_id *to);
struct pl_nats_subject pl_nats_reply(struct pl_str cluster, const struct pl_node_id *from,
                                     const struct pl_node_id *to);
/* The reply subjects of all letters of a node. */
struct pl_nats_subject pl_nats_replies(struct pl_str cluster, const struct pl_node_id *from);
/* Returns false if it is not a reply subject of this cluster. *ret_to is all zeros for everybody. */
bool pl_nats_read_reply(struct pl_str cluster, const char *subject, struct pl_node_id *ret_from,
                        struct pl_node_id *ret_to);

#endif
