-- Which node a session belongs to: only its owner changes it. The generation grows with every change of
-- the owner; 0, which cannot be, is written by who claims what is another's. Words between @ as in 0001.
ALTER TABLE sessions ADD COLUMN owner @bytes@;
ALTER TABLE sessions ADD COLUMN generation @int@ NOT NULL DEFAULT 1
    CONSTRAINT session_is_free CHECK (generation > 0);
CREATE INDEX sessions_of_owner ON sessions (owner) WHERE owner IS NOT NULL;
