-- name: log :one
-- One row for what was done to a document, or said of it.
INSERT INTO kb_curation_log (document_id, event, signal, actor, before, after, detail, evidence)
VALUES (%(document_id)s, %(event)s, %(signal)s, %(actor)s, %(before)s, %(after)s, %(detail)s, %(evidence)s)
RETURNING id

-- name: known :one
-- The row of a signal that rests on some evidence.
SELECT id FROM kb_curation_log
 WHERE document_id = %(document_id)s AND signal = %(signal)s AND evidence = %(evidence)s AND evidence <> ''

-- name: of_document :many
-- What was done to a document and said of it, the last first.
SELECT id, document_id, event, signal, actor, before, after, detail, created_at FROM kb_curation_log
 WHERE document_id = %(document_id)s ORDER BY created_at DESC, id DESC LIMIT %(limit)s
