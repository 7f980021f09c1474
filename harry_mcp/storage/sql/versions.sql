-- name: keep_document :run
-- Keep a document as it is, for the action that is about to replace its text.
INSERT INTO document_versions (action_id, document_id, version, title, url, topic, language, content, content_hash,
                               recipe, rewritten_from, updated_at)
SELECT %(action_id)s, id, version, title, url, topic, language, content, content_hash, recipe, rewritten_from,
       updated_at
  FROM documents WHERE id = %(document_id)s

-- name: keep_chunks :run
-- Keep its chunks with their numbers.
INSERT INTO version_chunks (action_id, document_id, chunk_id, public_id, ordinal, heading_path, raw_content,
                            contextual_content, span_start, span_end)
SELECT %(action_id)s, document_id, id, public_id, ordinal, heading_path, raw_content, contextual_content, span_start,
       span_end
  FROM chunks WHERE document_id = %(document_id)s

-- name: keep_vectors :run
-- Keep their vectors in every embedding space.
INSERT INTO version_vectors (action_id, chunk_id, space_id, embedding)
SELECT %(action_id)s, v.chunk_id, v.space_id, v.embedding
  FROM chunk_vectors v JOIN chunks c ON c.id = v.chunk_id WHERE c.document_id = %(document_id)s

-- name: note_source :run
-- Note which source a rewritten document stands in for: the one that its first text came from.
UPDATE documents d
   SET rewritten_from = CASE WHEN v.rewritten_from = '' THEN v.content_hash ELSE v.rewritten_from END
  FROM document_versions v
 WHERE v.action_id = %(action_id)s AND v.document_id = d.id AND d.id = %(document_id)s

-- name: drop_chunks :run
-- Remove the chunks of a document that no search sees, and their vectors with them.
DELETE FROM chunks WHERE document_id = %(document_id)s

-- name: bring_document :run
-- Make a document what it was when it was kept; its status stays.
UPDATE documents d
   SET version = v.version, title = v.title, url = v.url, topic = v.topic, language = v.language, content = v.content,
       content_hash = v.content_hash, recipe = v.recipe, rewritten_from = v.rewritten_from, updated_at = v.updated_at
  FROM document_versions v
 WHERE v.action_id = %(action_id)s AND v.document_id = d.id AND d.id = %(document_id)s

-- name: bring_chunks :run
-- Bring the kept chunks back under their numbers.
INSERT INTO chunks (id, public_id, document_id, ordinal, heading_path, raw_content, contextual_content, span_start,
                    span_end)
OVERRIDING SYSTEM VALUE
SELECT chunk_id, public_id, document_id, ordinal, heading_path, raw_content, contextual_content, span_start, span_end
  FROM version_chunks WHERE action_id = %(action_id)s AND document_id = %(document_id)s

-- name: bring_vectors :run
-- Bring their vectors back, in every space that there still is; no search sees them yet.
INSERT INTO chunk_vectors (space_id, chunk_id, searchable, embedding)
SELECT v.space_id, v.chunk_id, false, v.embedding
  FROM version_vectors v JOIN version_chunks c ON c.action_id = v.action_id AND c.chunk_id = v.chunk_id
 WHERE c.action_id = %(action_id)s AND c.document_id = %(document_id)s

-- name: without_vector :many
-- The kept chunks of an action that have no vector in a space, as after a change of the embedding model; with all others
-- of their documents, for there are models whose vector of a passage depends on its neighbours.
SELECT c.chunk_id AS id, c.document_id, c.contextual_content AS text FROM version_chunks c
 WHERE c.action_id = %(action_id)s
   AND EXISTS (SELECT FROM version_chunks o
                WHERE o.action_id = c.action_id AND o.document_id = c.document_id
                  AND NOT EXISTS (SELECT FROM version_vectors v
                                   WHERE v.action_id = o.action_id AND v.chunk_id = o.chunk_id
                                     AND v.space_id = %(space)s))
 ORDER BY c.document_id, c.ordinal

-- name: forget_vectors :run
-- Remove the vectors of chunks in a space.
DELETE FROM chunk_vectors WHERE space_id = %(space)s AND chunk_id = ANY (%(ids)s::int[])

-- name: of_document :many
-- The versions of a document that rewrites replaced and that are kept, the newest first. One whose rewrite was undone is
-- the live one again, or one below it, and no predecessor.
SELECT v.version, v.title, length(v.content) AS characters, v.kept_at AS replaced_at, v.action_id
  FROM document_versions v
 WHERE v.document_id = %(document_id)s AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = v.action_id)
 ORDER BY v.kept_at DESC, v.version DESC

-- name: text :one
-- The text of a kept version.
SELECT content AS text, length(content) AS total FROM document_versions
 WHERE action_id = %(action_id)s AND document_id = %(document_id)s
