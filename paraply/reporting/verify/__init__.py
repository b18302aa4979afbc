"""The result of ``paraply verify`` on a screen, as JSON, JUnit, SARIF and a page."""
