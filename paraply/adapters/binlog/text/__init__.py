"""The text that mysqlbinlog -v and mariadb-binlog -v print, as a second input."""
