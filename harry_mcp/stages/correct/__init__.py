"""Stage 4: a complaint becomes a lesson, screened and redacted before anything else sees it."""
