-- What was deleted can be had back for a while. Such a record belongs to nobody: its user is in deleted_of, and user_id
-- is that of nobody, so no statement about the things of a user finds it. Statements that name no user look at
-- deleted_ms, which is 0 for everything else. Words between @ as in 0001.

ALTER TABLE sessions ADD COLUMN deleted_of @bytes@;
ALTER TABLE sessions ADD COLUMN deleted_ms @int@ NOT NULL DEFAULT 0;
CREATE INDEX sessions_deleted ON sessions (deleted_of, deleted_ms) WHERE deleted_ms > 0;
CREATE INDEX sessions_deleted_by_age ON sessions (deleted_ms) WHERE deleted_ms > 0;

ALTER TABLE prompts ADD COLUMN deleted_of @bytes@;
ALTER TABLE prompts ADD COLUMN deleted_ms @int@ NOT NULL DEFAULT 0;
CREATE INDEX prompts_deleted ON prompts (deleted_of, deleted_ms) WHERE deleted_ms > 0;
CREATE INDEX prompts_deleted_by_age ON prompts (deleted_ms) WHERE deleted_ms > 0;

ALTER TABLE tasks ADD COLUMN deleted_of @bytes@;
ALTER TABLE tasks ADD COLUMN deleted_ms @int@ NOT NULL DEFAULT 0;
CREATE INDEX tasks_deleted ON tasks (deleted_of, deleted_ms) WHERE deleted_ms > 0;
CREATE INDEX tasks_deleted_by_age ON tasks (deleted_ms) WHERE deleted_ms > 0;

ALTER TABLE memories ADD COLUMN deleted_of @bytes@;
ALTER TABLE memories ADD COLUMN deleted_ms @int@ NOT NULL DEFAULT 0;
CREATE INDEX memories_deleted ON memories (deleted_of, deleted_ms) WHERE deleted_ms > 0;
CREATE INDEX memories_deleted_by_age ON memories (deleted_ms) WHERE deleted_ms > 0;
