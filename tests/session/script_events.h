/* The events of a script: a word and its fields become an event of a session. */
#ifndef PL_TESTS_SCRIPT_EVENTS_H
#define PL_TESTS_SCRIPT_EVENTS_H

#include "session/pattern.h"
#include "session/session.h"

struct script_args {
    struct pattern_names names; /* bound by patterns so far */
    struct pl_arena arena;      /* of the line being played */
    struct pl_json_doc doc;     /* its fields; root NULL: none */
    struct pl_buf scratch;
};

/* False: there is no event with this word. */
bool script_event_read(struct script_args *s, struct pl_str word,
                       struct pl_session_event *ret_event);

/* The index of a word in a list that NULL ends; 0 if it is not there. */
size_t script_word_index(const char *const *words, struct pl_str word);

#endif
