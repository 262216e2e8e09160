-- How a session's models are asked: the text they are told first, their settings (JSON) and the tools
-- they are offered (JSON); the packet that the session accepted from another (JSON); and what the chat at
-- work says in their place (JSON). Words between @ as in 0001.
ALTER TABLE sessions ADD COLUMN system_prompt TEXT;
ALTER TABLE sessions ADD COLUMN settings TEXT;
ALTER TABLE sessions ADD COLUMN tools TEXT;
ALTER TABLE sessions ADD COLUMN handoff TEXT;
ALTER TABLE sessions ADD COLUMN chat_override TEXT;
