"""The functions behind ``from paraply import audit, check, conform, explore``."""
