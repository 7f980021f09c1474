-- name: try_lock :one
-- Take a job for as long as the connection lives, or learn that another process has it.
SELECT pg_try_advisory_lock(%(space)s::int, hashtext(%(job)s)) AS held

-- name: close_lost :run
-- Close the runs of a job whose process died. Only for who holds the job's lock.
UPDATE job_runs SET state = 'lost', finished_at = clock_timestamp(), summary = 'Its process ended in the middle.'
 WHERE job = %(job)s AND state = 'running'

-- name: covered :one
-- A run of a job that began after a moment and came to its end.
SELECT id FROM job_runs
 WHERE job = %(job)s AND state IN ('done', 'partial') AND started_at >= %(due)s::timestamptz LIMIT 1

-- name: begin :one
-- Note that a run begins.
INSERT INTO job_runs (job, due_at, state) VALUES (%(job)s, %(due)s, 'running') RETURNING id

-- name: finish :run
-- Note how a run ended.
UPDATE job_runs
   SET state = %(state)s, summary = %(summary)s, figures = %(figures)s, finished_at = clock_timestamp()
 WHERE id = %(id)s AND state = 'running'

-- name: last :many
-- The last run of each job.
SELECT DISTINCT ON (job) id, job, due_at, state, summary, figures, started_at, finished_at
  FROM job_runs ORDER BY job, id DESC

-- name: forget :run
-- Remove the runs of long ago, but never the last one of a job.
DELETE FROM job_runs r
 WHERE started_at < now() - make_interval(days => %(days)s::int)
   AND EXISTS (SELECT FROM job_runs n WHERE n.job = r.job AND n.id > r.id)

-- name: forget_searches :run
-- Remove the oldest searches of long ago, with the lines of the gap log that belong to them. The gaps stay.
DELETE FROM searches WHERE id IN (
    SELECT id FROM searches WHERE created_at < now() - make_interval(days => %(days)s::int)
     ORDER BY created_at LIMIT %(limit)s)

-- name: forget_lookups :run
-- Remove the oldest lookups of official answers of long ago.
DELETE FROM verified_lookups WHERE id IN (
    SELECT id FROM verified_lookups WHERE created_at < now() - make_interval(days => %(days)s::int)
     ORDER BY created_at LIMIT %(limit)s)
