-- Web searches for what the knowledge base missed: each one with what it brought, so that it can be rated and explained,
-- the answers kept for the next one who asks the same, and how many calls a day had, for the limit.
--
-- The web may be asked without a search before it, so a line of the gap log may stand without one.

ALTER TABLE kb_gap_logs ALTER COLUMN search_id DROP NOT NULL;

CREATE TABLE web_cache (
    -- Question, hosts and way of choosing passages, as a hash.
    key       text PRIMARY KEY,
    finding   jsonb NOT NULL,
    asked_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX web_cache_asked ON web_cache (asked_at);

CREATE TABLE web_searches (
    id          text PRIMARY KEY,
    gap_id      text NOT NULL REFERENCES kb_gaps (id) ON DELETE CASCADE,
    -- The search that missed, empty when none is known.
    search_id   text NOT NULL DEFAULT '',
    question    text NOT NULL,
    topic       text NOT NULL DEFAULT '',
    status      text NOT NULL CHECK (status IN ('ok', 'empty', 'degraded', 'not_configured')),
    degraded    text[] NOT NULL DEFAULT '{}',
    -- Served from what an earlier one brought.
    cached      boolean NOT NULL,
    -- The pages that were passed on: [{url, title, score, passages, caveats}].
    results     jsonb NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX web_searches_gap ON web_searches (gap_id, created_at);
CREATE INDEX web_searches_created ON web_searches (created_at);

CREATE TABLE web_days (
    day    date PRIMARY KEY,
    calls  integer NOT NULL CHECK (calls > 0)
);
