-- A person's sign-in is a key that only a cookie carries. Words between @ as in 0001.
ALTER TABLE api_keys ADD COLUMN is_login @int@ NOT NULL DEFAULT 0;
