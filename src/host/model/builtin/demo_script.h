/* Scripts for the demo models: the actions of a model, line by line.
 *
 *     #!demo                      the first line of a script
 *     say TEXT                    text, word by word
 *     think TEXT                  thinking, word by word
 *     repeat N TEXT               the same text N times, a delta each
 *     told                        the text of the context's system turns, word by word
 *     results                     the tool results of the previous turn, word by word
 *     wait MS
 *     call NAME JSON              a tool call
 *     block TYPE JSON             a block of any type
 *     usage IN OUT                the usage that the answer reports
 *     fail REASON                 the call fails
 *     overflow                    it fails because the context is too long
 *     refuse STATUS MS REASON     it fails like a vendor that answers STATUS; retry after MS
 *     about JSON                  metadata of the answer (citation_map, finish_reason …)
 *     ---                         the end of this answer; the next part is played when the model is
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
    int64_t number, number2;  /* for REPEAT, WAIT and USAGE */
    struct pl_str name, text; /* in the arena, or views of the script */
};

struct pl_demo_script {
    PL_VEC(struct pl_demo_line) lines;
};

/* Reads one part (from 0) of a script. PL_NOT_FOUND if the text does not begin with the first line
 * of a script. PL_SYNTAX names the wrong line. */
enum pl_status pl_demo_script_read(struct pl_str text, size_t part,
                                   struct pl_demo_script *ret_script, struct pl_error *err);
void pl_demo_script_deinit(struct pl_demo_script *script);

#endif
