-- The frontier of a crawl, kept in the database so that a run that is killed goes on where it was, and so that the
-- next run knows what it may ask about with a condition (ETag, Last-Modified) and what is no longer there.
--
-- One row of crawl_urls for each address that was ever met. A row is decided only after its document is stored.

CREATE TABLE crawls (
    id           integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    start_url    text NOT NULL,
    prefix       text NOT NULL,
    run          integer NOT NULL DEFAULT 1 CHECK (run > 0),
    -- Not finished: the next run goes on with the addresses that wait.
    finished     boolean NOT NULL DEFAULT false,
    -- Whether llms.txt and the sitemaps of this run are in the frontier, and what could not be read of them.
    seeded       boolean NOT NULL DEFAULT false,
    warnings     text[] NOT NULL DEFAULT '{}',
    started_at   timestamptz NOT NULL DEFAULT now(),
    finished_at  timestamptz,
    UNIQUE (start_url, prefix)
);

CREATE TABLE crawl_urls (
    id             integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    crawl_id       integer NOT NULL REFERENCES crawls (id) ON DELETE CASCADE,
    url            text NOT NULL,
    -- The run that met the address last.
    run            integer NOT NULL,
    depth          integer NOT NULL CHECK (depth >= 0),
    hops           integer NOT NULL DEFAULT 0,
    lastmod        timestamptz,
    waiting        boolean NOT NULL,
    -- How it ended; while it waits, how it ended the last time.
    outcome        text NOT NULL DEFAULT '' CHECK (outcome IN ('', 'new', 'changed', 'unchanged', 'duplicate',
                                                               'redirected', 'gone', 'refused', 'failed')),
    reason         text NOT NULL DEFAULT '',
    detail         text NOT NULL DEFAULT '',
    -- Where it redirects to, or the address that has the same content.
    target         text NOT NULL DEFAULT '',
    -- Set when the address that it calls its canonical one cannot be had.
    stands_alone   boolean NOT NULL DEFAULT false,
    status         integer NOT NULL DEFAULT 0,
    bytes          integer NOT NULL DEFAULT 0,
    etag           text NOT NULL DEFAULT '',
    last_modified  text NOT NULL DEFAULT '',
    fingerprint    text NOT NULL DEFAULT '',
    -- The addresses that it links to, which stand as long as it answers 304.
    links          integer[] NOT NULL DEFAULT '{}',
    fetched_at     timestamptz,
    -- Proposed for archiving since then.
    gone_since     timestamptz,
    UNIQUE (crawl_id, url)
);
CREATE INDEX crawl_urls_waiting ON crawl_urls (crawl_id, depth, lastmod DESC NULLS LAST, id) WHERE waiting;
