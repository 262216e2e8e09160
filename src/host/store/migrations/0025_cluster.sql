-- What people see of the nodes, and ask of them. @compatible_from below: the oldest schema a program may know
-- and still use this one; a program before this migration does not ask. Words between @ as in 0001.
-- @compatible_from 25
ALTER TABLE schema_version ADD COLUMN compatible_from @int@ NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN n_sessions @int@ NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN n_running @int@ NOT NULL DEFAULT 0;
ALTER TABLE nodes ADD COLUMN n_sockets @int@ NOT NULL DEFAULT 0;
-- Somebody wants it to end; it looks whenever it renews its lease.
ALTER TABLE nodes ADD COLUMN wants_drain @int@ NOT NULL DEFAULT 0;
