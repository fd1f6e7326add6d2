"""The adapters: beside what the frameworks bring themselves, and beside the core below them."""
