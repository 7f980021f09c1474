"""The only floor that speaks to PostgreSQL. Rows leave it as frozen domain values."""
