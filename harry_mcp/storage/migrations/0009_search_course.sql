-- What a search did on its way (the question as it was asked, the made-up answer that was searched for, the other words
-- that it was tried in), so that `explain_search` can show it.

ALTER TABLE searches ADD COLUMN course jsonb NOT NULL DEFAULT '{}';
