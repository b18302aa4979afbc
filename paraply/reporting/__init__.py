"""Forms of an audit's result: terminal text, JSON, JUnit and one HTML page."""
