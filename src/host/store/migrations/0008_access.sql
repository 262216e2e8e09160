-- Users that are disabled or were erased, and what a key may do. Words between @ as in 0001.

-- When it was disabled; 0: it is not.
ALTER TABLE users ADD COLUMN disabled_ms @int@ NOT NULL DEFAULT 0;

-- Erased users, by their id alone: what a request that was already under way brings afterwards is
-- refused, so nothing of an erased user comes back.
CREATE TABLE gone_users (
    id @bytes@ NOT NULL PRIMARY KEY
);

-- What a key may do. Keys from before this keep what they could do: a new one is an administrator's
-- only if that was asked for. `models` has one name to a line; none: every model. After a rotation
-- the old secret is good until old_until_ms.
ALTER TABLE api_keys ADD COLUMN scope TEXT NOT NULL DEFAULT 'all';
ALTER TABLE api_keys ADD COLUMN is_admin @int@ NOT NULL DEFAULT 1;
ALTER TABLE api_keys ADD COLUMN models TEXT NOT NULL DEFAULT '';
ALTER TABLE api_keys ADD COLUMN expires_ms @int@ NOT NULL DEFAULT 0;
ALTER TABLE api_keys ADD COLUMN old_until_ms @int@ NOT NULL DEFAULT 0;
ALTER TABLE api_keys ADD COLUMN old_hash @bytes@;

-- As in 0002, with one reason more. It never has a row.
DROP TABLE refusals;
CREATE TABLE refusals (
    reason TEXT NOT NULL,
    CONSTRAINT prompt_is_there CHECK (reason <> 'prompt_is_there'),
    CONSTRAINT memory_is_there CHECK (reason <> 'memory_is_there'),
    CONSTRAINT memory_has_room CHECK (reason <> 'memory_has_room'),
    CONSTRAINT memory_chain_ends CHECK (reason <> 'memory_chain_ends'),
    CONSTRAINT task_is_there CHECK (reason <> 'task_is_there'),
    CONSTRAINT admin_is_left CHECK (reason <> 'admin_is_left')
);
