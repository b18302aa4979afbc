"""Cases from a user's own logs and recorded runs."""
