"""Reports of ``paraply verify``: text, JSON, JUnit, SARIF, HTML."""
