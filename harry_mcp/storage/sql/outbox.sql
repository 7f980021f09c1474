-- name: watched :one
-- Whether changes of vectors are written to the outbox, by all of the triggers that do.
SELECT (SELECT count(*) FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
          JOIN pg_namespace n ON n.oid = c.relnamespace
         WHERE n.nspname = 'harry' AND t.tgname IN ('tell_added', 'tell_changed', 'tell_removed', 'tell_refiled')
           AND c.relname IN ('chunk_vectors', 'documents')) = 4 AS yes

-- name: watch_added :run
-- Write new searchable vectors to the outbox.
CREATE OR REPLACE TRIGGER tell_added AFTER INSERT ON chunk_vectors
REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_added_vectors()

-- name: watch_changed :run
-- Write vectors that are shown, hidden or made anew to the outbox.
CREATE OR REPLACE TRIGGER tell_changed AFTER UPDATE ON chunk_vectors
REFERENCING OLD TABLE AS removed NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION note_changed_vectors()

-- name: watch_removed :run
-- Write removed vectors to the outbox, also those that go with their document.
CREATE OR REPLACE TRIGGER tell_removed AFTER DELETE ON chunk_vectors
REFERENCING OLD TABLE AS removed FOR EACH STATEMENT EXECUTE FUNCTION note_removed_vectors()

-- name: watch_refiled :run
-- Write the vectors of a document whose filtered columns change to the outbox.
CREATE OR REPLACE TRIGGER tell_refiled AFTER UPDATE ON documents FOR EACH ROW
WHEN ((OLD.topic, OLD.language, OLD.source, OLD.url, OLD.updated_at)
      IS DISTINCT FROM (NEW.topic, NEW.language, NEW.source, NEW.url, NEW.updated_at))
EXECUTE FUNCTION note_refiled_document()

-- name: unwatch_added :run
-- Write new vectors to the outbox no more; the three below are the other triggers.
DROP TRIGGER IF EXISTS tell_added ON chunk_vectors

-- name: unwatch_changed :run
-- Write changes no more.
DROP TRIGGER IF EXISTS tell_changed ON chunk_vectors

-- name: unwatch_removed :run
-- Write removals no more.
DROP TRIGGER IF EXISTS tell_removed ON chunk_vectors

-- name: unwatch_refiled :run
-- Write changes of documents no more.
DROP TRIGGER IF EXISTS tell_refiled ON documents

-- name: empty :run
-- Forget what was to be told.
DELETE FROM vector_outbox

-- name: standing :one
-- What a search must know before it asks: the collection of a space, the oldest changes that it does not hold yet,
-- whether there is anything to tell at all, and the words of the filters as the documents' are kept.
SELECT coalesce((SELECT c.name FROM vector_collections c WHERE c.space_id = %(space)s), '') AS collection,
       ARRAY(SELECT o.chunk_id FROM vector_outbox o WHERE o.space_id = %(space)s
              ORDER BY o.id LIMIT %(most)s) AS pending,
       EXISTS (SELECT FROM vector_outbox) AS waiting,
       lower(%(topic)s::text) AS topic, lower(%(language)s::text) AS language

-- name: anything :one
-- Whether there is anything to do: changes to tell, a space without a collection, a collection without a space.
SELECT EXISTS (SELECT FROM vector_outbox)
    OR EXISTS (SELECT FROM embedding_spaces s WHERE NOT EXISTS
                (SELECT FROM vector_collections c WHERE c.space_id = s.id))
    OR EXISTS (SELECT FROM vector_collections c WHERE NOT EXISTS
                (SELECT FROM embedding_spaces s WHERE s.id = c.space_id)) AS yes

-- name: take_time :run
-- Let the statements of this session take their time: a whole space may be written to the outbox.
SELECT set_config('statement_timeout', '0', false)

-- name: claim :one
-- Be the only one who applies the outbox, until it is released or this session ends.
SELECT pg_try_advisory_lock(%(lock)s::int, 0) AS yes

-- name: release :one
-- Let the next one.
SELECT pg_advisory_unlock(%(lock)s::int, 0) AS yes

-- name: next :many
-- The oldest changes and what their chunks are by now, in one snapshot; no vector where no search may see the chunk.
WITH batch AS (
    SELECT o.id, o.space_id, o.chunk_id, k.name FROM vector_outbox o
      JOIN vector_collections k ON k.space_id = o.space_id ORDER BY o.id LIMIT %(limit)s
)
SELECT b.id, b.chunk_id, b.name AS collection, v.embedding::real[] AS vector,
       coalesce(lower(d.topic), '') AS topic, coalesce(d.language, '') AS language, coalesce(d.source, '') AS source,
       coalesce(d.url, '') AS url, coalesce(extract(epoch FROM d.updated_at), 0)::float8 AS updated_at
  FROM batch b
  LEFT JOIN chunk_vectors v ON v.space_id = b.space_id AND v.chunk_id = b.chunk_id AND v.searchable
  LEFT JOIN chunks c ON c.id = v.chunk_id
  LEFT JOIN documents d ON d.id = c.document_id
 ORDER BY b.id

-- name: done :run
-- Take off the outbox what was applied: these rows and no later ones of the same chunks.
DELETE FROM vector_outbox WHERE id = ANY (%(ids)s::bigint[])

-- name: without_collection :many
-- The spaces that have no collection yet.
SELECT s.id, s.dimension FROM embedding_spaces s
 WHERE NOT EXISTS (SELECT FROM vector_collections c WHERE c.space_id = s.id) ORDER BY s.active DESC, s.id

-- name: adopt :run
-- Take a new, empty collection for a space: from here on all that it should hold is in the outbox.
WITH taken AS (
    INSERT INTO vector_collections (space_id, name) VALUES (%(space)s, %(name)s)
    ON CONFLICT (space_id) DO UPDATE SET name = excluded.name, made_at = now()
)
INSERT INTO vector_outbox (space_id, chunk_id)
SELECT v.space_id, v.chunk_id FROM chunk_vectors v WHERE v.space_id = %(space)s AND v.searchable ORDER BY v.chunk_id

-- name: collections :many
-- Every collection with what it should hold, whether its space is still there, and what it has to be told.
SELECT c.space_id, c.name, s.id IS NOT NULL AS wanted, coalesce(s.active, false) AS active,
       coalesce(s.dimension, 0) AS dimension,
       (SELECT count(*)::int FROM chunk_vectors v WHERE v.space_id = c.space_id AND v.searchable) AS vectors,
       (SELECT count(*)::int FROM vector_outbox o WHERE o.space_id = c.space_id) AS pending
  FROM vector_collections c LEFT JOIN embedding_spaces s ON s.id = c.space_id
 ORDER BY active DESC, c.space_id

-- name: forget :run
-- Forget a collection, and what it had to be told.
WITH gone AS (DELETE FROM vector_outbox WHERE space_id = %(space)s)
DELETE FROM vector_collections WHERE space_id = %(space)s

-- name: forget_orphans :run
-- Forget what a removed space without a collection had to be told.
DELETE FROM vector_outbox o WHERE NOT EXISTS (SELECT FROM embedding_spaces s WHERE s.id = o.space_id)
   AND NOT EXISTS (SELECT FROM vector_collections c WHERE c.space_id = o.space_id)

-- name: backlog :one
-- How many changes there are to tell, and the seconds since the oldest of them was written.
SELECT count(*)::int AS changes,
       coalesce(extract(epoch FROM now() - min(written_at)), 0)::float8 AS seconds
  FROM vector_outbox
