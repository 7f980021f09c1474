-- name: set :run
-- Set a mark for some seconds; one that is there stays at least as long.
INSERT INTO shared_marks (kind, key, ends) VALUES (%(kind)s, %(key)s, now() + make_interval(secs => %(seconds)s))
ON CONFLICT (kind, key) DO UPDATE SET ends = GREATEST(shared_marks.ends, EXCLUDED.ends)

-- name: drop :run
-- Take a mark away.
DELETE FROM shared_marks WHERE kind = %(kind)s AND key = %(key)s

-- name: forget :run
-- Remove the marks whose time is over.
DELETE FROM shared_marks WHERE ends <= now()

-- name: find :one
-- A mark that is set.
SELECT kind, key FROM shared_marks WHERE kind = %(kind)s AND key = %(key)s AND ends > now()
