-- What an extension was before its last update with another manifest: so that it can be shown what this version asks for
-- that the last one did not.

ALTER TABLE extensions ADD COLUMN before_version TEXT;
ALTER TABLE extensions ADD COLUMN before_manifest TEXT;
