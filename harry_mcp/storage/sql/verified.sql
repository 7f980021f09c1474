-- name: insert :run
-- Store a candidate; one that is there already stays as it is.
INSERT INTO verified_responses (id, question, answer, sources, status, origin, result_id, submitted_by)
VALUES (%(id)s, %(question)s, %(answer)s, %(sources)s, 'candidate', %(origin)s, %(result_id)s, %(by)s)
ON CONFLICT (id) DO NOTHING

-- name: cite :run
-- Note the documents that an answer rests on, at the versions that they have now.
INSERT INTO verified_citations (verified_id, document_id, version)
SELECT %(id)s, d.id, d.version FROM documents d WHERE d.id = ANY (%(documents)s)
ON CONFLICT (verified_id, document_id) DO UPDATE SET version = excluded.version

-- name: uncite :run
-- Forget what an answer rests on.
DELETE FROM verified_citations WHERE verified_id = %(id)s

-- name: lock :one
-- An entry, kept from other writers until the transaction ends.
SELECT r.*, verified_held(r.id) AS held FROM verified_responses r WHERE id = %(id)s FOR UPDATE

-- name: by_id :one
-- An entry.
SELECT r.*, verified_held(r.id) AS held FROM verified_responses r WHERE id = %(id)s

-- name: list :many
-- Entries of a status ('' for all), the last changed first.
SELECT r.*, verified_held(r.id) AS held FROM verified_responses r
 WHERE %(status)s = '' OR r.status = %(status)s
    OR (%(status)s = 'held' AND r.status = 'active' AND verified_held(r.id) <> '')
 ORDER BY r.updated_at DESC, r.id LIMIT %(limit)s OFFSET %(offset)s

-- name: decide :run
-- Approve, reject, retire or bring back an entry.
UPDATE verified_responses
   SET status = %(status)s, updated_at = now(),
       approved_by = CASE WHEN %(status)s = 'active' THEN %(by)s ELSE approved_by END,
       approved_at = CASE WHEN %(status)s = 'active' THEN now() ELSE approved_at END
 WHERE id = %(id)s

-- name: reword :run
-- Another answer to the same question.
UPDATE verified_responses SET answer = %(answer)s, updated_at = now() WHERE id = %(id)s

-- name: near :many
-- Active entries, with why each is held back ('' when it is not), and the question nearest to a vector that each must
-- never answer (-1 when it has none).
SELECT r.*, verified_held(r.id) AS held, coalesce(f.cosine, -1) AS refused_cosine,
       coalesce(f.question, '') AS refused_question
  FROM verified_responses r
  LEFT JOIN LATERAL (
    SELECT x.question, 1 - (m.embedding <=> %(query)s) AS cosine
      FROM verified_refusals x
      JOIN memory_vectors m ON m.space_id = %(space)s AND m.kind = 'never_serve' AND m.owner_id = x.id
     WHERE x.verified_id = r.id
     ORDER BY m.embedding <=> %(query)s LIMIT 1
  ) AS f ON true
 WHERE r.id = ANY (%(ids)s) AND r.status = 'active'

-- name: documents_of :many
-- The documents that entries rest on.
SELECT verified_id, document_id FROM verified_citations WHERE verified_id = ANY (%(ids)s)

-- name: count_use :run
-- One more exact serving.
UPDATE verified_responses SET uses = uses + 1 WHERE id = %(id)s

-- name: note_lookup :run
-- Write down a lookup and what it was answered with.
INSERT INTO verified_lookups (id, verified_id, search_id, question, match, cosine, reason)
VALUES (%(id)s, %(verified_id)s, %(search_id)s, %(question)s, %(match)s, %(cosine)s, %(reason)s)

-- name: lookup :one
-- The serving that a result id names: that of a lookup, or the one that came with a search.
SELECT id, verified_id, search_id, question, match, cosine, reason, wrong, created_at FROM verified_lookups
 WHERE id = %(id)s OR (search_id = %(id)s AND search_id <> '')
 ORDER BY created_at LIMIT 1

-- name: served :many
-- The last exact servings of an entry, for its threshold.
SELECT cosine, mismatch AS wrong FROM verified_lookups
 WHERE verified_id = %(id)s AND match = 'exact' ORDER BY created_at DESC LIMIT %(limit)s

-- name: mark_wrong :run
-- Say of a serving that it was wrong, or was not after all.
UPDATE verified_lookups SET wrong = %(wrong)s, mismatch = %(mismatch)s WHERE id = %(id)s

-- name: settle :run
-- Set what complaints made of an entry.
UPDATE verified_responses
   SET negatives = %(negatives)s, threshold = %(threshold)s, status = %(status)s, updated_at = now()
 WHERE id = %(id)s

-- name: refuse :run
-- Remember a question that an entry must never answer.
INSERT INTO verified_refusals (id, verified_id, question, said_by)
VALUES (%(id)s, %(verified_id)s, %(question)s, %(by)s) ON CONFLICT (id) DO NOTHING
