"""The signals that a document may be wrong. Each module has one ``check``: a run of its job, which may be repeated."""
