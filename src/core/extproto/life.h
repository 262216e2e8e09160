/* The life of an instance of an extension: its states, which frames are handled in each, and when
 * it may start again after a crash. */
#ifndef PL_EXTPROTO_LIFE_H
#define PL_EXTPROTO_LIFE_H

#include "base/machine.h"
#include "extproto/frame.h"

enum pl_ext_life {
    PL_EXT_LIFE_SPAWNED,
    PL_EXT_LIFE_AWAITING_REGISTER,
    PL_EXT_LIFE_VALIDATING,
    PL_EXT_LIFE_RESOLVING_CAPS,
    PL_EXT_LIFE_READY,
    PL_EXT_LIFE_DRAINING,
    PL_EXT_LIFE_STOPPED,
    PL_EXT_LIFE_FAILED,
    PL_EXT_LIFE_KILLED,
    PL_EXT_LIFE_QUARANTINED,
};
extern const struct pl_machine pl_ext_life_machine;

/* How a valid frame from the child is handled. */
enum pl_ext_hearing {
    PL_EXT_HEARD,     /* by the handler of its type */
    PL_EXT_REFUSED,   /* a host_call: answered with `invalid_request` */
    PL_EXT_TOO_EARLY, /* answered with an `error`, code not_registered */
    PL_EXT_TOO_LATE,  /* answered with an `error`, code shutting_down */
    PL_EXT_UNHEARD,   /* ignored: the instance is gone */
};
enum pl_ext_hearing pl_ext_life_hear(enum pl_ext_life state, enum pl_ext_type type);

/* Crashes of an instance. The delay doubles from one second to sixty. The fifth crash within ten
 * minutes is the last. */
enum { PL_EXT_MAX_CRASHES = 5 };
struct pl_ext_crashes {
    int64_t at_ms[PL_EXT_MAX_CRASHES]; /* newest first */
    unsigned n;
};
/* Counts a crash. Returns the milliseconds until the next start, or -1: it is quarantined. */
int64_t pl_ext_crashes_add(struct pl_ext_crashes *crashes, int64_t now_ms);

#endif
