/* Scripts the demo models play: what a model might do, line by line.
 *
 *     #!demo                      the first line; what follows is a script
 *     say TEXT                    text, word by word
 *     think TEXT                  thinking, word by word
 *     repeat N TEXT               the same text N times, a delta each
 *     told                        what the system's turns of the context say, word by word
 *     results                     what the results of the turn before say, word by word
 *     wait MS
 *     call NAME JSON              a tool call
 *     block TYPE JSON             a block of any type
 *     usage IN OUT                what the answer says it used
 *     fail REASON                 the call fails
 *     overflow                    it fails because the context is too long
 *     refuse STATUS MS REASON     it fails as a vendor does who answers so, and may be asked again then
 *     about JSON                  what the model says of its answer (citation_map, finish_reason …)
 *     ---                         the end of this answer; what follows is said when the model is
 *                                 called again (after tool results)
 *
 * A model that is called more often than the script has parts says "Done." */
#ifndef PL_MODEL_DEMO_SCRIPT_H
#define PL_MODEL_DEMO_SCRIPT_H

#include "base/arena.h"
#include "base/status.h"
#include "base/vec.h"

enum pl_demo_verb {
    PL_DEMO_SAY,
    PL_DEMO_THINK,
    PL_DEMO_REPEAT,
    PL_DEMO_TOLD,
    PL_DEMO_RESULTS,
    PL_DEMO_WAIT,
    PL_DEMO_CALL,
    PL_DEMO_BLOCK,
    PL_DEMO_USAGE,
    PL_DEMO_FAIL,
    PL_DEMO_OVERFLOW,
    PL_DEMO_ABOUT,
    PL_DEMO_REFUSE,
    PL_DEMO_VERB_COUNT,
};

struct pl_demo_line {
    enum pl_demo_verb verb;
    int64_t number, number2;  /* of REPEAT, WAIT and USAGE */
    struct pl_str name, text; /* arena or views of the script */
};

struct pl_demo_script {
    PL_VEC(struct pl_demo_line) lines;
};

/* The part-th part (from 0) of a script; text without the first line of a script is refused with
 * PL_NOT_FOUND. PL_SYNTAX names the line that is wrong. */
enum pl_status pl_demo_script_read(struct pl_str text, size_t part,
                                   struct pl_demo_script *ret_script, struct pl_error *err);
void pl_demo_script_deinit(struct pl_demo_script *script);

#endif
