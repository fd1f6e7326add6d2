"""Redaction: where the secrets in a text are, and the text without them."""
