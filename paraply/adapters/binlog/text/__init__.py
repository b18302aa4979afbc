"""The output of mysqlbinlog -v and mariadb-binlog -v as input."""
