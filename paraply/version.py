"""Version and issue tracker."""

VERSION = "0.1.0"

REPORT_TO = "the issue tracker of the project"
