"""EVL-2: weeks of use, simulated with a golden set through the real loop, beside the same weeks without it."""
