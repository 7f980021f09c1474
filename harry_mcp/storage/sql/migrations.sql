-- name: queue :run
-- Wait until no other process migrates; held until the transaction ends.
SELECT pg_advisory_xact_lock(%(lock)s::bigint)

-- name: has_schema :one
-- Whether the schema is there: who may not create one may still be given it.
SELECT to_regnamespace('harry') IS NOT NULL AS there

-- name: create_schema :run
-- The schema of everything that is ours.
CREATE SCHEMA IF NOT EXISTS harry

-- name: use_schema :run
-- Let the steps name their tables without it; holds until the transaction ends.
SELECT set_config('search_path', 'harry, public', true)

-- name: create_table :run
-- The record of the steps taken.
CREATE TABLE IF NOT EXISTS harry.migrations (
    number      integer PRIMARY KEY,
    name        text NOT NULL,
    checksum    text NOT NULL,
    applied_at  timestamptz NOT NULL DEFAULT now()
)

-- name: applied :many
-- The steps already taken.
SELECT number, checksum FROM harry.migrations

-- name: record :run
-- Record a step.
INSERT INTO harry.migrations (number, name, checksum) VALUES (%(number)s, %(name)s, %(checksum)s)

-- name: session :run
-- How every connection is set up. JIT costs more than any of our statements; ef_search must reach past the
-- number of candidates; iterative scans, which pgvector has since 0.8, keep filtered vector searches full.
SELECT set_config('search_path', 'harry, public', false),
       set_config('jit', 'off', false),
       set_config('statement_timeout', %(statement_timeout)s, false),
       set_config('application_name', 'harry_mcp', false),
       set_config('hnsw.ef_search', %(ef_search)s, false),
       CASE WHEN EXISTS (SELECT FROM pg_extension
                          WHERE extname = 'vector' AND string_to_array(extversion, '.')::int[] >= '{0,8}')
            THEN set_config('hnsw.iterative_scan', 'relaxed_order', false) END

-- name: keep_alive :run
-- Let an idle session stay, and notice within a minute when its machine is gone: what it has locked is then freed.
SELECT set_config('idle_session_timeout', '0', false),
       set_config('tcp_keepalives_idle', '30', false),
       set_config('tcp_keepalives_interval', '10', false),
       set_config('tcp_keepalives_count', '3', false)

-- name: unlock :run
-- Give back all that this connection has locked for long.
SELECT pg_advisory_unlock_all()

-- name: vacuum_index :run
-- Let index-only scans skip the table after many changes.
VACUUM (ANALYZE) harry.postings, harry.chunk_vectors, harry.chunks, harry.terms

-- name: lift_time_limit :run
-- Let the statements of a writing transaction take their time; holds until it ends.
SELECT set_config('statement_timeout', '0', true)

-- name: hurry :run
-- Wait for other writers for some seconds only; holds until the transaction ends.
SELECT set_config('lock_timeout', '3s', true)
-- name: write_behind :run
-- As above, and let the commit not wait for the disk; holds until the transaction ends.
SELECT set_config('statement_timeout', '0', true), set_config('synchronous_commit', 'off', true)

-- name: write_through :run
-- A commit that waits for the disk, and so for all commits before it.
SELECT pg_logical_emit_message(true, 'harry', '')

-- name: versions :one
-- What the database is.
SELECT current_setting('server_version') AS postgres,
       coalesce((SELECT extversion FROM pg_extension WHERE extname = 'vector'), '') AS pgvector,
       pg_size_pretty(pg_database_size(current_database())) AS size
