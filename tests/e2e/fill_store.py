"""Fills a store that no server has open, faster than a client could.

    fill_store.py DB sessions N     makes N copies of the newest session, with its turns
    fill_store.py DB turns N        appends N turns to the newest session, repeating its own
    fill_store.py DB fold           moves everything from the log into the file
"""
import sqlite3
import sys

path, what, *rest = sys.argv[1:]
db = sqlite3.connect(path)


def columns(table):
    return [row[1] for row in db.execute(f"PRAGMA table_info({table})") if row[1] != "key"]


def copy(table, where, changes, args):
    """Copies rows of a table with some columns changed, for every number of the series `n`."""
    chosen = ", ".join(changes.get(name, name) for name in columns(table))
    db.execute(f"WITH RECURSIVE n(i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ?) "
               f"INSERT INTO {table} ({', '.join(columns(table))}) SELECT {chosen} FROM n, {table} t WHERE {where}",
               args)


key, n_turns = db.execute("SELECT key, next_entry FROM sessions ORDER BY key DESC LIMIT 1").fetchone()
# The first nine bytes of an id have its time and its kind.
fresh = "CAST(substr(t.id, 1, 9) || randomblob(7) AS BLOB)"
if what == "sessions":
    first = key + 1
    copy("sessions", "t.key = ?", {"id": fresh}, (0, int(rest[0]), key))
    copy("turns", "t.session = ?", {"id": fresh, "session": "n.i", "client_message_id": "NULL"},
         (first, first + int(rest[0]), key))
elif what == "turns":
    copy("turns", "t.session = ? AND t.sequence = n.i % ?",
         {"id": fresh, "sequence": "n.i", "client_message_id": "NULL"}, (n_turns, int(rest[0]), key, n_turns))
    db.execute("UPDATE sessions SET next_entry = ? WHERE key = ?", (int(rest[0]), key))
db.commit()
if what == "fold":
    db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
