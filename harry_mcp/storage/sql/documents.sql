-- name: by_id :one
-- The document under an id.
SELECT d.id, d.source, d.title, d.url, d.topic, d.language, d.status, d.version, d.content_hash,
       length(d.content) AS characters, (SELECT count(*)::int FROM chunks c WHERE c.document_id = d.id) AS chunk_count,
       d.created_at, d.updated_at, d.caveats
  FROM documents d WHERE d.id = %(id)s

-- name: find :one
-- The document that an id, a URL or a source names; an exact id first.
SELECT d.id, d.source, d.title, d.url, d.topic, d.language, d.status, d.version, d.content_hash,
       length(d.content) AS characters, (SELECT count(*)::int FROM chunks c WHERE c.document_id = d.id) AS chunk_count,
       d.created_at, d.updated_at, d.caveats
  FROM documents d
 WHERE d.id = %(key)s OR d.source = %(key)s OR d.url = %(key)s
    OR d.id = (SELECT document_id FROM chunks WHERE public_id = %(key)s)
 ORDER BY d.id = %(key)s DESC, d.source = %(key)s DESC, d.updated_at DESC
 LIMIT 1

-- name: lock :one
-- The identity and state of a document, held until the transaction ends.
SELECT id, status, version, content_hash, recipe, rewritten_from FROM documents WHERE id = %(id)s FOR UPDATE

-- name: states :many
-- The identity and state of documents, to see which of them changed.
SELECT id, status, version, content_hash, recipe, rewritten_from FROM documents WHERE id = ANY (%(ids)s::text[])

-- name: insert :run
-- Enter a new document.
INSERT INTO documents (id, source, title, url, topic, language, status, content, content_hash, recipe, title_terms)
VALUES (%(id)s, %(source)s, %(title)s, %(url)s, %(topic)s, %(language)s, %(status)s, %(content)s,
        %(content_hash)s, %(recipe)s, %(title_terms)s)

-- name: replace :run
-- Give a document its next version.
UPDATE documents
   SET title = %(title)s, url = %(url)s, topic = %(topic)s, language = %(language)s, status = %(status)s,
       content = %(content)s, content_hash = %(content_hash)s, recipe = %(recipe)s, title_terms = %(title_terms)s,
       rewritten_from = '', version = next_version(id), updated_at = now()
 WHERE id = %(id)s

-- name: confirm :run
-- Note that the text of a document is what its source says.
UPDATE documents SET rewritten_from = '' WHERE id = %(id)s

-- name: set_status :run
-- Move a document to another status.
UPDATE documents SET status = %(status)s WHERE id = %(id)s

-- name: set_caveats :run
-- Add to what is told of a flagged document, or begin anew.
UPDATE documents SET caveats = CASE WHEN %(fresh)s THEN '{}' ELSE caveats END || %(caveats)s::jsonb WHERE id = %(id)s

-- name: drop_caveat :run
-- Take back what one signal said of a document.
UPDATE documents SET caveats = caveats - %(signal)s::text WHERE id = %(id)s AND caveats ? %(signal)s::text

-- name: set_title_terms :run
-- Keep the term ids of a document's title.
UPDATE documents SET title_terms = %(terms)s WHERE id = %(id)s

-- name: title_terms :one
-- The term ids of a document's title.
SELECT title_terms AS terms FROM documents WHERE id = %(id)s

-- name: text :one
-- A page of a document's text.
SELECT substr(content, %(offset)s::int + 1, %(limit)s::int) AS text, length(content) AS total
  FROM documents WHERE id = %(id)s

-- name: sources_under :many
-- The sources that begin with a prefix, to see which are gone.
SELECT source, title FROM documents
 WHERE starts_with(source, %(prefix)s) AND status NOT IN ('archived', 'rejected') ORDER BY source

-- name: counts :many
-- How many documents stand in each status, and their chunks.
SELECT d.status, count(DISTINCT d.id)::int AS documents, count(c.id)::int AS chunks
  FROM documents d LEFT JOIN chunks c ON c.document_id = d.id GROUP BY d.status ORDER BY d.status

-- name: delete :run
-- Remove a document and all that hangs on it.
DELETE FROM documents WHERE id = %(id)s

-- name: beginnings :many
-- The beginnings of the searchable documents, the last changed first, for the words in them.
SELECT left(content, %(each)s) AS text FROM documents
 WHERE status IN ('live', 'flagged') ORDER BY updated_at DESC, id LIMIT %(most)s

-- name: faces :many
-- What the keyword index must know of some documents.
SELECT id, title, language FROM documents WHERE id = ANY (%(ids)s::text[]) ORDER BY id

-- name: set_terms_of_titles :run
-- Keep the term ids of the titles of documents.
UPDATE documents d SET title_terms = t.terms
  FROM unnest(%(ids)s::text[], %(terms)s::bytea[]) AS t (id, terms) WHERE d.id = t.id
