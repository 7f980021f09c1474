-- name: add_vectors :run
-- Store the vectors of chunks.
INSERT INTO chunk_vectors (space_id, chunk_id, searchable, embedding)
SELECT %(space)s, v.chunk_id, %(searchable)s, v.embedding
  FROM unnest(%(chunks)s::int[], %(vectors)b::public.vector[]) AS v (chunk_id, embedding)

-- name: set_searchable :run
-- Show a document's vectors to searches, or hide them.
UPDATE chunk_vectors SET searchable = %(searchable)s
 WHERE chunk_id IN (SELECT id FROM chunks WHERE document_id = %(document_id)s)

-- name: stored_vectors :many
-- The vectors that a document's chunks already have, for the chunks that do not change.
SELECT c.public_id, v.embedding FROM chunks c JOIN chunk_vectors v ON v.chunk_id = c.id
 WHERE c.document_id = %(document_id)s AND v.space_id = %(space)s

-- name: nearest :many
-- The searchable chunks nearest to a query vector, with their cosine similarity.
SELECT v.chunk_id, 1 - (v.embedding::public.vector({dimension}) <=> %(query)s::public.vector({dimension})) AS score
  FROM chunk_vectors v
 WHERE v.space_id = {space} AND v.searchable
 ORDER BY v.embedding::public.vector({dimension}) <=> %(query)s::public.vector({dimension})
 LIMIT %(limit)s

-- name: nearest_filtered :many
-- The same among the documents that a filter lets through.
SELECT v.chunk_id, 1 - (v.embedding::public.vector({dimension}) <=> %(query)s::public.vector({dimension})) AS score
  FROM chunk_vectors v
  JOIN chunks c ON c.id = v.chunk_id
  JOIN documents d ON d.id = c.document_id
 WHERE v.space_id = {space} AND v.searchable
   AND passes_filter(d, %(topic)s, %(source)s, %(language)s, %(since)s)
 ORDER BY v.embedding::public.vector({dimension}) <=> %(query)s::public.vector({dimension})
 LIMIT %(limit)s

-- name: held :many
-- Those of some chunks that are searchable at this moment, with their cosine similarity: what another index found.
SELECT v.chunk_id, 1 - (v.embedding::public.vector({dimension}) <=> %(query)s::public.vector({dimension})) AS score
  FROM chunk_vectors v
 WHERE v.space_id = {space} AND v.searchable AND v.chunk_id = ANY (%(ids)s::int[])

-- name: held_filtered :many
-- The same among the documents that a filter lets through.
SELECT v.chunk_id, 1 - (v.embedding::public.vector({dimension}) <=> %(query)s::public.vector({dimension})) AS score
  FROM chunk_vectors v
  JOIN chunks c ON c.id = v.chunk_id
  JOIN documents d ON d.id = c.document_id
 WHERE v.space_id = {space} AND v.searchable AND v.chunk_id = ANY (%(ids)s::int[])
   AND passes_filter(d, %(topic)s, %(source)s, %(language)s, %(since)s)
