-- What the checks of documents remember: what each address answered on which day, which version of a document was held
-- against others, and which evidence a signal rested on, so that the same evidence counts once.

-- What is to be told with every answer from a document while it is flagged: a sentence for each signal.
ALTER TABLE documents ADD COLUMN caveats jsonb NOT NULL DEFAULT '{}';

-- Names what a signal rests on, within its document. Empty: nothing that could come again.
ALTER TABLE kb_curation_log ADD COLUMN evidence text NOT NULL DEFAULT '';
CREATE UNIQUE INDEX kb_curation_log_evidence ON kb_curation_log (document_id, signal, evidence) WHERE evidence <> '';

-- One answer of each address a day. Kept as evidence: a document is flagged for what stands here, and for nothing else.
CREATE TABLE source_checks (
    id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    url         text NOT NULL,
    host        text NOT NULL,
    -- The day in UTC.
    day         date NOT NULL,
    checked_at  timestamptz NOT NULL,
    outcome     text NOT NULL CHECK (outcome IN ('alive', 'dead', 'unclear', 'skipped')),
    -- What was asked last, and what it answered; 0 when there was no answer.
    method      text NOT NULL,
    status      integer NOT NULL,
    reason      text NOT NULL,
    -- Where it redirects to, or empty.
    location    text NOT NULL DEFAULT '',
    -- Until when the host asked to be left alone.
    retry_at    timestamptz,
    UNIQUE (url, day)
);
CREATE INDEX source_checks_host ON source_checks (host, retry_at) WHERE retry_at IS NOT NULL;
CREATE INDEX source_checks_day ON source_checks (day);

-- The last version of a document that a check went through.
CREATE TABLE document_checks (
    document_id  text NOT NULL REFERENCES documents (id) ON DELETE CASCADE,
    kind         text NOT NULL,
    version      integer NOT NULL,
    checked_at   timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (document_id, kind)
);

-- One key for all spellings of a web address: scheme, www, letter case of the host, default port, fragment, tracking
-- parameters and slashes at the end do not count. What is no web address is its own key.
CREATE FUNCTION address_key(address text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN address !~* '^https?://' THEN address ELSE
        lower(regexp_replace(regexp_replace(address, '^https?://(www\.)?([^/?#]*).*$', '\2', 'i'), ':(80|443)$', ''))
        || regexp_replace(regexp_replace(address, '^https?://[^/?#]*([^?#]*).*$', '\1', 'i'), '/+$', '')
        || coalesce(regexp_replace(regexp_replace(
               substring(split_part(address, '#', 1) FROM '\?.*$'),
               '(?<=[?&])(utm_[a-z0-9_]*|gclid|fbclid|mc_cid|mc_eid|msclkid|_hsenc|_hsmi)=[^&]*(&|$)', '', 'gi'),
               '[?&]+$', ''), '')
    END
$$;
CREATE INDEX documents_url_address ON documents (address_key(url)) WHERE url <> '';
CREATE INDEX documents_source_address ON documents (address_key(source));
