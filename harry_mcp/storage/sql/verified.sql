-- name: insert :run
-- Store a candidate; one that is there already stays as it is.
INSERT INTO verified_responses (id, question, answer, sources, status, origin, result_id, submitted_by)
VALUES (%(id)s, %(question)s, %(answer)s, %(sources)s, 'candidate', %(origin)s, %(result_id)s, %(by)s)
ON CONFLICT (id) DO NOTHING

-- name: cite :run
-- Note the documents that an answer rests on, at the versions that they have now. Who vouches for an answer whose
-- document is served no more vouches for it without that document.
INSERT INTO verified_citations (verified_id, document_id, version)
SELECT %(id)s, d.id, d.version FROM documents d WHERE d.id = ANY (%(documents)s) AND d.status IN ('live', 'flagged')
ON CONFLICT (verified_id, document_id) DO UPDATE SET version = excluded.version

-- name: uncite :run
-- Forget what an answer rests on.
DELETE FROM verified_citations WHERE verified_id = %(id)s

-- name: lock :one
-- An entry, kept from other writers until the transaction ends. Not FOR UPDATE: who notes a serving holds its key, and
-- two of them and one FOR UPDATE would wait for one another for ever.
SELECT r.*, verified_held(r.id) AS held FROM verified_responses r WHERE id = %(id)s FOR NO KEY UPDATE OF r

-- name: by_id :one
-- An entry under its id.
SELECT r.*, verified_held(r.id) AS held FROM verified_responses r WHERE id = %(id)s

-- name: list :many
-- Entries of a status ('' for all), the last changed first.
SELECT r.*, verified_held(r.id) AS held FROM verified_responses r
 WHERE %(status)s = '' OR r.status = %(status)s
    OR (%(status)s = 'held' AND r.status = 'active' AND verified_held(r.id) <> '')
 ORDER BY r.updated_at DESC, r.id LIMIT %(limit)s OFFSET %(offset)s

-- name: decide :run
-- Approve, reject, retire or bring back an entry. Approving settles the complaints about what was served until then.
UPDATE verified_responses
   SET status = %(status)s, updated_at = now(),
       negatives = CASE WHEN %(status)s = 'active' THEN 0 ELSE negatives END,
       approved_by = CASE WHEN %(status)s = 'active' THEN %(by)s ELSE approved_by END,
       approved_at = CASE WHEN %(status)s = 'active' THEN now() ELSE approved_at END
 WHERE id = %(id)s

-- name: reword :run
-- Another answer to the same question; the uses of the one before do not speak for it.
UPDATE verified_responses SET answer = %(answer)s, uses = 0, updated_at = now() WHERE id = %(id)s

-- name: near :many
-- Active entries, with why each is held back ('' when it is not), the question nearest to a vector that each must
-- never answer (-1 when it has none), and the titles of those of its documents that are flagged for review.
SELECT r.*, verified_held(r.id) AS held, coalesce(f.cosine, -1) AS refused_cosine,
       coalesce(f.question, '') AS refused_question,
       array(SELECT d.title FROM verified_citations c JOIN documents d ON d.id = c.document_id
              WHERE c.verified_id = r.id AND d.status = 'flagged' ORDER BY d.title) AS flagged
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

-- name: marks :one
-- What a serving is marked with.
SELECT wrong, mismatch FROM verified_lookups WHERE id = %(id)s

-- name: standing :one
-- Whether anybody complains about a serving now, and says that it answers another question.
SELECT count(*) > 0 AS wrong, coalesce(bool_or(reason = ANY (%(mismatches)s::text[])), false) AS mismatch
  FROM feedback WHERE rating = 'down' AND result_id IN (%(id)s, nullif(%(search_id)s, ''))

-- name: mark_wrong :run
-- Say of a serving that it was wrong, or was not after all.
UPDATE verified_lookups SET wrong = %(wrong)s, mismatch = %(mismatch)s WHERE id = %(id)s

-- name: count_wrong :one
-- The servings since an entry was approved that somebody complained about.
SELECT count(*)::int AS negatives FROM verified_lookups l JOIN verified_responses r ON r.id = l.verified_id
 WHERE r.id = %(id)s AND l.match = 'exact' AND l.wrong AND l.created_at >= coalesce(r.approved_at, '-infinity')

-- name: settle :run
-- Set what complaints made of an entry.
UPDATE verified_responses
   SET negatives = %(negatives)s, threshold = %(threshold)s, status = %(status)s, updated_at = now()
 WHERE id = %(id)s

-- name: refuse :run
-- Remember a question that an entry must never answer.
INSERT INTO verified_refusals (id, verified_id, question, said_by)
VALUES (%(id)s, %(verified_id)s, %(question)s, %(by)s) ON CONFLICT (id) DO NOTHING
