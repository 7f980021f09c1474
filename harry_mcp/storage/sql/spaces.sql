-- name: active :one
-- The embedding space that searches and writers use.
SELECT id, provider, model, dimension, version FROM embedding_spaces WHERE active

-- name: previous :one
-- The space that was active before, to go back to.
SELECT id, provider, model, dimension, version FROM embedding_spaces
 WHERE NOT active AND activated_at IS NOT NULL ORDER BY activated_at DESC, id DESC LIMIT 1

-- name: all :many
-- Every space with how much of the knowledge base it holds, the active one first.
SELECT s.id, s.provider, s.model, s.dimension, s.version, s.active,
       (SELECT count(*)::int FROM chunk_vectors v WHERE v.space_id = s.id) AS vectors,
       (SELECT count(*)::int FROM chunks) AS chunks
  FROM embedding_spaces s ORDER BY s.active DESC, s.activated_at DESC NULLS LAST, s.id

-- name: idle :many
-- The spaces that are not in service, how many vectors each holds, and the bytes that they take.
SELECT s.id, s.provider, s.model, s.dimension, s.version,
       (SELECT count(*)::int FROM chunk_vectors v WHERE v.space_id = s.id) AS vectors,
       coalesce(pg_total_relation_size(to_regclass('chunk_vectors_' || s.id)), 0)::bigint AS bytes
  FROM embedding_spaces s WHERE NOT s.active ORDER BY s.id

-- name: hold :one
-- Hold a space for this session, so that it is not dropped while it is filled; freed when the session ends.
SELECT pg_advisory_lock_shared(%(lock)s::int, %(space)s::int) IS NOT NULL AS held

-- name: try_drop :one
-- Whether nobody holds a space; nobody can then until the transaction ends.
SELECT pg_try_advisory_xact_lock(%(lock)s::int, %(space)s::int) AS held

-- name: hurry :run
-- Give up after some seconds what others lock: searches queue behind a statement that waits for the vectors.
SELECT set_config('lock_timeout', '5s', true)

-- name: drop_partition :run
-- Remove the vectors of a space.
DROP TABLE IF EXISTS chunk_vectors_{space}

-- name: drop_memories :run
-- Remove the vectors that a space holds of what was learnt beside the documents.
DELETE FROM memory_vectors WHERE space_id = %(space)s

-- name: forget :run
-- Remove a space that is not in service.
DELETE FROM embedding_spaces WHERE id = %(space)s AND NOT active

-- name: add :one
-- Register a space, active when it is the first.
INSERT INTO embedding_spaces (provider, model, dimension, version, active, activated_at)
SELECT %(provider)s, %(model)s, %(dimension)s, %(version)s, first.yes, CASE WHEN first.yes THEN now() END
  FROM (SELECT NOT EXISTS (SELECT FROM embedding_spaces WHERE active) AS yes) AS first
ON CONFLICT (provider, model, dimension, version) DO UPDATE SET provider = excluded.provider
RETURNING id, provider, model, dimension, version

-- name: create_partition :run
-- Make room for the vectors of a space.
CREATE TABLE IF NOT EXISTS chunk_vectors_{space}
PARTITION OF chunk_vectors FOR VALUES IN ({space})

-- name: create_index :run
-- Index the searchable vectors of a space: HNSW over cosine distance.
CREATE INDEX IF NOT EXISTS chunk_vectors_{space}_hnsw ON chunk_vectors_{space}
USING hnsw ((embedding::public.vector({dimension})) public.vector_cosine_ops) WHERE searchable

-- name: missing :many
-- Chunks after a given one that have no vector in a space yet.
SELECT c.id, c.document_id, c.contextual_content AS text FROM chunks c
 WHERE c.id > %(after)s
   AND NOT EXISTS (SELECT FROM chunk_vectors v WHERE v.space_id = %(space)s AND v.chunk_id = c.id)
 ORDER BY c.id LIMIT %(limit)s

-- name: whole_documents :many
-- All chunks of the documents that some chunks belong to, document by document in their order.
SELECT c.id, c.document_id, c.contextual_content AS text FROM chunks c
 WHERE c.document_id IN (SELECT document_id FROM chunks WHERE id = ANY (%(ids)s::int[]))
 ORDER BY c.document_id, c.ordinal

-- name: progress :one
-- How many chunks there are, and how many of them a space lacks.
SELECT count(*)::int AS chunks, (count(*) FILTER (WHERE v.chunk_id IS NULL))::int AS missing
  FROM chunks c LEFT JOIN chunk_vectors v ON v.space_id = %(space)s AND v.chunk_id = c.id

-- name: characters_missing :one
-- How many characters a space lacks, all of them when it is not registered.
SELECT coalesce(sum(length(c.contextual_content)), 0)::bigint AS characters FROM chunks c
 WHERE NOT EXISTS (
    SELECT FROM chunk_vectors v JOIN embedding_spaces s ON s.id = v.space_id
     WHERE v.chunk_id = c.id AND s.provider = %(provider)s AND s.model = %(model)s
       AND s.dimension = %(dimension)s AND s.version = %(version)s
 )

-- name: fill :run
-- Store vectors of chunks in a space; chunks that went or were filled meanwhile are passed over.
INSERT INTO chunk_vectors (space_id, chunk_id, searchable, embedding)
SELECT %(space)s, c.id, d.status IN ('live', 'flagged'), v.embedding
  FROM unnest(%(chunks)s::int[], %(vectors)s::public.vector[]) AS v (chunk_id, embedding)
  JOIN chunks c ON c.id = v.chunk_id
  JOIN documents d ON d.id = c.document_id
ON CONFLICT DO NOTHING

-- name: retire :run
-- Take the active space out of service; its vectors stay.
UPDATE embedding_spaces SET active = false WHERE active

-- name: activate :run
-- Put a space into service.
UPDATE embedding_spaces SET active = true, activated_at = now() WHERE id = %(space)s

-- name: announce :run
-- Move the index's revision on, so that every process that remembers it looks again which space is in service.
UPDATE corpus SET revision = revision + 1 WHERE one_row
