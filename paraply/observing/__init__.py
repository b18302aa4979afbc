"""Judge what live servers did."""
