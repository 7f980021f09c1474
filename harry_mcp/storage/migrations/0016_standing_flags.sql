-- What speaks against documents and still stands, told in one place: a flag stands until what it rests on is taken back,
-- and stands again when the action that took it back is undone. An action takes back what rested on a document that it
-- archived, rejected or rewrote.
CREATE VIEW standing_flags AS
SELECT l.id, l.document_id, l.signal, l.evidence, l.detail, l.actor, l.before, l.after, l.created_at
  FROM kb_curation_log l
 WHERE l.event = 'flag'
   AND NOT EXISTS (SELECT FROM kb_curation_log w
                    WHERE w.document_id = l.document_id AND w.event = 'withdraw' AND w.detail -> 'evidence' ? l.evidence
                      AND NOT EXISTS (SELECT FROM review_actions u WHERE u.undoes = w.detail ->> 'action_id'));
CREATE INDEX kb_curation_log_withdrawn ON kb_curation_log (document_id) WHERE event = 'withdraw';
CREATE INDEX kb_curation_log_other ON kb_curation_log ((detail -> 'other' ->> 'document_id')) WHERE event = 'flag';
CREATE INDEX kb_curation_log_settled ON kb_curation_log ((detail ->> 'action_id')) WHERE event = 'withdraw';

-- The number that the next text of a document gets: one that no text of it ever had, also where an undo brought an older
-- text back with its number. So an answer or a rewrite that names a version can mean one text alone.
CREATE FUNCTION next_version(document text) RETURNS integer LANGUAGE sql STABLE AS $$
    SELECT 1 + greatest(
        coalesce((SELECT d.version FROM documents d WHERE d.id = document), 0),
        coalesce((SELECT max(c.after_version) FROM review_changes c WHERE c.document_id = document), 0)
    )
$$;
