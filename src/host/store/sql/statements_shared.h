/* Data that nodes share besides sessions (node/shared.c): the version of users and keys, tickets,
 * the code of the first start, and grants of per-minute limits. SQLite, with its one process, keeps
 * only the version. */
#ifndef PL_STORE_STATEMENTS_SHARED_H
#define PL_STORE_STATEMENTS_SHARED_H

#include "store/sql/statements_commits.h"

/* Deletes a row, and fails if there is none: if several processes try, one succeeds. */
#define SQL_TAKE(what)                                                                             \
    "WITH taken AS (DELETE FROM " what " RETURNING 1) INSERT INTO refusals (reason) "              \
    "SELECT CAST(NULL AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM taken)"

#define PL_SQL_SHARED_TABLE(X, EACH)                                                               \
    X(AUTH_RAISE, "", "UPDATE counters SET number = number + 1 WHERE name = 'auth_version'")       \
    X(AUTH_VERSION, "", "SELECT number FROM counters WHERE name = 'auth_version'")                 \
    X(EXT_RAISE, "", "UPDATE counters SET number = number + 1 WHERE name = 'ext_version'")         \
    X(EXT_VERSION, "", "SELECT number FROM counters WHERE name = 'ext_version'")                   \
    EACH(TICKET_PUT, "bbti", "SELECT ?1, ?2, ?3, ?4 WHERE 0",                                      \
         "INSERT INTO tickets (hash, user_id, key_id, until_ms) VALUES (?1, ?2, ?3, " SQL_BASE_MS  \
         " + ?4)")                                                                                 \
    /* All but the newest ?2 of the user ?1. */                                                    \
    EACH(TICKET_TRIM, "bi", "SELECT ?1, ?2 WHERE 0",                                               \
         "DELETE FROM tickets WHERE user_id = ?1 AND number <= (SELECT number FROM tickets "       \
         "WHERE user_id = ?1 ORDER BY number DESC LIMIT 1 OFFSET ?2)")                             \
    EACH(TICKET_SWEEP, "", "SELECT 1 WHERE 0",                                                     \
         "DELETE FROM tickets WHERE until_ms <= " SQL_BASE_MS)                                     \
    EACH(TICKET_GET, "b", "SELECT ?1 WHERE 0",                                                     \
         "SELECT user_id, key_id FROM tickets WHERE hash = ?1 AND until_ms > " SQL_BASE_MS)        \
    EACH(TICKET_TAKE, "b", "SELECT ?1 WHERE 0",                                                    \
         SQL_TAKE("tickets WHERE hash = ?1 AND until_ms > " SQL_BASE_MS))                          \
    /* A valid code of a node that is not gone stays and is extended. */                           \
    EACH(LOGIN_CODE_PUT, "ti", "SELECT ?1, ?2 WHERE 0",                                            \
         "INSERT INTO login_codes (place, code, until_ms) VALUES (1, ?1, " SQL_BASE_MS " + ?2) "   \
         "ON CONFLICT (place) DO UPDATE SET until_ms = excluded.until_ms, writer = "               \
         "excluded.writer, code = CASE WHEN "                                                      \
         "login_codes.until_ms > " SQL_BASE_MS " AND NOT " SQL_WRITER_LEFT(                        \
             "login_codes") " THEN login_codes.code ELSE excluded.code END")                       \
    EACH(LOGIN_CODE_GET, "", "SELECT 1 WHERE 0",                                                   \
         "SELECT code, until_ms - " SQL_BASE_MS " FROM login_codes WHERE until_ms > " SQL_BASE_MS) \
    EACH(LOGIN_CODE_TAKE, "t", "SELECT ?1 WHERE 0",                                                \
         SQL_TAKE("login_codes WHERE code = ?1 AND until_ms > " SQL_BASE_MS))                      \
    EACH(LOGIN_CODE_END, "", "SELECT 1 WHERE 0", "DELETE FROM login_codes")                        \
    /* ?1 id, ?2 kind, ?3 limit, ?4 size; returns the grant and how long it is valid. */           \
    EACH(GRANT_TAKE, "ttii", "SELECT ?1, ?2, ?3, ?4 WHERE 0",                                      \
         "INSERT INTO key_grants AS g (id, kind, minute, taken, given) VALUES (?1, "               \
         "?2, " SQL_BASE_MS                                                                        \
         " / 60000, LEAST(?3, ?4), LEAST(?3, ?4)) ON CONFLICT (id, kind, minute) DO UPDATE SET "   \
         "taken = g.taken + GREATEST(0, LEAST(?4, ?3 - g.taken)), "                                \
         "given = GREATEST(0, LEAST(?4, ?3 - g.taken)) "                                           \
         "RETURNING given, 60000 - " SQL_BASE_MS " % 60000")                                       \
    EACH(GRANT_SWEEP, "", "SELECT 1 WHERE 0",                                                      \
         "DELETE FROM key_grants WHERE minute < " SQL_BASE_MS " / 60000 - 2")

#endif
