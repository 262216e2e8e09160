/* The states of an instance. Only the host changes the state, on events of the process, timers and
 * frames.
 *
 *     machine ext-life
 *
 *         SPAWNED -> AWAITING_REGISTER -> VALIDATING -> RESOLVING_CAPS -> READY -> DRAINING -> STOPPED
 *         READY -> VALIDATING                         a second register
 *         SPAWNED, AWAITING_REGISTER, VALIDATING, RESOLVING_CAPS -> DRAINING
 *         SPAWNED, AWAITING_REGISTER, VALIDATING, RESOLVING_CAPS, READY, DRAINING -> FAILED
 *         SPAWNED, AWAITING_REGISTER, VALIDATING, RESOLVING_CAPS, READY, DRAINING -> KILLED
 *         FAILED, KILLED -> QUARANTINED               it crashed too often
 *
 * A restart, after a crash or on demand, is a new instance.
 */
#include "extproto/life.h"

#include <assert.h>

#define TO(name) PL_TO(PL_EXT_LIFE_##name)
static const struct pl_state states[] = {
    [PL_EXT_LIFE_SPAWNED] = {"spawned",
                             TO(AWAITING_REGISTER) | TO(DRAINING) | TO(FAILED) | TO(KILLED)},
    [PL_EXT_LIFE_AWAITING_REGISTER] = {"awaiting_register",
                                       TO(VALIDATING) | TO(DRAINING) | TO(FAILED) | TO(KILLED),
                                       PL_WAIT_MS, PL_CANCEL_ENDS, .limit_ms = 10000},
    [PL_EXT_LIFE_VALIDATING] = {"validating",
                                TO(RESOLVING_CAPS) | TO(DRAINING) | TO(FAILED) | TO(KILLED)},
    [PL_EXT_LIFE_RESOLVING_CAPS] = {"resolving_caps",
                                    TO(READY) | TO(DRAINING) | TO(FAILED) | TO(KILLED)},
    [PL_EXT_LIFE_READY] = {"ready", TO(DRAINING) | TO(VALIDATING) | TO(FAILED) | TO(KILLED),
                           PL_WAIT_OPEN, PL_CANCEL_ENDS,
                           .why = "ten idle minutes, the end of the process or of the server"},
    [PL_EXT_LIFE_DRAINING] = {"draining", TO(STOPPED) | TO(FAILED) | TO(KILLED), PL_WAIT_MS,
                              PL_CANCEL_ENDS, .limit_ms = 3000},
    [PL_EXT_LIFE_STOPPED] = {"stopped", 0},
    [PL_EXT_LIFE_FAILED] = {"failed", TO(QUARANTINED)},
    [PL_EXT_LIFE_KILLED] = {"killed", TO(QUARANTINED)},
    [PL_EXT_LIFE_QUARANTINED] = {"quarantined", 0},
};
const struct pl_machine pl_ext_life_machine = PL_MACHINE("ext-life", states);

enum pl_ext_hearing pl_ext_life_hear(enum pl_ext_life state, enum pl_ext_type type)
{
    bool is_always = type == PL_EXT_TYPE_LOG || type == PL_EXT_TYPE_ERROR;
    if (state >= PL_EXT_LIFE_STOPPED)
        return PL_EXT_UNHEARD;
    if (is_always || state == PL_EXT_LIFE_READY)
        return PL_EXT_HEARD;
    if (type == PL_EXT_TYPE_HOST_CALL)
        return PL_EXT_REFUSED;
    if (state == PL_EXT_LIFE_DRAINING) /* running calls may still end */
        return type == PL_EXT_TYPE_REGISTER ? PL_EXT_TOO_LATE : PL_EXT_HEARD;
    if (type == PL_EXT_TYPE_REGISTER && state == PL_EXT_LIFE_AWAITING_REGISTER)
        return PL_EXT_HEARD;
    return PL_EXT_TOO_EARLY;
}

int64_t pl_ext_crashes_add(struct pl_ext_crashes *crashes, int64_t now_ms)
{
    enum { WINDOW_MS = 600000, FIRST_MS = 1000, MOST_MS = 60000 };
    unsigned n = 0;
    while (n < crashes->n && now_ms - crashes->at_ms[n] < WINDOW_MS)
        n++;
    if (n == PL_EXT_MAX_CRASHES) /* drop the oldest */
        n--;
    for (unsigned i = n; i > 0; i--)
        crashes->at_ms[i] = crashes->at_ms[i - 1];
    crashes->at_ms[0] = now_ms;
    crashes->n = n + 1;
    if (crashes->n == PL_EXT_MAX_CRASHES)
        return -1;
    static_assert(FIRST_MS << (PL_EXT_MAX_CRASHES - 2) <= MOST_MS, "the last wait is no longer");
    return (int64_t)FIRST_MS << n;
}
