"""Model MariaDB GTIDs (2013 design) and the executed set of MySQL 5.6."""
