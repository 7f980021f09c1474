-- name: lock :run
-- Wait until no other process changes the queue's schema; held until the connection closes.
SELECT pg_advisory_lock(%(lock)s::bigint)

-- name: has_schema :one
-- Whether the queue's schema is there: who may not create one may still be given it.
SELECT to_regnamespace('harry_jobs') IS NOT NULL AS there

-- name: create_schema :run
-- The schema of the queue, which keeps its tables apart from ours.
CREATE SCHEMA IF NOT EXISTS harry_jobs

-- name: use_schema :run
-- Let the queue name its tables without it.
SELECT set_config('search_path', 'harry_jobs', false),
       set_config('application_name', 'harry_mcp jobs', false)

-- name: applied :many
-- The steps of the queue's schema that were taken.
SELECT name FROM harry.job_queue_steps

-- name: record :run
-- Record steps of the queue's schema.
INSERT INTO harry.job_queue_steps (name) SELECT unnest(%(names)s::text[])
