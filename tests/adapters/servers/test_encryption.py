"""``ssl_mode``: against a stand-in for a server that speaks the first packets of the protocol."""

from __future__ import annotations

import datetime
import ipaddress
import shutil
import socket
import ssl
import struct
import threading
from contextlib import closing, contextmanager

import pytest

from paraply.adapters.servers import ServerRoom, find_mariadb
from paraply.adapters.servers.caretaker import temporary_folder
from paraply.adapters.servers.existing import ExistingServer, parse_dsn
from paraply.vocabulary.errors import ParaplyError

pytest.importorskip("pymysql")
x509 = pytest.importorskip("cryptography.x509")
from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec  # noqa: E402

CAPABILITIES = 0x0008_A20F  # long passwords, 4.1 protocol, transactions, plugins
SSL = 0x0800
OK = b"\0\0\0\2\0\0\0"
ANSWER_S = 20


def certified(folder, host):
    """Write an authority, and a certificate for ``host`` signed by it; return the three files."""
    key, authority = _pair("authority", None, None)
    server_key, certificate = _pair("server", (key, authority), host)
    files = {
        "ca.pem": authority.public_bytes(serialization.Encoding.PEM),
        "cert.pem": certificate.public_bytes(serialization.Encoding.PEM),
        "key.pem": server_key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        ),
    }
    folder.mkdir(exist_ok=True)
    for name, data in files.items():
        (folder / name).write_bytes(data)
        (folder / name).chmod(0o644)
    return [str(folder / name) for name in files]


def _pair(name, signer, host):
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(signer[1].subject if signer else subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=2))
        .add_extension(x509.BasicConstraints(ca=signer is None, path_length=None), critical=True)
    )
    if host:
        name = x509.IPAddress(ipaddress.ip_address(host))
        builder = builder.add_extension(x509.SubjectAlternativeName([name]), critical=False)
    return key, builder.sign(signer[0] if signer else key, hashes.SHA256())


class StandIn:
    """Answers one connection; keeps what arrived before and after encryption began."""

    def __init__(self, certificate=None, key=None):
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate, key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.listener.settimeout(ANSWER_S)
        self.port = self.listener.getsockname()[1]
        self.plain = b""
        self.encrypted = b""
        self.thread = threading.Thread(target=self._serve)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.listener.close()
        self.thread.join(ANSWER_S)
        assert not self.thread.is_alive()

    def _serve(self):
        try:
            peer, _ = self.listener.accept()
        except OSError:
            return
        with closing(peer):
            peer.settimeout(ANSWER_S)
            try:
                self._talk(peer)
            except OSError:
                return  # The client has refused this server.

    def _talk(self, peer):
        capabilities = CAPABILITIES | (SSL if self.context else 0)
        low, high = struct.pack("<I", capabilities)[:2], struct.pack("<I", capabilities)[2:]
        hello = b"\x0a10.11.0-MariaDB\0" + struct.pack("<I", 7) + b"12345678\0" + low
        hello += b"\x21" + struct.pack("<H", 2) + high + b"\x15" + bytes(10)
        hello += b"123456789012\0mysql_native_password\0"
        peer.sendall(struct.pack("<I", len(hello))[:3] + b"\0" + hello)
        number, body = _packet(peer)
        self.plain += body
        if self.context and len(body) == 32:
            peer = self.context.wrap_socket(peer, server_side=True)
            number, body = _packet(peer)
            self.encrypted += body
        while True:
            peer.sendall(struct.pack("<I", len(OK))[:3] + bytes([number + 1]) + OK)
            number, body = _packet(peer)
            if body[:1] == b"\x01":
                return


def _packet(peer):
    head = _exactly(peer, 4)
    return head[3], _exactly(peer, int.from_bytes(head[:3], "little"))


def _exactly(peer, count):
    data = b""
    while len(data) < count:
        more = peer.recv(count - len(data))
        if not more:
            raise ConnectionError("the client is gone")
        data += more
    return data


