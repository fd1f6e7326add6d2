"""The cronista: text to narrative fields, each a verbatim span of the text."""
