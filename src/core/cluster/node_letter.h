/* Letters: the messages that nodes exchange over the bus.
 *
 *     1 version, 1 kind, 16 sender, 8 link number, body …, 16 seal
 *
 * Numbers are big-endian. The seal is a keyed hash (BLAKE2b-128 with the cluster's secret) over the
 * receiver's id and everything before the seal. Without the secret nobody can write a letter,
 * change one, or forward one to another node. The caller provides the hash function, because this
 * room uses no library.
 *
 * Every version begins with the version byte and ends with the seal, so a letter of a later version
 * is recognised and not taken for a forgery. */
#ifndef PL_CLUSTER_NODE_LETTER_H
#define PL_CLUSTER_NODE_LETTER_H

#include "base/buf.h"
#include "cluster/node.h"

enum {
    PL_NODE_LETTER_VERSION = 1,
    PL_NODE_LETTER_HEAD = 1 + 1 + PL_NODE_ID_BYTES + 8,
    PL_NODE_LETTER_SEAL = 16,
    PL_NODE_LETTER_MAX = 512 << 10, /* including head and seal */
};

enum pl_node_letter_kind {
    PL_NODE_LETTER_ASK = 1, /* a command for a session, sent to its owner */
    PL_NODE_LETTER_ANSWER,
    PL_NODE_LETTER_FRAMES, /* live frames of one session */
    PL_NODE_LETTER_BEAT,   /* the last link number of every receiver (node_link.h) */
    PL_NODE_LETTER_BELL,   /* something in the store has changed */
    PL_NODE_LETTER_LEAVE,  /* the sender has no more listeners to this session */
    PL_NODE_LETTER_PART,   /* a part of a letter that is longer than PL_NODE_LETTER_MAX */
    PL_NODE_LETTER_UNKNOWN /* the answer to a kind that the receiver does not know */
};

struct pl_node_letter {
    unsigned char kind; /* an enum pl_node_letter_kind, or one of a later version */
    struct pl_node_id sender;
    uint64_t number;       /* per receiver, from 1; 0 for a letter to everybody */
    struct pl_str body;    /* borrowed */
    unsigned char version; /* 0 to write PL_NODE_LETTER_VERSION */
};

/* Computes the keyed hash of the receiver's id followed by these bytes. */
struct pl_node_seal {
    void (*make)(void *ctx, const struct pl_node_id *receiver, struct pl_str bytes,
                 unsigned char ret_seal[PL_NODE_LETTER_SEAL]);
    void *ctx; /* holds the secret */
};

/* Appends the letter. PL_LIMIT if it is longer than PL_NODE_LETTER_MAX; PL_NOMEM. On failure
 * nothing is appended. */
enum pl_status pl_node_letter_write(const struct pl_node_letter *letter,
                                    const struct pl_node_seal *seal,
                                    const struct pl_node_id *receiver, struct pl_buf *to);

/* The reasons to drop a letter; each is counted under its name. X(name, text) */
#define PL_NODE_LETTER_FATE_TABLE(X)                                                               \
    X(GOOD, "good")                                                                                \
    X(CUT, "cut")         /* shorter than head and seal */                                         \
    X(HUGE, "huge")       /* longer than any letter */                                             \
    X(FORGED, "forged")   /* wrong seal: not for us, not from our cluster, or changed */           \
    X(VERSION, "version") /* sealed, but a version that this program cannot read */                \
    X(STRANGE, "strange") /* sealed, but an unknown kind: answered with UNKNOWN */

enum pl_node_letter_fate {
#define X(name, text) PL_NODE_LETTER_IS_##name,
    PL_NODE_LETTER_FATE_TABLE(X)
#undef X
        PL_NODE_LETTER_FATE_COUNT,
};
const char *pl_node_letter_fate_text(enum pl_node_letter_fate fate);

/* Sets *ret_letter for GOOD and STRANGE; its body is a view of `bytes`. */
enum pl_node_letter_fate pl_node_letter_read(struct pl_str bytes, const struct pl_node_seal *seal,
                                             const struct pl_node_id *receiver,
                                             struct pl_node_letter *ret_letter);

/* The version to write: the lowest one that every node that is up understands (`protocol` of its
 * row). `spoken` is the minimum of the rows read so far; begin with PL_NODE_LETTER_VERSION. */
unsigned char pl_node_letter_least(unsigned char spoken, int64_t protocol);

/* True for FRAMES and LEAVE. Lost frames are sent again on request. A lost LEAVE is repeated when
 * unwanted frames arrive. If either came late, it would undo newer state. A lost ask or answer is
 * lost for good. */
bool pl_node_letter_may_be_dropped(unsigned char kind);

#endif
