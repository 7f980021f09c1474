"""Work that is done by the clock: one job a file, and the worker that runs them."""
