"""Numbers only: compiled rules and searches, no validation, no printing, no pandas."""
