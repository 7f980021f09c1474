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
