-- name: reserve :many
-- Ids for new chunks, known before the chunks are there.
SELECT nextval('harry.chunks_id_seq')::int AS id FROM generate_series(1, %(count)s::int)

-- name: insert :run
-- Enter the chunks of a document under reserved ids.
INSERT INTO chunks (id, public_id, document_id, ordinal, heading_path, raw_content, contextual_content,
                    span_start, span_end, terms)
OVERRIDING SYSTEM VALUE
SELECT c.id, c.public_id, %(document_id)s, c.ordinal,
       ARRAY(SELECT jsonb_array_elements_text(c.heading_path)), c.raw_content, c.contextual_content,
       c.span_start, c.span_end, c.terms
  FROM unnest(%(ids)s::int[], %(public_ids)s::text[], %(ordinals)s::int[], %(heading_paths)s::jsonb[],
              %(raw)s::text[], %(contextual)s::text[], %(starts)s::int[], %(ends)s::int[], %(terms)s::bytea[])
    AS c (id, public_id, ordinal, heading_path, raw_content, contextual_content, span_start, span_end, terms)

-- name: of_document :many
-- The chunks of a document with what the keyword index holds of them.
SELECT id, contextual_content, terms FROM chunks WHERE document_id = %(document_id)s ORDER BY ordinal

-- name: faces :many
-- The two faces of a document's chunks, to keep the contexts of passages that did not change.
SELECT raw_content, contextual_content FROM chunks WHERE document_id = %(document_id)s ORDER BY ordinal DESC

-- name: set_terms :run
-- Keep the term ids of chunks.
UPDATE chunks c SET terms = t.terms
  FROM unnest(%(ids)s::int[], %(terms)s::bytea[]) AS t (id, terms) WHERE c.id = t.id

-- name: delete_of_document :run
-- Remove the chunks of a document, and their vectors with them.
DELETE FROM chunks WHERE document_id = %(document_id)s

-- name: passages :many
-- The text of searchable chunks and what is to be said of their documents.
SELECT c.id AS chunk_id, c.public_id, c.document_id, c.ordinal, c.heading_path, c.raw_content,
       c.contextual_content, c.span_start, c.span_end,
       d.title, d.url, d.source, d.topic, d.language, d.status, d.updated_at, d.caveats
  FROM chunks c JOIN documents d ON d.id = c.document_id
 WHERE c.id = ANY (%(ids)s::int[]) AND d.status IN ('live', 'flagged')

-- name: of_documents :many
-- The passages of some documents, document by document in their order.
SELECT id, document_id, contextual_content FROM chunks
 WHERE document_id = ANY (%(ids)s::text[]) ORDER BY document_id, ordinal
