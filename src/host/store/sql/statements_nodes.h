/* Nodes and their leases, in PostgreSQL (node/node_line.c). SQLite has the table, but no nodes. */
#ifndef PL_STORE_STATEMENTS_NODES_H
#define PL_STORE_STATEMENTS_NODES_H

#include "store/sql/statements_commits.h"

/* 1 if the writer of this row of nodes has the connection named in its row of commits, else 0. */
#define SQL_WRITER_CONNECTIONS                                                                     \
    "(SELECT count(*) FROM commits AS c, pg_stat_get_activity(CAST(c.backend_pid AS INTEGER)) AS " \
    "a WHERE c.writer = nodes.writer AND (a.backend_start IS NULL OR c.backend_us = 0 "            \
    "OR " SQL_BACKEND_US("a") " = c.backend_us))"

#define PL_SQL_NODE_TABLE(EACH)                                                                    \
    /* The writer is NULL, and so PL_NOT_FOUND, if its row is gone. ?6 is the TTL. */              \
    EACH(NODE_ENTER, "bttiti", "SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE 0",                            \
         "INSERT INTO nodes (writer, name, build, protocol, address, state, until_ms, "            \
         "renewed_ms) VALUES ((SELECT writer FROM commits WHERE writer = ?1 AND is_gone = 0 AND "  \
         "is_fenced = 0), ?2, ?3, ?4, ?5, 'up', " SQL_BASE_MS " + ?6, " SQL_BASE_MS ")")           \
    /* ?3 to ?5: its sessions, running turns and sockets. */                                       \
    EACH(NODE_RENEW, "biiii", "SELECT ?1, ?2, ?3, ?4, ?5 WHERE 0",                                 \
         "UPDATE nodes SET renewed_ms = " SQL_BASE_MS ", until_ms = " SQL_BASE_MS " + ?2, "        \
         "n_sessions = ?3, n_running = ?4, n_sockets = ?5 "                                        \
         "WHERE writer = ?1 AND state <> 'gone' RETURNING until_ms")                               \
    /* Checks the writer's connection only if its node has not renewed for ?1. */                  \
    EACH(NODE_LIST, "i", "SELECT ?1 WHERE 0",                                                      \
         "SELECT writer, name, build, address, protocol, state, until_ms, "                        \
         "renewed_ms, " SQL_BASE_MS ", (SELECT count(*) FROM (SELECT 1 FROM letters WHERE "        \
         "receiver = writer LIMIT 1) AS l), (SELECT number FROM counters WHERE name = "            \
         "'auth_version'), n_sessions, n_running, n_sockets, wants_drain, CASE WHEN "              \
         "renewed_ms > " SQL_BASE_MS " - ?1 THEN 1 ELSE " SQL_WRITER_CONNECTIONS                   \
         " END, (SELECT number FROM counters WHERE name = 'ext_version') FROM nodes WHERE state "  \
         "<> "                                                                                     \
         "'gone' ORDER BY name, writer")                                                           \
    /* Counts standbys, not backups; and whether commits wait. Roles may hide the state. */        \
    EACH(NODE_STANDBYS, "", "SELECT 0, 0",                                                         \
         "SELECT count(*), CASE WHEN current_setting('synchronous_standby_names') <> '' AND "      \
         "current_setting('synchronous_commit') <> 'local' THEN 1 ELSE 0 END FROM "                \
         "pg_stat_replication WHERE state IS DISTINCT FROM 'backup'")                              \
    /* Drains node ?1 if another node stays. Locks rows first, so concurrent calls recount. */     \
    EACH(NODE_ASK_DRAIN, "t", "SELECT ?1 WHERE 0",                                                 \
         "WITH here AS (SELECT writer, name FROM nodes WHERE state = 'up' AND wants_drain = 0 "    \
         "AND until_ms > " SQL_BASE_MS " ORDER BY writer FOR UPDATE), asked AS (UPDATE nodes SET " \
         "wants_drain = 1 WHERE writer IN (SELECT writer FROM here WHERE name = ?1) AND EXISTS "   \
         "(SELECT 1 FROM here WHERE name <> ?1) RETURNING 1) INSERT INTO refusals (reason) "       \
         "SELECT CAST(NULL AS TEXT) WHERE NOT EXISTS (SELECT 1 FROM asked)")                       \
    EACH(NODE_BECOME, "btt", "SELECT ?1, ?2, ?3 WHERE 0",                                          \
         "UPDATE nodes SET state = ?2 WHERE writer = ?1 AND state = ?3 RETURNING protocol")        \
    EACH(NODE_LOCK_WRITER, "b", "SELECT ?1 WHERE 0",                                               \
         "SELECT number FROM commits WHERE writer = ?1 FOR UPDATE")                                \
    EACH(NODE_LOCK, "b", "SELECT ?1 WHERE 0",                                                      \
         "SELECT state, until_ms, renewed_ms, " SQL_BASE_MS                                        \
         " FROM nodes WHERE writer = ?1 FOR UPDATE")                                               \
    EACH(NODE_FENCE, "b", "SELECT ?1 WHERE 0",                                                     \
         "UPDATE commits SET is_gone = 1, is_fenced = 1, gone_ms = " SQL_BASE_MS                   \
         " WHERE writer = ?1")                                                                     \
    /* Writers that are gone and still own sessions. */                                            \
    EACH(NODE_LEFT, "", "SELECT 1 WHERE 0",                                                        \
         "SELECT DISTINCT owner FROM sessions JOIN commits ON writer = owner WHERE is_gone = 1")   \
    EACH(NODE_REWIND, "b", "SELECT ?1 WHERE 0",                                                    \
         "UPDATE sessions SET epoch = epoch + 1 WHERE owner = ?1")                                 \
    EACH(NODE_GONE, "b", "SELECT ?1 WHERE 0", "UPDATE nodes SET state = 'gone' WHERE writer = ?1") \
    /* Only the connection named in the row, not a later one with the same pid. */                 \
    EACH(NODE_END_WRITER, "b", "SELECT ?1 WHERE 0",                                                \
         "SELECT CAST(count(pg_terminate_backend(a.pid)) AS BIGINT) FROM commits JOIN "            \
         "pg_stat_activity AS a ON a.pid = commits.backend_pid WHERE writer = ?1 "                 \
         "AND " SQL_BACKEND_US("a") " = commits.backend_us")

