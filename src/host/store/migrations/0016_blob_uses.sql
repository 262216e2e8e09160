-- Which sessions, prompts and tasks refer to a blob, so that a blob goes when nothing does any more. Words between @
-- as in 0001.

-- Since when nothing may refer to it; 0: something does, or its owner put it there. -1: it is older than this table,
-- so that nobody knows, and it stays.
ALTER TABLE blobs ADD COLUMN unused_ms @int@ NOT NULL DEFAULT -1;
CREATE INDEX blobs_unused ON blobs (unused_ms, key) WHERE unused_ms > 0;

-- One of the three is set. A row goes with either end.
CREATE TABLE blob_uses (
    key     @key@,
    blob    @int@ NOT NULL REFERENCES blobs (key) ON DELETE CASCADE,
    session @int@ REFERENCES sessions (key) ON DELETE CASCADE,
    prompt  @int@ REFERENCES prompts (key) ON DELETE CASCADE,
    task    @int@ REFERENCES tasks (key) ON DELETE CASCADE
);
CREATE INDEX blob_uses_of_blob ON blob_uses (blob);
CREATE UNIQUE INDEX blob_uses_of_session ON blob_uses (session, blob) WHERE session IS NOT NULL;
CREATE UNIQUE INDEX blob_uses_of_prompt ON blob_uses (prompt, blob) WHERE prompt IS NOT NULL;
CREATE UNIQUE INDEX blob_uses_of_task ON blob_uses (task, blob) WHERE task IS NOT NULL;

-- The usage of all users in some days.
CREATE INDEX usage_days_by_day ON usage_days (day);
