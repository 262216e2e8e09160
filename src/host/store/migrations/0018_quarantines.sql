-- Users for whom an extension has crashed too often: it stays stopped for them, and for nobody else, until an
-- administrator restarts, changes or updates it. Words between @ as in 0001.

CREATE TABLE extension_quarantines (
    extension @int@   NOT NULL REFERENCES extensions (key) ON DELETE CASCADE,
    user_id   @bytes@ NOT NULL,
    error     TEXT    NOT NULL,
    since_ms  @int@   NOT NULL,
    PRIMARY KEY (extension, user_id)
);
