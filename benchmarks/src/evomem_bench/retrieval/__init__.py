"""How well recall finds what answers a question, beside plain FTS5 on the same texts."""
