-- name: log :run
-- One row for what was done to a document, or said of it.
INSERT INTO kb_curation_log (document_id, event, signal, actor, before, after, detail)
VALUES (%(document_id)s, %(event)s, %(signal)s, %(actor)s, %(before)s, %(after)s, %(detail)s)

-- name: of_document :many
-- What was done to a document and said of it, the last first.
SELECT id, document_id, event, signal, actor, before, after, detail, created_at FROM kb_curation_log
 WHERE document_id = %(document_id)s ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: by_address :many
-- The documents that any of some spellings of an address names.
SELECT id, title, status FROM documents WHERE url = ANY (%(spellings)s) OR source = ANY (%(spellings)s)
