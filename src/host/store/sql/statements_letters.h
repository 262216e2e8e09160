/* Letters between nodes, in PostgreSQL (node/letters.c). SQLite has the table, but no nodes.
 *
 * A row is written only for a node that is not gone, and only that node reads it. A NOTIFY locks
 * the whole database until its commit, so it is never in one transaction with the rows. */
#ifndef PL_STORE_STATEMENTS_LETTERS_H
#define PL_STORE_STATEMENTS_LETTERS_H

#include "store/sql/statements_commits.h"

/* The channel that a node listens on; `hex` is its writer. */
#define SQL_LETTER_CHANNEL(hex) "'parley_' || " hex
#define SQL_LETTER_RING(writer) "pg_notify(" SQL_LETTER_CHANNEL("encode(" writer ", 'hex')") ", '')"
#define SQL_LETTER_INSERT       "INSERT INTO letters (receiver, sender, number, sent_ms, body) "

#define PL_SQL_LETTER_TABLE(EACH)                                                                  \
    /* From ?1, with its number ?2; returns a row for every receiver. */                           \
    EACH(LETTER_PUT, "bibb", "SELECT ?1, ?2, ?3, ?4 WHERE 0",                                      \
         SQL_LETTER_INSERT "SELECT writer, ?1, ?2, " SQL_BASE_MS ", ?3 FROM nodes WHERE writer = " \
                           "?4 AND state <> 'gone' RETURNING key")                                 \
    EACH(LETTER_PUT_ALL, "bib", "SELECT ?1, ?2, ?3 WHERE 0",                                       \
         SQL_LETTER_INSERT "SELECT writer, ?1, ?2, " SQL_BASE_MS ", ?3 FROM nodes WHERE writer "   \
                           "<> ?1 AND state <> 'gone' RETURNING key")                              \
    /* ?1: concatenated writer ids. */                                                             \
    EACH(LETTER_RING, "b", "SELECT ?1 WHERE 0",                                                    \
         "SELECT " SQL_LETTER_RING(                                                                \
             "substring(?1 FROM n * 16 + 1 FOR 16)") " FROM generate_series"                       \
                                                     "(0, length(?1) / 16 - 1) AS n")              \
    EACH(LETTER_RING_ALL, "b", "SELECT ?1 WHERE 0",                                                \
         "SELECT " SQL_LETTER_RING("writer") " FROM nodes WHERE writer <> ?1 AND state <> 'gone'") \
    EACH(LETTER_TAKE, "bi", "SELECT ?1, ?2 WHERE 0",                                               \
         "WITH taken AS (DELETE FROM letters WHERE key IN (SELECT key FROM letters WHERE "         \
         "receiver = ?1 ORDER BY key LIMIT ?2) RETURNING key, sender, number, body) SELECT "       \
         "sender, number, body FROM taken ORDER BY key")                                           \
    EACH(LETTER_EXPIRE, "i", "SELECT ?1 WHERE 0",                                                  \
         "DELETE FROM letters WHERE sent_ms < " SQL_BASE_MS " - ?1 OR receiver NOT IN "            \
         "(SELECT writer FROM nodes WHERE state <> 'gone')")

#endif
