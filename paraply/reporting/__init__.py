"""Report forms: terminal text, JSON, JUnit and HTML."""
