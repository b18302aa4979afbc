"""Server errors: the P60x codes, each with one remedy."""

from __future__ import annotations

from paraply.vocabulary.errors import register

SERVER_NOT_FOUND = register(
    "P601",
    "no {flavour} server was found (looked in {places})",
    "run ci/servers, put it on the PATH, or name its folder: --basedir, {variable}",
)
SERVER_UNUSABLE = register(
    "P602",
    "{binary} does not run: {reason}",
    "try it with --version by hand; an unpacked tree needs its own loader and libraries",
)
INITIALISATION_FAILED = register(
    "P603",
    "a data directory could not be created: {reason}",
    "check that the folder is writable, has 300 MB to spare, and that none runs there already",
)
START_FAILED = register(
    "P604",
    "the server did not answer within {seconds} s: {reason}",
    "read its log, named above; on a busy machine give start_seconds_max more",
)
STATEMENT_FAILED = register(
    "P605",
    "the server refused '{statement}': {reason}",
    "run the statement by hand on a server of this version",
)
DRIVER_MISSING = register(
    "P606",
    "talking to servers needs the library PyMySQL, which is not installed",
    "pip install 'paraply[live]'",
)
SOCKET_PATH_TOO_LONG = register(
    "P607",
    "the socket path has {length} bytes, the kernel allows {length_max}",
    "set TMPDIR to a shorter path",
)
REPLICA_STOPPED = register(
    "P608",
    "the replica stopped with an error: {reason}",
    "read the replica's error log; a source with other data than the replica is the usual cause",
)
REPLICA_BEHIND = register(
    "P609",
    "the replica had not applied {position} within {seconds} s (it has {applied})",
    "give it more time, or look for a lock that its workers wait for",
)
TOOL_FAILED = register(
    "P610",
    "{tool} failed with exit code {exit_code}: {reason}",
    "run it by hand with the same options",
)
MEMBER_FAILED = register(
    "P611",
    "the member left the group with an error: {reason}",
    "read the member's error log, named above; an unreachable donor or other data is usual",
)
GROUP_NOT_FORMED = register(
    "P612",
    "{size} members did not agree within {seconds} s; seen: {seen}",
    "read the members' error logs; on a busy machine give it more time",
)
DSN_UNREADABLE = register(
    "P613",
    "the DSN names no server: {reason}",
    "write mysql://USER@HOST:PORT, or mysql://USER@/?socket=PATH, with the password in the"
    " environment variable PARAPLY_DSN_PASSWORD",
)
SERVER_UNREACHABLE = register(
    "P614",
    "no connection: {reason}",
    "connect with the same user, host and port by hand; check PARAPLY_DSN_PASSWORD and ssl_mode",
)
DUMP_REFUSED = register(
    "P615",
    "the server does not send its binary log: {reason}",
    "the account needs REPLICATION SLAVE and REPLICATION CLIENT (MariaDB: BINLOG MONITOR), and the"
    " server a binary log (log_bin)",
)
NETWORK_REFUSED = register(
    "P616",
    "servers cannot get a private network: {reason}",
    "run as root, with iproute2 installed, where network namespaces are allowed (unshare -n true)",
)
NO_GTIDS = register(
    "P617",
    "the server cannot be followed by GTID: {reason}",
    "set gtid_mode=ON (MySQL); a log without GTIDs is judged afterwards by paraply verify",
)
NO_ACCOUNT = register(
    "P618",
    "servers do not run as root, and the system has no account {accounts}",
    "create the account, or run paraply as a user who is not root",
)
LOG_THERE = register(
    "P627",
    "a file of this name is there, and is not overwritten",
    "name an empty folder, or audit the files that are there by their names",
)
NO_TABLES = register(
    "P628",
    "the account sees no table",
    "grant it SELECT on the schemas of the log, or leave the option out",
)
FOLDER_CLOSED = register(
    "P625",
    "the servers' account {account} cannot enter {folder}, which lies above their directories",
    "set TMPDIR to a folder that every user may enter, such as /tmp",
)
LOG_PURGED = register(
    "P619",
    "the server no longer has the log from where it would be read: {reason}",
    "begin anew with another --state file: what the lost part did cannot be judged",
)
