-- A writer's row goes a day after its process is gone, whatever its age: a process that needs it and
-- does not find it stops. is_gone is what others set, for ever; gone_ms is when that was, or, of a
-- command, when its connection was first seen to be missing (it may come back). Which connection that
-- is, is noted too. is_fenced stays for programs before this one. Words between @ as in 0001.
ALTER TABLE commits ADD COLUMN is_gone @int@ NOT NULL DEFAULT 0;
ALTER TABLE commits ADD COLUMN gone_ms @int@ NOT NULL DEFAULT 0;
ALTER TABLE commits ADD COLUMN backend_pid @int@ NOT NULL DEFAULT 0;
ALTER TABLE commits ADD COLUMN backend_us @int@ NOT NULL DEFAULT 0;
-- @postgres
UPDATE commits SET is_gone = 1, gone_ms = CAST(extract(epoch FROM now()) * 1000 AS BIGINT)
    WHERE is_fenced = 1;
-- @both
