-- Ingestions that were asked for over MCP, kept in the database so that any process can say how far one is, and so that
-- one whose process died is gone on with. Whether one really runs is not written down: its process holds an advisory
-- lock, which goes with the process.

CREATE TABLE ingestions (
    number       integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id           text NOT NULL UNIQUE,
    source       text NOT NULL,
    crawl        boolean NOT NULL,
    prefix       text NOT NULL,
    topic        text NOT NULL DEFAULT '',
    pages        integer NOT NULL DEFAULT 0,
    -- 'running' without a process that holds the lock is an interrupted one.
    state        text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'finished', 'failed')),
    -- How often a process took it up.
    attempts     integer NOT NULL DEFAULT 0,
    done         integer NOT NULL DEFAULT 0,
    -- What there is to do, -1 while nobody knows.
    total        integer NOT NULL DEFAULT -1,
    new          integer NOT NULL DEFAULT 0,
    changed      integer NOT NULL DEFAULT 0,
    unchanged    integer NOT NULL DEFAULT 0,
    duplicates   integer NOT NULL DEFAULT 0,
    gone         integer NOT NULL DEFAULT 0,
    refused      integer NOT NULL DEFAULT 0,
    failed       integer NOT NULL DEFAULT 0,
    chunks       integer NOT NULL DEFAULT 0,
    spent        double precision NOT NULL DEFAULT 0,
    -- What it works on, for who looks on.
    doing        text NOT NULL DEFAULT '',
    -- The first of [kind, source, reason].
    problems     jsonb NOT NULL DEFAULT '[]',
    warnings     text[] NOT NULL DEFAULT '{}',
    error        text NOT NULL DEFAULT '',
    started_at   timestamptz NOT NULL DEFAULT now(),
    updated_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz
);
-- One at a time for each source: a second call finds the first.
CREATE UNIQUE INDEX ingestions_one_open ON ingestions (source, crawl, prefix) WHERE state = 'running';
CREATE INDEX ingestions_started ON ingestions (started_at DESC);
