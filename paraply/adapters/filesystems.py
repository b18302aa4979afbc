"""Arrow's file systems by URL.

Credentials come from the environment, from the variables that delta-rs reads too. Arrow itself
reads those of S3, and Google's default credentials.
"""

from __future__ import annotations

import os
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from paraply.vocabulary.errors import ParaplyError, register

SCHEMES = ("s3", "gs", "abfs", "hdfs")
SPELLINGS = {"s3a": "s3", "gcs": "gs", "abfss": "abfs"}
"""Names of a scheme in other tools."""

NO_SUCH_SCHEME = register(
    "P749",
    "there is no file system for {scheme}://",
    f"name a path, or a URL of {', '.join(f'{each}://' for each in (*SCHEMES, 'file'))}",
)
NO_LIBHDFS = register(
    "P750",
    "Arrow opens hdfs:// by the library of a Hadoop installation: {reason}",
    "on driver and workers set HADOOP_HOME, ARROW_LIBHDFS_DIR (the folder of libhdfs.so), and "
    "CLASSPATH to the output of `hadoop classpath --glob`; or name a folder where HDFS is mounted",
)
NO_ACCOUNT = register(
    "P751",
    "the URL names no storage account",
    "write abfs://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH, or set AZURE_STORAGE_ACCOUNT_NAME",
)
STORAGE_FAILED = register(
    "P752",
    "the object storage does not answer, or refuses: {reason}",
    "check the network, the credentials and the endpoint (AWS_ENDPOINT_URL, STORAGE_EMULATOR_HOST "
    "or AZURE_STORAGE_ENDPOINT); then run the command again",
)

_UNREACHABLE = ("NETWORK_CONNECTION", "Could not connect", "resolve host", "Couldn't connect")
"""Words of the libraries of S3, Azure and Google, in this order."""
_GOOGLE_REPEATS = timedelta(seconds=10)
"""Google's library repeats a request for a quarter of an hour otherwise."""


def is_unreachable(error: OSError) -> bool:
    """Return whether a storage cannot be connected to, which its library has tried several times.

    >>> is_unreachable(OSError("AWS Error NETWORK_CONNECTION during HeadObject operation"))
    True
    """
    return any(words in str(error) for words in _UNREACHABLE)


def storage_failed(url: str, error: BaseException) -> ParaplyError:
    """Return P752 with the first line of what a storage's library says."""
    reason = str(error).partition("\n")[0]
    return ParaplyError(STORAGE_FAILED, where=url, reason=reason)


def plain_url(url: str) -> str:
    """Return a URL with the usual name of its scheme.

    >>> plain_url("s3a://bucket/x"), plain_url("gs://bucket/x")
    ('s3://bucket/x', 'gs://bucket/x')
    """
    scheme, _, rest = url.partition("://")
    return f"{SPELLINGS.get(scheme, scheme)}://{rest}"


def filesystem_of(url: str) -> tuple[Any, str]:
    """Return the file system of a URL, and the path in it.

    Raises ``ParaplyError`` P749 (scheme), P750 (no libhdfs), P751 (no account), and what Arrow
    raises.
    """
    import pyarrow.fs as pafs

    url = plain_url(url)
    scheme, parts = url.partition("://")[0], urlsplit(url)
    if scheme not in SCHEMES:
        raise ParaplyError(NO_SUCH_SCHEME, where=url, scheme=scheme)
    path = parts.netloc.partition("@")[0] + parts.path
    if scheme == "abfs":
        return pafs.AzureFileSystem(**_azure_options(url)), path
    emulator = os.environ.get("STORAGE_EMULATOR_HOST", "")
    if scheme == "gs" and emulator:
        kind, _, place = emulator.rpartition("://")
        files = pafs.GcsFileSystem(
            anonymous=True, scheme=kind or "http", endpoint_override=place.rstrip("/"),
            retry_time_limit=_GOOGLE_REPEATS,
        )  # fmt: skip
        return files, path
    if scheme == "gs":
        url += f"{'&' if parts.query else '?'}retry_limit_seconds={_GOOGLE_REPEATS.seconds}"
    try:
        found: tuple[Any, str] = pafs.FileSystem.from_uri(url)
    except OSError as error:
        if "libhdfs" not in str(error) and "libjvm" not in str(error):
            raise
        reason = str(error).partition("\n")[0]
        raise ParaplyError(NO_LIBHDFS, where=url, reason=reason) from None
    return found


def table_options(url: str) -> dict[str, str]:
    """Return what delta-rs does not read from the environment for :func:`filesystem_of`'s URLs."""
    scheme, options = url.partition("://")[0], {}
    endpoint = ""
    if scheme == "s3":
        options["aws_conditional_put"] = "etag"
        endpoint = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL", "")
        if endpoint:
            options["aws_endpoint"] = endpoint
    elif scheme == "gs" and (endpoint := os.environ.get("STORAGE_EMULATOR_HOST", "")):
        endpoint = endpoint if "://" in endpoint else f"http://{endpoint}"
        options["google_service_account_key"] = (
            f'{{"gcs_base_url": "{endpoint}", "disable_oauth": true, "client_email": "", '
            '"private_key": "", "private_key_id": ""}'
        )
    elif scheme == "abfs":
        endpoint = os.environ.get("AZURE_STORAGE_ENDPOINT", "")
    if endpoint.startswith("http://"):
        options["allow_http"] = "true"
    return options


def _azure_options(url: str) -> dict[str, str]:
    host = urlsplit(url).netloc.partition("@")[2]
    account = host.partition(".")[0] or os.environ.get("AZURE_STORAGE_ACCOUNT_NAME", "")
    if not account:
        raise ParaplyError(NO_ACCOUNT, where=url)
    options = {"account_name": account}
    if key := os.environ.get("AZURE_STORAGE_ACCOUNT_KEY"):
        options["account_key"] = key
    elif token := os.environ.get("AZURE_STORAGE_SAS_TOKEN"):
        options["sas_token"] = token
    if endpoint := os.environ.get("AZURE_STORAGE_ENDPOINT"):
        place = urlsplit(endpoint)
        for service in ("blob", "dfs"):
            options[f"{service}_storage_authority"] = place.netloc
            options[f"{service}_storage_scheme"] = place.scheme
    return options
