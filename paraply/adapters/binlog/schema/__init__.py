"""What is known of each table at each moment: from DDL in the log, dumps and metadata."""
