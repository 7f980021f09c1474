"""Forward-only migrations, ``NNNN_slug.sql``, applied in order; each opens with the reason why it exists."""
