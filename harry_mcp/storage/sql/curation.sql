-- name: log :run
-- One row for what was done to a document, or said of it.
INSERT INTO kb_curation_log (document_id, event, signal, actor, before, after, detail)
VALUES (%(document_id)s, %(event)s, %(signal)s, %(actor)s, %(before)s, %(after)s, %(detail)s)

-- name: of_document :many
-- What was done to a document and said of it, the last first.
SELECT id, document_id, event, signal, actor, before, after, detail, created_at FROM kb_curation_log
 WHERE document_id = %(document_id)s ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: told_by :many
-- Those of some documents that were logged for one saying of a person already.
SELECT DISTINCT document_id FROM kb_curation_log
 WHERE document_id = ANY (%(ids)s) AND detail ->> 'told_by' = %(told_by)s

-- name: by_address :many
-- The documents that any of some spellings of an address, or an id, names. Letter case counts only where it tells two
-- documents from one another, for an address may be stored as its document gave it.
WITH found AS (
    SELECT id, title, status,
           id = ANY (%(spellings)s) OR url = ANY (%(spellings)s) OR source = ANY (%(spellings)s) AS exact
      FROM documents
     WHERE id = ANY (%(spellings)s) OR lower(url) = ANY (%(lowered)s) OR lower(source) = ANY (%(lowered)s)
)
SELECT id, title, status FROM found WHERE exact OR NOT EXISTS (SELECT FROM found WHERE exact) ORDER BY id
