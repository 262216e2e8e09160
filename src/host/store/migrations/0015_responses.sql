-- An answer that can be fetched again: as it was given, and how many turns of its session the request
-- had. Answers kept before have neither. Words between @ as in 0001.
ALTER TABLE kept_responses ADD COLUMN body TEXT;
ALTER TABLE kept_responses ADD COLUMN n_input @int@ NOT NULL DEFAULT 0;
