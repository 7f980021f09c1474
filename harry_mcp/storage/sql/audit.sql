-- name: add :run
-- One row for what somebody did to something.
INSERT INTO audit_log (actor, role, action, target_kind, target_id, target, reason, action_id, detail)
VALUES (%(actor)s, %(role)s, %(action)s, %(target_kind)s, %(target_id)s, %(target)s, %(reason)s, %(action_id)s,
        %(detail)s)

-- name: actions :many
-- The actions that are on record.
SELECT DISTINCT action FROM audit_log ORDER BY action

-- name: list :many
-- Who did what, the last first; '' and null let everything through. An actor is given whole, or without what it came by.
SELECT id, actor, role, action, target_kind, target_id, target, reason, action_id, detail, created_at
  FROM audit_log
 WHERE (%(target_id)s = '' OR target_id = %(target_id)s)
   AND (%(actor)s = '' OR actor = %(actor)s OR substr(actor, strpos(actor, ':') + 1) = %(actor)s)
   AND (%(action)s = '' OR action = %(action)s)
   AND (%(since)s::timestamptz IS NULL OR created_at >= %(since)s)
 ORDER BY id DESC LIMIT %(limit)s OFFSET %(offset)s
