/* Users of the nodes: some send messages in sessions and repeat them until they are acknowledged,
 * some read. They are outside: they know only the answers of the nodes. */
#ifndef PL_TESTS_SIM_PEOPLE_H
#define PL_TESTS_SIM_PEOPLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SESSIONS_MAX = 4, SAID_MAX = 256, READERS_MAX = 16, TURNS_MAX = 256, TEXT_MAX = 1024 };

/* n_long: the answers to the first n_long messages of each session take nine seconds. */
void people_begin(size_t n_sessions, size_t n_readers, size_t n_talkers, size_t n_long);
/* Whether a reader there received something a moment ago. */
bool people_hear(size_t machine);
/* No one sends new messages; earlier ones are repeated until they are acknowledged. */
void people_hush(void);
/* Sends one more message in every session, through every serving node. */
void people_probe(void);
/* Whether every message is acknowledged, and every reader is attached. */
bool people_are_done(void);
/* Writes what is missing into the trace. */
void people_say_missing(void);

const char *people_session_id(size_t i);
size_t people_n_sessions(void);

struct said {
    size_t session;
    char id[32]; /* client_message_id; the text begins with it */
    bool is_long, is_acknowledged;
};
size_t people_n_said(void);
const struct said *people_said(size_t i);

struct read_turn {
    char id[64], status[24], text[TEXT_MAX];
};
struct reader_view {
    size_t session;
    int64_t epoch, sequence;
    size_t n_turns;
    struct read_turn turns[TURNS_MAX];
};
size_t people_n_readers(void);
const struct reader_view *people_reader(size_t i);

/* The text of the blocks in a turn's JSON, as readers have it. */
struct pl_json_doc;
struct pl_json_node;
void people_turn_text(const struct pl_json_doc *doc, const struct pl_json_node *turn, char *to,
                      size_t size);

#endif
