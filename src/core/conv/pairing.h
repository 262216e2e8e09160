/* Pairs results with calls.
 *
 * By id if both have one; otherwise by name and order, and without a name by order. An id (or name)
 * that is used again in a later turn means the later call, so clients that number calls from zero
 * in every turn work. Linear in the conversation. */
#ifndef PL_CONV_PAIRING_H
#define PL_CONV_PAIRING_H

#include "conv/conv.h"

#define PL_UNPAIRED UINT32_MAX

struct pl_conv_call {
    uint32_t message; /* index in conv->messages */
    uint32_t part;    /* index in conv->parts */
    uint32_t turn;    /* number of the turn (consecutive assistant messages); calls of one turn
                         share it */
    uint32_t result;  /* index in results, or PL_UNPAIRED */
    uint32_t next;    /* call of the same id and turn, or PL_UNPAIRED */
    uint32_t next_named;
};

struct pl_result {
    uint32_t message, part;
    uint32_t call;     /* index in calls; PL_UNPAIRED: an orphan, or a duplicate: */
    bool is_duplicate; /* its call has been answered already */
    bool is_late;      /* a message that is not a result is between it and its call */
};

struct pl_pairing {
    PL_VEC(struct pl_conv_call) calls; /* in the order of the conversation */
    PL_VEC(struct pl_result) results;  /* in the order of the conversation */
};

/* `joins_assistants`: consecutive assistant messages are one turn; otherwise the second one would
 * separate a call of the first from its result. PL_NOMEM is the only failure. */
enum pl_status pl_pairing_make(struct pl_conv *conv, bool joins_assistants,
                               struct pl_pairing *ret_pairing);
void pl_pairing_deinit(struct pl_pairing *pairing);
/* Marks the calls of a response that the vendor has already answered in it, and their results
 * (is_served). Whether a call still waits for its result. */
bool pl_conv_serve_calls(struct pl_conv *conv);
/* Reports these as dropped, for a target whose responses have no place for an answered call. */
void pl_conv_drop_served(struct pl_conv *conv);
#define PL_CLEANUP_PAIRING __attribute__((cleanup(pl_pairing_deinit)))

#endif
