-- The mode of a session, which stays what it is when the session leaves the memory: planning (1) or
-- executing (0). Words between @ as in 0001.
ALTER TABLE sessions ADD COLUMN is_planning @int@ NOT NULL DEFAULT 0;
