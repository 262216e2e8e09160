/* Statements for what was deleted and can be had back (statements.h; 0017_deleted.sql). */
#ifndef PL_STORE_STATEMENTS_DELETED_H
#define PL_STORE_STATEMENTS_DELETED_H

/* The same for every kind: ?1 its id, ?2 its user; of BURY ?3 nobody, ?4 now. `also` is what else changes when it is
 * deleted, `back` when it comes back. FULL keeps the newest ?3 of a user, OLD takes ?2 of those deleted before ?1. */
#define SQL_DELETED_KIND(X, NAME, table, id, type, key, also, back)                                \
    X(NAME##_BURY, type "bbi",                                                                     \
      "UPDATE " table " SET deleted_of = user_id, user_id = ?3, deleted_ms = ?4" also " WHERE " id \
      " = ?1 AND user_id = ?2")                                                                    \
    X(NAME##_RAISE, type "b",                                                                      \
      "UPDATE " table " SET user_id = deleted_of, deleted_of = NULL, deleted_ms = 0" back          \
      " WHERE " id " = ?1 AND deleted_of = ?2")                                                    \
    X(NAME##_RAISED, type "b",                                                                     \
      SQL_MUST_BE("SELECT 1 FROM " table " WHERE " id " = ?1 AND user_id = ?2"))                   \
    X(NAME##_DROP, type "b", "DELETE FROM " table " WHERE " id " = ?1 AND deleted_of = ?2")        \
    X(NAME##_FULL, "bi",                                                                           \
      "DELETE FROM " table " WHERE deleted_of = ?1 AND " key " NOT IN (SELECT " key " FROM " table \
      " WHERE deleted_of = ?1 ORDER BY deleted_ms DESC, " key " DESC LIMIT ?2)")                   \
    X(NAME##_OLD, "ii",                                                                            \
      "DELETE FROM " table " WHERE " key " IN (SELECT " key " FROM " table                         \
      " WHERE deleted_ms > 0 AND deleted_ms < ?1 ORDER BY deleted_ms LIMIT ?2)")

#define SQL_DELETED_ROWS(kind, id, number, title, table)                                           \
    "SELECT '" kind "' AS kind, " id " AS id, CAST(" number " AS BIGINT) AS number, "              \
    "substr(" title ", 1, 200) AS title, deleted_ms FROM " table " WHERE deleted_of = ?1"

#define PL_SQL_DELETED_TABLE(X, EACH)                                                                                                                  \
    SQL_DELETED_KIND(X, SESSION, "sessions", "id", "b", "key", ", shared = 0", "")                                                                     \
    SQL_DELETED_KIND(X, PROMPT, "prompts", "id", "b", "key", "", "")                                                                                   \
    /* The time of its next run may be long over. */                                                                                                   \
    SQL_DELETED_KIND(X, TASK, "tasks", "id", "b", "key", "",                                                                                           \
                     ", enabled = 0, revision = revision + 1")                                                                                         \
    SQL_DELETED_KIND(X, MEMORY, "memories", "id", "i", "id", ", superseded_by = 0", "")                                                                \
    X(SESSION_UNQUEUE, "bb",                                                                                                                           \
      "DELETE FROM queued WHERE session = (SELECT key FROM sessions WHERE id = ?1 AND "                                                                \
      "user_id = ?2)")                                                                                                                                 \
    EACH(PROMPT_RETAG, "bb",                                                                                                                           \
         SQL_TAGS_OF "value FROM prompts, json_each(prompts.tags) WHERE prompts.id = ?1 AND "                                                          \
                     "prompts.user_id = ?2",                                                                                                           \
         SQL_TAGS_OF "value FROM prompts, json_array_elements_text(prompts.tags::json) AS value "                                                      \
                     "WHERE prompts.id = ?1 AND prompts.user_id = ?2")                                                                                 \
    X(DELETED_LIST, "bt",                                                                                                                              \
      "SELECT kind, id, number, title, deleted_ms FROM (" SQL_DELETED_ROWS("session", "id", "0", "intent", "sessions") " UNION ALL " SQL_DELETED_ROWS( \
          "prompt", "id", "0", "name",                                                                                                                 \
          "prompts") " UNION ALL " SQL_DELETED_ROWS("task", "id", "0", "title",                                                                        \
                                                    "tasks") " UNION ALL " SQL_DELETED_ROWS("memo"                                                     \
                                                                                            "ry",                                                      \
                                                                                            "uid",                                                     \
                                                                                            "id",                                                      \
                                                                                            "cont"                                                     \
                                                                                            "ent",                                                     \
                                                                                            "memo"                                                     \
                                                                                            "rie"                                                      \
                                                                                            "s") ") AS d WHERE ?2 = '' OR kind = ?2 ORDER BY deleted_ms DESC, id DESC")

#endif
