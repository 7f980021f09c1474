-- name: put :run
-- Store vectors, in place of those of the same owners.
INSERT INTO memory_vectors (space_id, kind, owner_id, active, embedding)
SELECT %(space)s, %(kind)s, v.owner_id, v.active, v.embedding
  FROM unnest(%(owners)s::text[], %(active)s::boolean[], %(vectors)s::public.vector[]) AS v (owner_id, active, embedding)
ON CONFLICT (space_id, kind, owner_id) DO UPDATE SET active = excluded.active, embedding = excluded.embedding

-- name: set_active :run
-- Let owners be found, or not, in every space; a correction with the questions that it was made on.
UPDATE memory_vectors m SET active = %(active)s
 WHERE (m.kind = %(kind)s AND m.owner_id = ANY (%(owners)s))
    OR (%(kind)s = 'correction' AND m.kind = 'asked'
        AND m.owner_id IN (SELECT q.id FROM correction_questions q WHERE q.correction_id = ANY (%(owners)s)))

-- name: recall :many
-- The active memories nearest to a vector, so many of each kind.
SELECT k.kind, n.owner_id, n.cosine
  FROM unnest(%(kinds)s::text[], %(limits)s::int[]) AS k (kind, most)
 CROSS JOIN LATERAL (
    SELECT m.owner_id, 1 - (m.embedding <=> %(query)s) AS cosine FROM memory_vectors m
     WHERE m.space_id = %(space)s AND m.kind = k.kind AND m.active
     ORDER BY m.embedding <=> %(query)s LIMIT k.most
  ) AS n

-- name: missing_verified :many
-- Verified responses without a vector in a space, and the text that it is made of. Here and below: in a transaction
-- their status stays as it is until the end.
SELECT id AS owner_id, question AS text, status = 'active' AS active FROM verified_responses r
 WHERE NOT EXISTS (SELECT FROM memory_vectors m
                    WHERE m.space_id = %(space)s AND m.kind = 'verified' AND m.owner_id = r.id)
 ORDER BY id LIMIT %(limit)s FOR SHARE OF r

-- name: missing_never_serve :many
-- Refused questions without a vector in a space.
SELECT id AS owner_id, question AS text, true AS active FROM verified_refusals r
 WHERE NOT EXISTS (SELECT FROM memory_vectors m
                    WHERE m.space_id = %(space)s AND m.kind = 'never_serve' AND m.owner_id = r.id)
 ORDER BY id LIMIT %(limit)s FOR SHARE OF r

-- name: missing_failure :many
-- Questions that went wrong, without a vector in a space.
SELECT id AS owner_id, question AS text, true AS active FROM feedback f
 WHERE rating = 'down'
   AND NOT EXISTS (SELECT FROM memory_vectors m
                    WHERE m.space_id = %(space)s AND m.kind = 'failure' AND m.owner_id = f.id)
 ORDER BY id LIMIT %(limit)s FOR SHARE OF f

-- name: missing_correction :many
-- Corrections without a vector in a space.
SELECT id AS owner_id, lesson AS text, status = 'active' AS active
  FROM corrections c
 WHERE NOT EXISTS (SELECT FROM memory_vectors m
                    WHERE m.space_id = %(space)s AND m.kind = 'correction' AND m.owner_id = c.id)
 ORDER BY id LIMIT %(limit)s FOR SHARE OF c

-- name: missing_asked :many
-- Questions that corrections were made on, without a vector in a space.
SELECT q.id AS owner_id, q.question AS text, c.status = 'active' AS active
  FROM correction_questions q JOIN corrections c ON c.id = q.correction_id
 WHERE NOT EXISTS (SELECT FROM memory_vectors m
                    WHERE m.space_id = %(space)s AND m.kind = 'asked' AND m.owner_id = q.id)
 ORDER BY q.id LIMIT %(limit)s FOR SHARE OF c
