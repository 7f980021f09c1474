-- name: log :one
-- One row for what was done to a document, or said of it.
INSERT INTO kb_curation_log (document_id, event, signal, actor, before, after, detail, evidence)
VALUES (%(document_id)s, %(event)s, %(signal)s, %(actor)s, %(before)s, %(after)s, %(detail)s, %(evidence)s)
RETURNING id

-- name: known :one
-- The row of a signal that rests on some evidence.
SELECT id FROM kb_curation_log
 WHERE document_id = %(document_id)s AND signal = %(signal)s AND evidence = %(evidence)s AND evidence <> ''

-- name: of_document :many
-- What was done to a document and said of it, the last first.
SELECT id, document_id, event, signal, actor, before, after, detail, created_at FROM kb_curation_log
 WHERE document_id = %(document_id)s ORDER BY created_at DESC, id DESC LIMIT %(limit)s

-- name: withdrawals :one
-- How often what a signal rests on was taken back; said once more it is another saying, with a number behind it.
SELECT count(*)::int AS id FROM kb_curation_log
 WHERE document_id = %(document_id)s AND signal = %(signal)s AND event = 'withdraw'
   AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = detail ->> 'action_id')
   AND EXISTS (SELECT FROM jsonb_array_elements_text(detail -> 'evidence') AS e (said)
                WHERE e.said = %(evidence)s OR starts_with(e.said, %(evidence)s || '#'))

-- name: told_by :many
-- The signals whose evidence begins so and that were not taken back, by document.
SELECT document_id, signal, evidence, detail, created_at AS at FROM standing_flags
 WHERE signal = %(signal)s AND starts_with(evidence, %(told_by)s)
 ORDER BY document_id, id

-- name: told_of :many
-- The signals that name a document as the other side of what they say against documents that readers see, and stand.
SELECT l.document_id, l.signal, l.evidence, l.detail, l.created_at AS at
  FROM standing_flags l JOIN documents d ON d.id = l.document_id AND d.status IN ('live', 'flagged')
 WHERE l.detail -> 'other' ->> 'document_id' = %(other)s AND l.evidence <> ''
 ORDER BY l.document_id, l.id

-- name: open_flags :many
-- The signals that a document is flagged for: since it was last flagged as a live one, and not taken back.
SELECT l.document_id, l.signal, l.evidence, l.detail, l.created_at AS at FROM standing_flags l
 WHERE l.document_id = %(document_id)s
   AND l.id >= coalesce((SELECT max(f.id) FROM kb_curation_log f
                          WHERE f.document_id = l.document_id AND f.event = 'flag' AND f.before = 'live'), 0)
 ORDER BY l.id

-- name: curated :many
-- What curators did with a document since it was last flagged as a live one, and did not undo.
SELECT l.id FROM kb_curation_log l
 WHERE l.document_id = %(document_id)s AND l.event IN ('keep', 'rewrite', 'restore')
   AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = l.detail ->> 'action_id')
   AND l.id > coalesce((SELECT max(f.id) FROM kb_curation_log f
                         WHERE f.document_id = l.document_id AND f.event = 'flag' AND f.before = 'live'), 0)

-- name: withdrawn_since :many
-- The signals of which anything was taken back that speaks against a document, after a row of the log.
SELECT DISTINCT w.signal FROM kb_curation_log w
 WHERE w.document_id = %(document_id)s AND w.event = 'withdraw' AND w.id > %(log_id)s
   AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = w.detail ->> 'action_id')

-- name: decided_since :many
-- What curators did with a document after a row of the log, and did not undo.
SELECT l.id FROM kb_curation_log l
 WHERE l.document_id = %(document_id)s AND l.id > %(log_id)s
   AND l.event IN ('approve', 'archive', 'reject', 'restore', 'keep', 'rewrite')
   AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = l.detail ->> 'action_id')

-- name: reopened_since :many
-- What was taken back of what speaks against a document and stands again since a row of the log.
SELECT w.id, w.document_id, w.event, w.signal, w.actor, w.before, w.after, w.detail, w.created_at
  FROM kb_curation_log r JOIN kb_curation_log w ON w.id = (r.detail ->> 'withdrawal')::bigint
 WHERE r.document_id = %(document_id)s AND r.event = 'reopen' AND r.id > %(log_id)s ORDER BY r.id

-- name: settled_by :many
-- What an action took back of what was said against other documents, which rested on those that it was done to.
SELECT w.id, w.document_id, w.event, w.signal, w.actor, w.before, w.after, w.detail, w.created_at FROM kb_curation_log w
 WHERE w.event = 'withdraw' AND w.detail ->> 'action_id' = %(action_id)s ORDER BY w.id

-- name: since :many
-- What happened since signals last spoke against documents: to the other side of a contradiction, and by a curator.
WITH last AS (
    SELECT DISTINCT ON (l.document_id, l.signal) l.id, l.document_id, l.signal,
           l.detail -> 'other' ->> 'document_id' AS other_id, (l.detail -> 'other' ->> 'version')::int AS other_version
      FROM kb_curation_log l WHERE l.document_id = ANY (%(ids)s::text[]) AND l.event = 'flag'
     ORDER BY l.document_id, l.signal, l.id DESC
)
SELECT l.document_id, l.signal, coalesce(l.other_id, '') AS other_id, coalesce(o.title, '') AS other_title,
       coalesce(o.status, '') AS other_status, coalesce(o.version <> l.other_version, false) AS other_changed,
       coalesce(a.action, '') AS act, a.created_at AS acted_at
  FROM last l
  LEFT JOIN documents o ON o.id = l.other_id
  LEFT JOIN LATERAL (
    SELECT a.action, a.created_at FROM review_changes c JOIN review_actions a ON a.id = c.action_id
     WHERE c.document_id = l.document_id AND c.log_id > l.id AND a.action IN ('keep', 'rewrite')
       AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = a.id)
     ORDER BY a.number DESC LIMIT 1
  ) AS a ON true
