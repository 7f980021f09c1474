-- name: lock :one
-- The verdict that stands under an id, kept from other writers until the transaction ends.
SELECT rating, reason FROM feedback WHERE id = %(id)s FOR UPDATE

-- name: standing :one
-- The verdict that stands under an id.
SELECT rating, reason FROM feedback WHERE id = %(id)s

-- name: put :run
-- Store a verdict in place of the one before.
INSERT INTO feedback (id, result_id, author, rating, reason, question, answer, comment, source_urls, verified_id)
VALUES (%(id)s, %(result_id)s, %(author)s, %(rating)s, %(reason)s, %(question)s, %(answer)s, %(comment)s,
        %(source_urls)s, %(verified_id)s)
ON CONFLICT (id) DO UPDATE
   SET rating = excluded.rating, reason = excluded.reason, answer = excluded.answer, comment = excluded.comment,
       source_urls = excluded.source_urls, verified_id = excluded.verified_id, updated_at = now()

-- name: failures :many
-- Verdicts that say what was wrong, by id.
SELECT id, question, reason, comment, source_urls, created_at FROM feedback
 WHERE id = ANY (%(ids)s) AND rating = 'down'

-- name: counts :many
-- Verdicts of a number of days by rating and reason.
SELECT rating, reason, count(*)::int AS number FROM feedback
 WHERE created_at > now() - make_interval(days => %(days)s::int) GROUP BY rating, reason ORDER BY number DESC

-- name: praised :many
-- Results that somebody praised and nobody complained of, the first first.
SELECT f.result_id, f.question, f.source_urls, min(f.created_at) AS created_at FROM feedback f
 WHERE f.rating = 'up' AND NOT EXISTS (
     SELECT FROM feedback d WHERE d.rating = 'down' AND (d.result_id = f.result_id OR d.question = f.question))
 GROUP BY f.result_id, f.question, f.source_urls ORDER BY created_at, f.result_id
