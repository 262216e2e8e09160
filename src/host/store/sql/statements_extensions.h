/* Statements for extensions, their tools, stored answers and the files of packages
 * (statements.h). */
#ifndef PL_STORE_STATEMENTS_EXTENSIONS_H
#define PL_STORE_STATEMENTS_EXTENSIONS_H

#define SQL_EXTENSION "(SELECT key FROM extensions WHERE id = ?1)"
#define SQL_EXTENSION_COLUMNS                                                                      \
    "id, name, version, runtime, artifact, manifest_hash, profile, granted, denied, state, "       \
    "revision, created_ms, updated_ms, source, last_error, manifest, registered, before_version, " \
    "before_manifest"

/* EXTENSION_UPDATE fails if the revision differs: it then writes a value that is not allowed. */
#define PL_SQL_EXTENSION_TABLE(X, EACH)                                                            \
    X(EXTENSION_CREATE, "ttttttttttiiitttttt",                                                     \
      "INSERT INTO extensions (" SQL_EXTENSION_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, "    \
      "?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)")                                 \
    X(EXTENSION_UPDATE, "ttttttttttiitttttt",                                                      \
      "UPDATE extensions SET name = ?2, version = ?3, runtime = ?4, artifact = ?5, "               \
      "manifest_hash = ?6, profile = ?7, granted = ?8, denied = ?9, state = ?10, "                 \
      "revision = CASE WHEN revision = ?11 THEN revision + 1 ELSE 0 END, updated_ms = ?12, "       \
      "source = ?13, last_error = ?14, manifest = ?15, registered = ?16, "                         \
      "before_version = ?17, before_manifest = ?18 WHERE id = ?1")                                 \
    X(EXTENSION_STATE, "ttti",                                                                     \
      "UPDATE extensions SET state = ?2, last_error = ?3, revision = revision + 1, "               \
      "updated_ms = ?4 WHERE id = ?1")                                                             \
    X(EXTENSION_RESTART, "t", "UPDATE extensions SET restarts = restarts + 1 WHERE id = ?1")       \
    X(EXTENSION_REGISTERED, "tt", "UPDATE extensions SET registered = ?2 WHERE id = ?1")           \
    X(EXTENSION_EXPECT, "t", SQL_MUST_BE("SELECT 1 FROM extensions WHERE id = ?1"))                \
    X(EXTENSION_DELETE, "t", "DELETE FROM extensions WHERE id = ?1")                               \
    X(EXTENSION_GET, "t",                                                                          \
      "SELECT " SQL_EXTENSION_COLUMNS ", restarts FROM extensions WHERE id = ?1")                  \
    X(EXTENSION_LIST, "",                                                                          \
      "SELECT " SQL_EXTENSION_COLUMNS ", restarts FROM extensions ORDER BY key")                   \
                                                                                                   \
    X(EXTENSION_TOOL_SEEN, "tttit",                                                                \
      "INSERT INTO extension_tools (extension, name, accepted, seen, seen_ms, definition) "        \
      "VALUES (" SQL_EXTENSION ", ?2, ?3, ?3, ?4, ?5) "                                            \
      "ON CONFLICT (extension, name) DO UPDATE SET seen = excluded.seen, "                         \
      "seen_ms = excluded.seen_ms, definition = excluded.definition")                              \
    X(EXTENSION_TOOL_ACCEPT, "ttt",                                                                \
      "UPDATE extension_tools SET accepted = seen WHERE extension = " SQL_EXTENSION                \
      " AND name = ?2 AND seen = ?3")                                                              \
    X(EXTENSION_TOOL_EXPECT, "ttt",                                                                \
      SQL_MUST_BE("SELECT 1 FROM extension_tools WHERE extension = " SQL_EXTENSION                 \
                  " AND name = ?2 AND accepted = ?3"))                                             \
    X(EXTENSION_TOOL_LIST, "t",                                                                    \
      "SELECT name, accepted, seen, seen_ms, definition FROM extension_tools "                     \
      "WHERE extension = " SQL_EXTENSION " ORDER BY name")                                         \
                                                                                                   \
    X(EXTENSION_ANSWER_PUT, "tbtttii",                                                             \
      "INSERT INTO extension_answers (extension, user_id, capability, target, manifest_hash, "     \
      "is_allowed, answered_ms) VALUES (" SQL_EXTENSION ", " SQL_LIVING(                           \
          "?2") ", ?3, ?4, ?5, ?6, ?7) ON CONFLICT (extension, user_id, capability, target) "      \
                "DO UPDATE SET manifest_hash = excluded.manifest_hash, "                           \
                "is_allowed = excluded.is_allowed, answered_ms = excluded.answered_ms")            \
    X(EXTENSION_ANSWER_LIST, "tb",                                                                 \
      "SELECT user_id, capability, target, manifest_hash, is_allowed, answered_ms "                \
      "FROM extension_answers WHERE extension = " SQL_EXTENSION                                    \
      " AND user_id = COALESCE(?2, user_id) ORDER BY user_id, capability, target")                 \
    X(EXTENSION_ANSWERS_FORGET, "tb",                                                              \
      "DELETE FROM extension_answers WHERE extension = " SQL_EXTENSION                             \
      " AND user_id = COALESCE(?2, user_id)")                                                      \
    X(EXTENSION_ANSWERS_GONE, "b", "DELETE FROM extension_answers WHERE user_id = ?1")             \
                                                                                                   \
    X(EXTENSION_QUARANTINE_PUT, "tbti",                                                            \
      "INSERT INTO extension_quarantines (extension, user_id, error, since_ms) "                   \
      "VALUES (" SQL_EXTENSION                                                                     \
      ", " SQL_LIVING("?2") ", ?3, ?4) ON CONFLICT (extension, user_id) "                          \
                            "DO UPDATE SET error = excluded.error, since_ms = excluded.since_ms")  \
    X(EXTENSION_QUARANTINE_LIST, "t",                                                              \
      "SELECT user_id, error, since_ms FROM extension_quarantines "                                \
      "WHERE extension = " SQL_EXTENSION " ORDER BY since_ms, user_id")                            \
    X(EXTENSION_QUARANTINES_FORGET, "t",                                                           \
      "DELETE FROM extension_quarantines WHERE extension = " SQL_EXTENSION)                        \
    X(EXTENSION_QUARANTINES_GONE, "b", "DELETE FROM extension_quarantines WHERE user_id = ?1")     \
                                                                                                   \
    X(PACKAGE_BEGIN, "ti",                                                                         \
      "INSERT INTO extension_packages (artifact, put_ms, is_whole) VALUES (?1, ?2, 0) "            \
      "ON CONFLICT (artifact) DO UPDATE SET put_ms = excluded.put_ms")                             \
    X(PACKAGE_FILE, "ttiib",                                                                       \
      "INSERT INTO extension_files (artifact, path, part, is_executable, bytes) "                  \
      "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (artifact, path, part) DO NOTHING")                 \
    X(PACKAGE_END, "t", "UPDATE extension_packages SET is_whole = 1 WHERE artifact = ?1")          \
    /* Packages without an extension, except new ones: their extension follows. */                 \
    X(PACKAGE_SWEEP, "i",                                                                          \
      "DELETE FROM extension_packages WHERE put_ms < ?1 AND artifact NOT IN "                      \
      "(SELECT artifact FROM extensions)")                                                         \
    X(PACKAGE_HAS, "t",                                                                            \
      "SELECT count(*) FROM extension_packages WHERE artifact = ?1 AND is_whole = 1")              \
    X(PACKAGE_FILES, "t",                                                                          \
      "SELECT path, part, is_executable, bytes FROM extension_files "                              \
      "WHERE artifact = ?1 ORDER BY path, part")                                                   \
                                                                                                   \
    X(CHECK_EXTENSION_FILES, "",                                                                   \
      "SELECT count(*) FROM extension_files "                                                      \
      "WHERE artifact NOT IN (SELECT artifact FROM extension_packages)")                           \
    X(CHECK_EXTENSION_TOOLS, "",                                                                   \
      "SELECT count(*) FROM extension_tools WHERE extension NOT IN (SELECT key FROM extensions)")  \
    X(CHECK_EXTENSION_ANSWERS, "",                                                                 \
      "SELECT count(*) FROM extension_answers "                                                    \
      "WHERE extension NOT IN (SELECT key FROM extensions)")                                       \
    X(CHECK_EXTENSION_QUARANTINES, "",                                                             \
      "SELECT count(*) FROM extension_quarantines "                                                \
      "WHERE extension NOT IN (SELECT key FROM extensions)")

#endif
