/* The events of a script: a word and its fields become what a session is told. */
#ifndef PL_TESTS_SCRIPT_EVENTS_H
#define PL_TESTS_SCRIPT_EVENTS_H

#include "session/pattern.h"
#include "session/session.h"

struct script_args {
    struct pattern_names names; /* what patterns met so far */
    struct pl_arena arena;      /* of the line being played */
    struct pl_json_doc doc;     /* its fields; root NULL: none */
    struct pl_buf scratch;
};

/* False: no event has this word. */
bool script_event_read(struct script_args *s, struct pl_str word,
                       struct pl_session_event *ret_event);

/* Of a word in a list that NULL ends; 0 when it is not there. */
size_t script_word_index(const char *const *words, struct pl_str word);

#endif
