/* The writers in PostgreSQL (postgres/commit.c): the rows of the table commits. SQLite has one
 * process and does not use them.
 *
 * A mark fails if the writer's row is gone, fenced or of another generation. A row is deleted a day
 * after its writer is gone, by the database's clock, never because of its own age. A server is gone
 * when another has fenced it, or when it has left. A command counts as gone when its connection is
 * missing. If it reconnects, it is no longer gone; a day is much longer than any process waits for
 * a database. */
#ifndef PL_STORE_STATEMENTS_COMMITS_H
#define PL_STORE_STATEMENTS_COMMITS_H

/* The database's clock, constant within a statement. If a statement waits for a lock, its time is
 * from before the wait: its lease ends sooner, and a node becomes due later. Both are safe. */
#define SQL_BASE_MS         "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS BIGINT)"
#define SQL_BACKEND_US(row) "CAST(extract(epoch FROM " row ".backend_start) * 1000000 AS BIGINT)"
/* When the current connection began. */
#define SQL_OWN_BACKEND_US                                                                         \
    "COALESCE((SELECT " SQL_BACKEND_US(                                                            \
        "a") " FROM pg_stat_activity AS a WHERE a.pid = pg_backend_pid()), 0)"

/* Rows of this table whose writer is gone or unknown. */
#define SQL_WRITER_LEFT(table)                                                                     \
    "(" table ".writer IS NULL OR NOT EXISTS (SELECT 1 FROM commits WHERE commits.writer = " table \
    ".writer AND commits.is_gone = 0))"

/* Sets the writer of this connection: the default of the writer columns. */
#define SQL_BE_WRITER "set_config('parley.writer', encode(writer, 'hex'), false)"

#define PL_SQL_COMMIT_TABLE(EACH)                                                                  \
    EACH(COMMIT_ENTER, "bii", "SELECT ?1, ?2, ?3 WHERE 0",                                         \
         "INSERT INTO commits (writer, number, generation, created_ms, is_server, backend_pid, "   \
         "backend_us) VALUES (?1, 0, 0, ?2, ?3, pg_backend_pid(), " SQL_OWN_BACKEND_US             \
         ") RETURNING " SQL_BE_WRITER)                                                             \
    /* Of another user's connections only the pid is visible. */                                   \
    EACH(COMMIT_MISS, "b", "SELECT ?1 WHERE 0",                                                    \
         "UPDATE commits SET gone_ms = " SQL_BASE_MS " WHERE is_server = 0 AND gone_ms = 0 AND "   \
         "writer <> ?1 AND NOT EXISTS (SELECT 1 FROM pg_stat_activity AS a WHERE a.pid = "         \
         "commits.backend_pid AND (a.backend_start IS NULL OR commits.backend_us = 0 "             \
         "OR " SQL_BACKEND_US("a") " = commits.backend_us))")                                      \
    EACH(COMMIT_FORGET, "i", "SELECT ?1 WHERE 0",                                                  \
         "DELETE FROM commits WHERE gone_ms > 0 AND gone_ms < " SQL_BASE_MS " - ?1")               \
    EACH(COMMIT_MARK, "bii", "SELECT ?1, ?2, ?3 WHERE 0",                                          \
         "WITH mark AS (UPDATE commits SET number = ?2 WHERE writer = ?1 AND generation = ?3 "     \
         "AND is_gone = 0 AND is_fenced = 0 RETURNING 1) INSERT INTO refusals (reason) "           \
         "SELECT CAST(NULL AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM mark)")                        \
    EACH(COMMIT_RESUME, "b", "SELECT ?1 WHERE 0",                                                  \
         "UPDATE commits SET generation = generation + 1, gone_ms = 0, backend_pid = "             \
         "pg_backend_pid(), backend_us = " SQL_OWN_BACKEND_US                                      \
         " WHERE writer = ?1 AND is_gone = 0 AND is_fenced = 0 RETURNING number, "                 \
         "generation, " SQL_BE_WRITER)

#endif
