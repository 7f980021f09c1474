-- name: events :many
-- What happened to documents in a number of hours, counted by kind.
SELECT event, signal, count(*)::int AS number, count(DISTINCT document_id)::int AS documents
  FROM kb_curation_log
 WHERE created_at > %(until)s::timestamptz - make_interval(hours => %(hours)s::int) AND created_at <= %(until)s
 GROUP BY event, signal ORDER BY number DESC, event, signal

-- name: last_events :many
-- The last things that happened to documents in a number of hours.
SELECT l.created_at AS at, l.event, l.signal, l.actor, l.document_id, coalesce(d.title, '') AS title
  FROM kb_curation_log l LEFT JOIN documents d ON d.id = l.document_id
 WHERE l.created_at > %(until)s::timestamptz - make_interval(hours => %(hours)s::int) AND l.created_at <= %(until)s
 ORDER BY l.id DESC LIMIT %(limit)s

-- name: days :many
-- Searches of each of the last days, in steps of 24 hours, and how many of them were weak; the oldest first.
SELECT ((%(until)s::timestamptz - make_interval(days => n)) AT TIME ZONE 'UTC')::date AS day,
       count(s.id)::int AS searches,
       (count(s.id) FILTER (WHERE s.verdict ->> 'band' = 'weak'))::int AS weak
  FROM generate_series(0, %(days)s::int - 1) AS n
  LEFT JOIN searches s ON s.created_at > %(until)s::timestamptz - make_interval(days => n + 1)
                      AND s.created_at <= %(until)s - make_interval(days => n)
 GROUP BY n ORDER BY n DESC

-- name: gaps :many
-- The questions that went unanswered most often in a number of days.
SELECT g.id AS gap_id, g.question, g.topic, count(*)::int AS asked, max(l.best_score)::float8 AS best_score
  FROM kb_gap_logs l JOIN kb_gaps g ON g.id = l.gap_id
 WHERE l.created_at > %(until)s::timestamptz - make_interval(days => %(days)s::int) AND l.created_at <= %(until)s
 GROUP BY g.id ORDER BY asked DESC, max(l.created_at) DESC, g.id LIMIT %(limit)s

-- name: most_flagged :many
-- The documents that most was said against in a number of days, and that readers still see.
SELECT d.id AS document_id, d.title, d.url, d.status, count(*)::int AS flags,
       array_agg(DISTINCT l.signal ORDER BY l.signal) AS signals, max(l.created_at) AS last_at
  FROM kb_curation_log l JOIN documents d ON d.id = l.document_id
 WHERE l.event = 'flag' AND d.status IN ('live', 'flagged')
   AND l.created_at > %(until)s::timestamptz - make_interval(days => %(days)s::int) AND l.created_at <= %(until)s
 GROUP BY d.id ORDER BY flags DESC, last_at DESC, d.id LIMIT %(limit)s

-- name: waiting :one
-- What waits for a curator now.
SELECT (SELECT count(*)::int FROM documents WHERE status = 'pending') AS pending_documents,
       (SELECT count(*)::int FROM documents WHERE status = 'flagged') AS flagged_documents,
       (SELECT count(*)::int FROM corrections WHERE status = 'pending') AS corrections,
       (SELECT count(*)::int FROM verified_responses WHERE status = 'candidate') AS verified_candidates,
       (SELECT count(*)::int FROM verified_responses
         WHERE status = 'active' AND verified_held(id) <> '') AS verified_held

-- name: feedback :many
-- Verdicts of a number of days by rating and reason.
SELECT rating, reason, count(*)::int AS number
  FROM feedback
 WHERE updated_at > %(until)s::timestamptz - make_interval(days => %(days)s::int) AND updated_at <= %(until)s
 GROUP BY rating, reason ORDER BY number DESC, rating, reason

-- name: activity :one
-- What came in within a number of hours: corrections, web searches for what was missed, and official answers served.
WITH span AS (
    SELECT %(until)s::timestamptz - make_interval(hours => %(hours)s::int) AS since, %(until)s::timestamptz AS until
)
SELECT (SELECT count(*)::int FROM correction_reports c
         WHERE c.created_at > since AND c.created_at <= until) AS corrections,
       (SELECT count(*)::int FROM web_searches w WHERE w.created_at > since AND w.created_at <= until) AS web_searches,
       (SELECT count(*)::int FROM verified_lookups l
         WHERE l.match = 'exact' AND l.created_at > since AND l.created_at <= until) AS verified_served
  FROM span

-- name: claim_mail :one
-- Begin to send the mail of a day, unless it was sent or may have been. Only for who holds the lock of mails.
INSERT INTO digest_mails (day, state, recipients) VALUES (%(day)s, 'claimed', %(recipients)s)
ON CONFLICT (day) DO UPDATE
   SET state = 'claimed', attempt = digest_mails.attempt + 1, recipients = excluded.recipients, error = '',
       changed_at = now()
 WHERE digest_mails.state IN ('claimed', 'failed')
RETURNING attempt, key

-- name: give_up_mail :run
-- A mail whose sender died after it was handed over may have been delivered. Only for who holds the lock of mails.
UPDATE digest_mails SET state = 'unknown', error = %(error)s, changed_at = now()
 WHERE day = %(day)s AND state = 'handed'

-- name: mail_state :run
-- Take the mail of a day to its next state, if this try is still the last one.
UPDATE digest_mails SET state = %(state)s, error = %(error)s, changed_at = now()
 WHERE day = %(day)s AND attempt = %(attempt)s AND state IN ('claimed', 'handed')

-- name: mail_of :one
-- What became of the mail of a day.
SELECT day, state, attempt, recipients, error, changed_at FROM digest_mails WHERE day = %(day)s

-- name: last_mail :one
-- What became of the last mail.
SELECT day, state, attempt, recipients, error, changed_at FROM digest_mails ORDER BY day DESC LIMIT 1