#define SQL_OWNER_IS_GONE "EXISTS (SELECT 1 FROM commits WHERE writer = owner AND is_gone = 1)"
/* Unlocked sessions of the node ?1, which is gone. */
#define SQL_OWNER_LEFT(which, limit)                                                               \
    "SELECT key FROM sessions WHERE owner = ?1 AND " SQL_OWNER_IS_GONE " AND " which               \
    " ORDER BY key LIMIT " limit " FOR UPDATE SKIP LOCKED"

#define PL_SQL_OWNER_TABLE(X, EACH)                                                                \
    X(OWNER_CLAIM, "bb",                                                                           \
      "UPDATE sessions SET owner = ?2, generation = CASE WHEN owner = ?2 THEN generation WHEN "    \
      "owner IS NULL OR " SQL_OWNER_IS_GONE " THEN generation + 1 ELSE 0 END WHERE id = ?1")       \
    X(OWNER_RELEASE, "bb",                                                                         \
      "UPDATE sessions SET owner = NULL, generation = generation + 1 WHERE id = ?1 AND owner = "   \
      "?2")                                                                                        \
    X(OWNER_EXPECT, "bbi",                                                                         \
      SQL_MUST_BE("SELECT 1 FROM sessions WHERE id = ?1 AND owner = ?2 AND generation = ?3"))      \
    X(OWNER_EXPECT_EPOCH, "bbi",                                                                   \
      SQL_MUST_BE("SELECT 1 FROM sessions WHERE id = ?1 AND owner = ?2 AND epoch = ?3"))           \
    /* Turns of user ?1 on other nodes than ?2; the first condition selects an index. */           \
    X(OWNER_RUNNING, "bb",                                                                         \
      "SELECT count(*) FROM sessions WHERE status IN ('running', 'waiting_for_input') AND "        \
      "status = 'running' AND user_id = ?1 AND owner <> ?2")                                       \
    X(OWNER_GET, "b",                                                                              \
      "SELECT owner, generation, (SELECT count(*) FROM commits WHERE writer = owner AND is_gone "  \
      "= 1) FROM sessions WHERE id = ?1 AND deleted_ms = 0")                                       \
    EACH(OWNER_SETTLE_RUNNING, "bbi", "SELECT ?1, ?2, ?3 WHERE 0",                                 \
         "UPDATE sessions SET owner = ?2, generation = generation + 1 WHERE key IN "               \
         "(" SQL_OWNER_LEFT("status = 'running'", "?3") ") RETURNING id, epoch")                   \
    EACH(OWNER_SETTLE_QUIET, "bi", "SELECT ?1, ?2 WHERE 0",                                        \
         "UPDATE sessions SET owner = NULL, generation = generation + 1 WHERE key IN "             \
         "(" SQL_OWNER_LEFT("status <> 'running'", "?2") ") RETURNING key")

#endif