def connect(port, options):
    dsn = parse_dsn(f"mysql://visitor:s3cret@127.0.0.1:{port}/?{options}")
    ExistingServer(dsn, name="server").connect().close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("certificates")
    return {
        "ours": certified(folder / "ours", "127.0.0.1"),
        "another host": certified(folder / "other", "127.0.0.9"),
        "foreign": certified(folder / "foreign", "127.0.0.1"),
    }


@pytest.mark.parametrize("mode", ["required", "verify_ca", "verify_identity"])
def test_server_without_encryption_gets_no_account_and_no_password(mode):
    with StandIn() as server, pytest.raises(ParaplyError, match="P614"):
        connect(server.port, f"ssl_mode={mode}")
    assert b"visitor" not in server.plain


@pytest.mark.parametrize("mode", ["preferred", "disabled"])
def test_server_without_encryption_is_used_where_the_mode_allows(mode):
    with StandIn() as server:
        connect(server.port, f"ssl_mode={mode}")
    assert b"visitor" in server.plain


def test_disabled_does_not_encrypt(files):
    with StandIn(*files["ours"][1:]) as server:
        connect(server.port, "ssl_mode=disabled")
    assert b"visitor" in server.plain


@pytest.mark.parametrize("options", ["ssl_mode=required", "ssl_mode=preferred"])
def test_any_certificate_suffices_where_none_is_verified(files, options):
    with StandIn(*files["foreign"][1:]) as server:
        connect(server.port, options)
    assert b"visitor" in server.encrypted
    assert b"visitor" not in server.plain


@pytest.mark.parametrize(
    ("certificate", "options", "is_accepted"),
    [
        ("ours", "ssl_mode=verify_ca&ssl_ca={}", True),
        ("ours", "ssl_mode=verify_identity&ssl_ca={}", True),
        ("ours", "ssl_ca={}", True),
        ("another host", "ssl_ca={}", True),
        ("another host", "ssl_mode=verify_identity&ssl_ca={}", False),
        ("foreign", "ssl_ca={}", False),
        ("foreign", "ssl_mode=verify_ca&ssl_ca={}", False),
        ("ours", "ssl_mode=verify_ca", False),
    ],
)
def test_certificate_is_verified(certificate, options, is_accepted, files):
    authority = files["ours" if certificate == "foreign" else certificate][0]
    with StandIn(*files[certificate][1:]) as server:
        if is_accepted:
            connect(server.port, options.format(authority))
        else:
            with pytest.raises(ParaplyError, match=r"P614.*certificate"):
                connect(server.port, options.format(authority))
    assert (b"visitor" in server.encrypted) == is_accepted
    assert b"visitor" not in server.plain


def test_authority_that_cannot_be_read_is_named():
    with pytest.raises(ParaplyError, match="P614"):
        connect(1, "ssl_ca=/nowhere/ca.pem")


@pytest.mark.live
def test_real_server_is_verified(files):
    try:
        installation = find_mariadb()
    except ParaplyError as reason:
        pytest.skip(f"{reason.text}; {reason.remedy}")
    # The server's account cannot enter the folders of tests.
    folder = temporary_folder("paraply-certificates-")
    folder.chmod(0o755)
    with removed(folder), ServerRoom() as room:
        authority, certificate, key = certified(folder, "127.0.0.1")
        options = [f"--ssl-ca={authority}", f"--ssl-cert={certificate}", f"--ssl-key={key}"]
        server = room.start(installation, options=options)
        server.run(["CREATE USER visitor@'127.0.0.1' IDENTIFIED BY 's3cret' REQUIRE SSL"])
        for mode in ("required", f"verify_identity&ssl_ca={authority}"):
            dsn = parse_dsn(f"mysql://visitor:s3cret@127.0.0.1:{server.port}/?ssl_mode={mode}")
            rows = ExistingServer(dsn, name="server").query("SHOW STATUS LIKE 'Ssl_cipher'")
            assert rows[0][1]
        with pytest.raises(ParaplyError, match=r"P614.*certificate"):
            connect(server.port, f"ssl_ca={files['foreign'][0]}")
        with pytest.raises(ParaplyError, match="P614"):
            connect(server.port, "ssl_mode=disabled")


@contextmanager
def removed(folder):
    try:
        yield
    finally:
        shutil.rmtree(folder)
