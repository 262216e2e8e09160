-- Servers that share a database. A node's row is its lease: it renews it every second, and who reads
-- that it has run out may take over. Times are the database's. The writer is the node's row in commits,
-- which fences what it writes. Words between @ as in 0001.
CREATE TABLE nodes (
    writer     @bytes@ NOT NULL PRIMARY KEY REFERENCES commits (writer) ON DELETE CASCADE,
    name       TEXT    NOT NULL,
    state      TEXT    NOT NULL CONSTRAINT node_state CHECK (state IN ('up', 'draining', 'gone')),
    until_ms   @int@   NOT NULL,
    renewed_ms @int@   NOT NULL,
    build      TEXT    NOT NULL,
    protocol   @int@   NOT NULL,
    address    TEXT    NOT NULL
);
