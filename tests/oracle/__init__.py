"""Real servers decide whether two logged transactions conflict; the audit is held against them."""
