-- Scheduled jobs and the daily digest: what each run of a job did, which steps of the job queue's own schema were
-- taken, and which day's digest was mailed.

-- The queue itself belongs to procrastinate and has a schema of its own, harry_jobs, made when a worker first starts.
CREATE TABLE job_queue_steps (
    name        text PRIMARY KEY,
    applied_at  timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE job_runs (
    id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    job          text NOT NULL,
    -- The moment of the schedule that it was run for; none when somebody asked for it.
    due_at       timestamptz,
    -- lost: its process died in the middle.
    state        text NOT NULL CHECK (state IN ('running', 'done', 'partial', 'failed', 'stopped', 'lost')),
    summary      text NOT NULL DEFAULT '',
    figures      jsonb NOT NULL DEFAULT '{}',
    started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at  timestamptz,
    CHECK ((state = 'running') = (finished_at IS NULL))
);
CREATE INDEX job_runs_job ON job_runs (job, id DESC);

-- One row a day, whoever sends it. The state is written before the step that it names: a mail whose sender died in
-- `claimed` was not handed to the mail server and is sent anew; one that died in `handed` may have been, and is not.
CREATE TABLE digest_mails (
    day         date PRIMARY KEY,
    state       text NOT NULL CHECK (state IN ('claimed', 'handed', 'sent', 'failed', 'unknown')),
    -- Names the message, the same in each try.
    key         text NOT NULL DEFAULT gen_random_uuid()::text,
    -- Grows with each try; only the holder of the last one may go on.
    attempt     integer NOT NULL DEFAULT 1 CHECK (attempt > 0),
    recipients  integer NOT NULL DEFAULT 0,
    error       text NOT NULL DEFAULT '',
    changed_at  timestamptz NOT NULL DEFAULT now()
);

-- What the digest counts by time.
CREATE INDEX kb_gap_logs_created ON kb_gap_logs (created_at);
