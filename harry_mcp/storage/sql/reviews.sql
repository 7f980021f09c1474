-- name: states :many
-- Documents as an action finds them. For one that its last action archived or rejected, the status that it had before.
SELECT d.id, d.title, d.status, d.version, d.content_hash, d.caveats,
       coalesce((SELECT CASE WHEN a.action IN ('archive', 'reject') AND c.after = d.status THEN c.before END
                   FROM review_changes c JOIN review_actions a ON a.id = c.action_id
                  WHERE c.document_id = d.id AND a.action <> 'undo'
                    AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = a.id)
                  ORDER BY a.number DESC LIMIT 1), '') AS was,
       (SELECT count(*)::int FROM searches s
         WHERE s.first_documents ? d.id AND s.created_at > now() - make_interval(days => %(days)s::int)) AS uses,
       (SELECT count(DISTINCT v.verified_id)::int FROM verified_citations v
          JOIN verified_responses r ON r.id = v.verified_id
         WHERE v.document_id = d.id AND r.status = 'active') AS verified,
       (SELECT count(*)::int FROM corrections k WHERE k.document_id = d.id AND k.status = 'active') AS corrections
  FROM documents d WHERE d.id = ANY (%(ids)s::text[])

-- name: uses :many
-- How many answers of late each of some documents was among the first of; those that none was are left out.
SELECT f.document_id, count(*)::int AS uses
  FROM searches s
 CROSS JOIN LATERAL (SELECT DISTINCT jsonb_array_elements_text(s.first_documents)) AS f (document_id)
 WHERE s.created_at > now() - make_interval(days => %(days)s::int) AND s.first_documents ?| %(ids)s::text[]
   AND f.document_id = ANY (%(ids)s::text[])
 GROUP BY f.document_id

-- name: add_action :one
-- Record an action.
INSERT INTO review_actions (id, action, actor, reason, undoes)
VALUES (%(id)s, %(action)s, %(actor)s, %(reason)s, nullif(%(undoes)s::text, ''))
RETURNING created_at + make_interval(days => %(days)s::int) AS undo_until

-- name: add_change :run
-- Record what an action made of a document, at the row of the curation log that says so.
INSERT INTO review_changes (action_id, document_id, title, before, after, before_version, after_version, after_hash,
                            caveats, closed, log_id)
SELECT %(action_id)s, d.id, %(title)s, %(before)s, d.status, %(before_version)s, d.version, d.content_hash,
       %(caveats)s, %(closed)s, %(log_id)s
  FROM documents d WHERE d.id = %(document_id)s

-- name: actions :many
-- What was done last, the newest first.
SELECT a.id, a.action, a.actor, a.reason, coalesce(a.undoes, '') AS undoes, coalesce(u.id, '') AS undone_by,
       a.created_at, a.created_at + make_interval(days => %(days)s::int) AS undo_until,
       a.created_at < now() - make_interval(days => %(days)s::int) AS expired
  FROM review_actions a LEFT JOIN review_actions u ON u.undoes = a.id
 WHERE %(document_id)s = ''
    OR EXISTS (SELECT FROM review_changes c WHERE c.action_id = a.id AND c.document_id = %(document_id)s)
 ORDER BY a.number DESC LIMIT %(limit)s OFFSET %(offset)s

-- name: action :one
-- The action of an id.
SELECT a.id, a.action, a.actor, a.reason, coalesce(a.undoes, '') AS undoes, coalesce(u.id, '') AS undone_by,
       a.created_at, a.created_at + make_interval(days => %(days)s::int) AS undo_until,
       a.created_at < now() - make_interval(days => %(days)s::int) AS expired
  FROM review_actions a LEFT JOIN review_actions u ON u.undoes = a.id WHERE a.id = %(id)s

-- name: standings :many
-- What actions made of documents, and how these stand now. A rewrite that its source overtook, with another text or the
-- same, stands on top of nothing any more.
SELECT c.action_id, c.document_id, c.title, c.before, c.after, c.before_version, c.after_version, c.after_hash, c.caveats,
       c.closed, c.log_id, coalesce(d.status, '') AS status_now, coalesce(d.version, 0) AS version_now,
       coalesce(d.content_hash, '') AS hash_now,
       EXISTS (SELECT FROM standing_flags l
                WHERE l.document_id = c.document_id AND l.id > c.log_id) AS flagged_since,
       coalesce((SELECT b.id FROM review_changes x JOIN review_actions b ON b.id = x.action_id
                  WHERE x.document_id = c.document_id AND b.number > a.number AND b.action <> 'undo'
                    AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = b.id)
                    AND (b.action <> 'rewrite'
                         OR (x.after_version, x.after_hash) = (d.version, d.content_hash) AND d.rewritten_from <> '')
                  ORDER BY b.number DESC LIMIT 1), '') AS later,
       coalesce(d.rewritten_from, '') = '' AS from_source,
       EXISTS (SELECT FROM kb_curation_log l
                WHERE l.document_id = c.document_id AND l.id > c.log_id AND l.event = 'remove') AS removed_since,
       EXISTS (SELECT FROM document_versions v
                WHERE v.action_id = c.action_id AND v.document_id = c.document_id) AS kept
  FROM review_changes c
  JOIN review_actions a ON a.id = c.action_id
  LEFT JOIN documents d ON d.id = c.document_id
 WHERE c.action_id = ANY (%(ids)s::text[])
 ORDER BY a.number DESC, c.title, c.document_id

-- name: last_text :one
-- Who gave a document the text that it has now, by a rewrite or by taking one back, and when; nobody where its source did.
SELECT coalesce(w.actor, '') AS actor, coalesce(w.created_at, d.updated_at) AS at
  FROM documents d
  LEFT JOIN LATERAL (
    SELECT a.actor, a.created_at
      FROM review_changes c
      JOIN review_actions a ON a.id = c.action_id
      LEFT JOIN review_actions t ON t.id = a.undoes
     WHERE c.document_id = d.id AND 'rewrite' IN (a.action, t.action)
       AND (c.after_version, c.after_hash) = (d.version, d.content_hash)
     ORDER BY a.number DESC LIMIT 1
  ) AS w ON true
 WHERE d.id = %(document_id)s

-- name: flags_since :many
-- The signals that spoke against a document after a row of the log, in their order.
SELECT signal, detail, created_at AS at FROM standing_flags
 WHERE document_id = %(document_id)s AND id > %(log_id)s
 ORDER BY id

-- name: drafted_corrections :many
-- The corrections that a draft was made of, as they are.
SELECT id, status, status_reason, decided_by, updated_at FROM corrections
 WHERE document_id = %(document_id)s ORDER BY id

-- name: reopen_correction :run
-- Make a correction what it was before its draft went live, unless somebody decided about it since.
UPDATE corrections
   SET status = %(status)s, status_reason = %(status_reason)s, decided_by = %(decided_by)s, updated_at = %(updated_at)s
 WHERE id = %(id)s AND status = 'deprecated' AND status_reason = %(closing)s
