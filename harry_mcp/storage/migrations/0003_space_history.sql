-- When an embedding space went into service, so that `harry reembed --back` knows the one before.

ALTER TABLE embedding_spaces ADD COLUMN activated_at timestamptz;
UPDATE embedding_spaces SET activated_at = now() WHERE active;
