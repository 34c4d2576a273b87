import base64
import re
import stat
from pathlib import Path

import pytest

from sealdesk.settings import BadSettings, Settings, from_env, known_names, make_private_dir
from sealdesk.settings.env_reader import EnvReader
from tests.support.for_each import for_each
from tests.support.service import random_key

DOCS = Path("docs/settings.md")


def read(data_dir: Path, **env: str) -> Settings:
    return from_env({"SEALDESK_DATA_DIR": str(data_dir), **env})


def faults(data_dir: Path, **env: str) -> str:
    with pytest.raises(BadSettings) as refused:
        read(data_dir, **env)
    return str(refused.value)


def test_every_setting_is_documented_and_no_other() -> None:
    documented = re.findall(r"^### `(\w+)`$", DOCS.read_text(), re.MULTILINE)
    assert sorted(documented) == sorted(known_names())


def test_without_variables_the_defaults_apply(tmp_path: Path) -> None:
    settings = read(tmp_path / "data")
    assert settings.database_path == tmp_path / "data" / "sealdesk.db"
    assert (settings.max_skew_s, settings.log_level) == (300, "info")


def test_generated_keys_are_private_and_permanent(tmp_path: Path) -> None:
    first, second = read(tmp_path / "data"), read(tmp_path / "data")
    assert (first.master_keys, first.jwt_secret) == (second.master_keys, second.jwt_secret)
    assert first.master_keys[0] != first.jwt_secret
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in first.data_dir.iterdir()}
    assert modes == {"master.key": 0o600, "jwt.key": 0o600, "first-start": 0o600}


def test_two_installations_generate_different_keys(tmp_path: Path) -> None:
    assert read(tmp_path / "a").master_keys != read(tmp_path / "b").master_keys


def test_a_missing_master_key_is_not_generated_for_an_existing_database(tmp_path: Path) -> None:
    settings = read(tmp_path / "data")
    settings.database_path.touch()
    (settings.data_dir / "master.key").unlink()
    assert "restore it from your backup" in faults(tmp_path / "data")


def test_the_file_of_the_master_key_may_hold_a_new_and_the_old_one(tmp_path: Path) -> None:
    old = read(tmp_path / "data")
    file = old.data_dir / "master.key"
    new = read(tmp_path / "other")
    file.write_text(f"{(new.data_dir / 'master.key').read_text().strip()},{file.read_text()}")
    assert read(tmp_path / "data").master_keys == (*new.master_keys, *old.master_keys)
    file.write_text(f"\ufeff{file.read_text()}\r\n")  # as Windows writes it
    assert read(tmp_path / "data").master_keys == (*new.master_keys, *old.master_keys)
    file.write_text(f"damaged,{file.read_text()}")
    assert "master.key does not hold a key" in faults(tmp_path / "data")


def test_a_damaged_key_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    file = read(tmp_path / "data").data_dir / "jwt.key"
    file.write_text("damaged\n")
    assert "jwt.key does not hold a key" in faults(tmp_path / "data")
    assert file.read_text() == "damaged\n"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("SEALDESK_MASTERKEY", "SEALDESK_MASTER_KEY"),
        ("SEALDESK_LOGLEVEL", "SEALDESK_LOG_LEVEL"),
        ("SEALDESK_DATABASE", "SEALDESK_DATABASE_URL"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(
    tmp_path: Path, name: str, nearest: str
) -> None:
    assert faults(tmp_path, **{name: "x"}) == f"{name} is not a setting; is it {nearest}?"


def test_what_kubernetes_sets_beside_a_service_of_this_name_is_passed_over(tmp_path: Path) -> None:
    links = {
        "SEALDESK_SERVICE_HOST": "10.96.0.7",
        "SEALDESK_SERVICE_PORT": "8000",
        "SEALDESK_SERVICE_PORT_HTTP": "8000",
        "SEALDESK_PORT": "tcp://10.96.0.7:8000",
        "SEALDESK_PORT_8000_TCP_ADDR": "10.96.0.7",
        "SEALDESK_MAIL_SERVICE_HOST": "10.96.0.8",
        "SEALDESK_MAIL_SERVICE_PORT_SMTP": "25",
        "SEALDESK_MAIL_PORT": "tcp://10.96.0.8:25",
        "SEALDESK_MAIL_PORT_25_TCP_PORT": "25",
    }
    from_env({"SEALDESK_DATA_DIR": str(tmp_path), **links})
    for name in ("SEALDESK_PORTS", "SEALDESK_METRICS_PORT", "SEALDESK_SERVICE_HOSTS"):
        assert name in faults(tmp_path, **{name: "9000"})


@pytest.mark.parametrize(
    ("name", "before"),
    [
        ("SEALDESK_DATA_DIR", ""),
        ("SEALDESK_DATABASE_URL", "sqlite:///"),
        ("SEALDESK_MAIL_TLS_CERT", ""),
        ("SEALDESK_MAIL_TLS_KEY", ""),
    ],
)
def test_a_tilde_in_a_path_is_the_home_of_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, before: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    env = {"SEALDESK_MAIL_TLS_CERT": "/x.pem", "SEALDESK_MAIL_TLS_KEY": "/x.pem"}
    settings = from_env(env | {name: f"{before}~/desk"}, needs_keys=False)
    mail = settings.mail
    paths = (settings.data_dir, settings.database_path, mail.certificate, mail.private_key)
    assert tmp_path / "desk" in paths
    with pytest.raises(BadSettings, match="unknown user"):
        from_env(env | {name: f"{before}~nobody-of-this-name/desk"}, needs_keys=False)


@pytest.mark.parametrize(
    "path", ["'/srv/desk'", '"desk"', "$HOME/desk", "${HOME}/desk", "%h/desk", "desk\r", " /srv"]
)
def test_a_data_directory_that_is_not_what_was_meant_is_refused(path: str) -> None:
    with pytest.raises(BadSettings, match="write the path itself"):
        from_env({"SEALDESK_DATA_DIR": path})


def test_an_invalid_environment_creates_no_files(tmp_path: Path) -> None:
    faults(tmp_path / "data", SEALDESK_NONSENSE="x")
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize("name", ["SEALDESK_MASTER_KEY", "SEALDESK_JWT_SECRET"])
@pytest.mark.parametrize(
    "value",
    [
        "secret",
        base64.b64encode(b"k" * 31).decode(),
        base64.b64encode(bytes(32)).decode(),
        base64.b64encode(b"correct horse battery staple 123").decode(),
    ],
    ids=["no base64", "too short", "zeros", "text"],
)
def test_a_weak_secret_is_refused(tmp_path: Path, name: str, value: str) -> None:
    refusal = faults(tmp_path, **{name: value})
    assert f"{name} must be base64 of 32 random bytes" in refusal
    assert value not in refusal


def test_outside_the_embedded_default_every_missing_secret_is_named(tmp_path: Path) -> None:
    refusal = faults(tmp_path, SEALDESK_DATABASE_URL=f"sqlite:///{tmp_path}/own.db")
    assert "SEALDESK_MASTER_KEY is missing" in refusal
    assert "SEALDESK_JWT_SECRET is missing" in refusal


def test_several_master_keys_are_read_in_their_order(tmp_path: Path) -> None:
    new, old = random_key(), random_key()
    settings = read(tmp_path, SEALDESK_MASTER_KEY=f"{new}, {old}")
    assert [base64.b64encode(key).decode() for key in settings.master_keys] == [new, old]


@for_each(
    ("name", "value"),
    [
        ("SEALDESK_DATABASE_URL", "mysql://host/db"),
        ("SEALDESK_DATABASE_URL", "sqlite:///"),
        ("SEALDESK_DATABASE_URL", "postgresql://[::1/db"),
        ("SEALDESK_OWNER_DATABASE_URL", "postgresql://one:5432,two:99999/db"),
        ("SEALDESK_WORKER_DATABASE_URL", "sqlite:///worker.db"),
        ("SEALDESK_DATABASE_CONNECTIONS", "0"),
        ("SEALDESK_DATABASE_POOLER", "session"),
        ("SEALDESK_REDIS_URL", "localhost:6379"),
        ("SEALDESK_EXPECTED_PROCESSES", "1001"),
        ("SEALDESK_PER_PROCESS_LIMITS", "on"),
        ("SEALDESK_TENANT_LIMIT", "5999"),
        ("SEALDESK_DRAIN_NOTICE_S", "9"),
        ("SEALDESK_MAX_SKEW_S", "29"),
        ("SEALDESK_MAX_SKEW_S", "901"),
        ("SEALDESK_MAX_SKEW_S", "٣٠٠"),
        ("SEALDESK_EXTERNAL_PATH_PREFIX", "support"),
        ("SEALDESK_EXTERNAL_PATH_PREFIX", "/support/"),
        ("SEALDESK_TRUSTED_PROXIES", "10.0.0.1/8"),
        ("SEALDESK_TRUSTED_PROXIES", "0.0.0.0/0"),
        ("SEALDESK_WEBHOOK_ALLOWED_CIDRS", "10.0.0.1/8"),
        ("SEALDESK_WEBHOOK_ALLOWED_CIDRS", "receiver.internal"),
        ("SEALDESK_WEBHOOK_ALLOWED_CIDRS", "::/0"),
        ("SEALDESK_WEBHOOK_ALLOWED_CIDRS", "10.0.0.0/8;10.1.0.0/16"),
        ("SEALDESK_WEBHOOK_ALLOW_HTTP", "on"),
        ("SEALDESK_MAIL_LISTEN", "2525"),
        ("SEALDESK_MAIL_LISTEN", "localhost:99999"),
        ("SEALDESK_MAIL_LISTEN", "local host:2525"),
        ("SEALDESK_MAIL_PROTOCOL", "pop3"),
        ("SEALDESK_MAIL_TLS_CERT", "/without/a/key.pem"),
        ("SEALDESK_MAIL_TLS_KEY", "/without/a/certificate.pem"),
        ("SEALDESK_MAIL_MAX_MIB", "26"),
        ("SEALDESK_MAIL_WAITING_MIB", "0"),
        ("SEALDESK_MAIL_AUTHSERV_IDS", "mx.example.com; mx2.example.com"),
        ("SEALDESK_MAIL_SEAL_MESSAGES", "sometimes"),
        ("SEALDESK_METRICS_TOKEN", "short"),
        ("SEALDESK_LOG_LEVEL", "verbose"),
    ],
)
def test_an_invalid_value_is_refused_with_its_parameter(
    tmp_path: Path, name: str, value: str
) -> None:
    assert name in faults(tmp_path, **{name: value})


def test_all_faults_are_named_at_once(tmp_path: Path) -> None:
    refusal = faults(tmp_path, SEALDESK_MAX_SKEW_S="1", SEALDESK_LOG_LEVEL="loud", SEALDESK_X="1")
    assert all(f"SEALDESK_{name}" in refusal for name in ("MAX_SKEW_S", "LOG_LEVEL", "X"))


def test_settings_do_not_show_their_secrets(tmp_path: Path) -> None:
    secret = random_key()
    settings = read(tmp_path, SEALDESK_MASTER_KEY=secret, SEALDESK_METRICS_TOKEN="t" * 16)
    shown = f"{settings!r} {settings}"
    assert not any(part in shown for part in (secret, "tttt", repr(settings.jwt_secret)))


def test_a_directory_shared_by_all_users_is_refused(tmp_path: Path) -> None:
    state = tmp_path / "shared"
    state.mkdir()
    state.chmod(0o1777)
    with pytest.raises(BadSettings, match="shared by all users"):
        make_private_dir(state)
    assert stat.S_IMODE(state.stat().st_mode) == 0o1777


def test_a_server_may_have_several_hosts_and_its_password_is_not_shown(tmp_path: Path) -> None:
    url = "postgresql://desk:pass%2Fword@one:5432,two:5433,three/desk"
    keys = {"SEALDESK_MASTER_KEY": random_key(), "SEALDESK_JWT_SECRET": random_key()}
    settings = read(tmp_path, SEALDESK_DATABASE_URL=url, **keys)
    assert settings.database_url == url
    assert "pass%2F" not in repr(settings)
    assert "pass%2F" not in faults(tmp_path, SEALDESK_DATABASE_URL=url.replace("5432", "99999"))


def test_migrating_needs_no_keys(tmp_path: Path) -> None:
    url = "postgresql://desk@host/desk"
    settings = from_env({"SEALDESK_DATABASE_URL": url}, needs_keys=False)
    assert settings.database_url == url


def test_webhooks_go_to_public_https_addresses_unless_settings_allow_more(tmp_path: Path) -> None:
    closed = read(tmp_path)
    assert (closed.webhook_allowed_cidrs, closed.webhook_allow_http) == ((), False)
    networks = "10.1.0.0/16, 192.168.5.7,fd12:3::/32"
    opened = read(
        tmp_path, SEALDESK_WEBHOOK_ALLOWED_CIDRS=networks, SEALDESK_WEBHOOK_ALLOW_HTTP="accept"
    )
    shown = [str(network) for network in opened.webhook_allowed_cidrs]
    assert (shown, opened.webhook_allow_http) == (
        ["10.1.0.0/16", "192.168.5.7/32", "fd12:3::/32"],
        True,
    )


BUCKET = {
    "SEALDESK_ATTACHMENT_BUCKET": "desk",
    "SEALDESK_ATTACHMENT_KEY_ID": "AKIA1",
    "SEALDESK_ATTACHMENT_SECRET": "secret-of-the-key",
}


@pytest.mark.parametrize(
    ("env", "url"),
    [
        ({}, "https://s3.us-east-1.amazonaws.com"),
        ({"REGION": "eu-central-1"}, "https://s3.eu-central-1.amazonaws.com"),
        ({"ENDPOINT": "https://s3.example.test:9000/"}, "https://s3.example.test:9000"),
        (
            {"ENDPOINT": "https://s3.example.test", "ADDRESSING": "host"},
            "https://desk.s3.example.test",
        ),
    ],
)
def test_a_bucket_has_a_url(tmp_path: Path, env: dict[str, str], url: str) -> None:
    named = {f"SEALDESK_ATTACHMENT_{name}": value for name, value in env.items()}
    bucket = read(tmp_path, **BUCKET, **named).attachment_bucket
    assert bucket is not None
    assert bucket.url == url


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("BUCKET", "Desk"),
        ("BUCKET", "a/b"),
        ("ENDPOINT", "s3.example.test"),
        ("ENDPOINT", "https://s3.example.test/path"),
        ("ENDPOINT", "https://user:hidden-word@s3.example.test"),
        ("ENDPOINT", "https://[s3"),
        ("REGION", "eu central"),
        ("KEY_ID", "hidden-word\n"),
        ("SECRET", "hidden-word\u00e9"),
        ("ADDRESSING", "both"),
    ],
)
def test_a_wrong_setting_of_a_bucket_is_named(tmp_path: Path, name: str, value: str) -> None:
    text = faults(tmp_path, **BUCKET | {f"SEALDESK_ATTACHMENT_{name}": value})
    assert text.startswith(f"SEALDESK_ATTACHMENT_{name} must be")
    assert "hidden-word" not in text


@pytest.mark.parametrize("name", ["KEY_ID", "SECRET"])
def test_a_bucket_needs_a_key(tmp_path: Path, name: str) -> None:
    text = faults(tmp_path, **BUCKET | {f"SEALDESK_ATTACHMENT_{name}": ""})
    assert text.startswith("SEALDESK_ATTACHMENT_BUCKET needs SEALDESK_ATTACHMENT_KEY_ID")
    assert "bucket.secret" in text


def test_a_bucket_needs_its_client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert "needs the package obstore" in faults(tmp_path, **BUCKET)


@pytest.mark.parametrize("text", ["accept", "true", "TRUE", "1", "yes"])
def test_a_setting_is_accepted_by_each_word_for_yes(text: str) -> None:
    faults: list[str] = []
    read = EnvReader({"SEALDESK_X": text, "SEALDESK_Y": ""}, faults, needs_keys=False)
    assert read.is_accepted("SEALDESK_X")
    assert not read.is_accepted("SEALDESK_Y")
    assert faults == []


@pytest.mark.parametrize("text", ["refuse", "false", "False", "0", "no"])
def test_a_setting_is_refused_by_each_word_for_no(text: str) -> None:
    faults: list[str] = []
    assert not EnvReader({"SEALDESK_X": text}, faults, needs_keys=False).is_accepted("SEALDESK_X")
    assert faults == []


def test_mail_is_received_where_the_settings_say(tmp_path: Path) -> None:
    assert read(tmp_path).mail.host == ""
    named = {
        "SEALDESK_MAIL_LISTEN": "[::1]:2525",
        "SEALDESK_MAIL_PROTOCOL": "lmtp",
        "SEALDESK_MAIL_TLS_CERT": "/a/cert.pem",
        "SEALDESK_MAIL_TLS_KEY": "/a/key.pem",
        "SEALDESK_MAIL_MAX_MIB": "1",
        "SEALDESK_MAIL_WAITING_MIB": "2",
        "SEALDESK_MAIL_AUTHSERV_IDS": "MX.example.com,mx2.example.com",
        "SEALDESK_MAIL_SEAL_MESSAGES": "accept",
        "SEALDESK_MAIL_SENDER": "desk@example.com",
    }
    files = Path("/a/cert.pem"), Path("/a/key.pem")
    servers = frozenset({"mx.example.com", "mx2.example.com"})
    receiving = ("::1", 2525, True, *files, 2**20, servers, True)
    assert read(tmp_path, **named).mail == (*receiving, {}, "", 2**21, "desk@example.com")


GOOGLE = {
    "SEALDESK_MAIL_GOOGLE_CLIENT_ID": "an id",
    "SEALDESK_MAIL_GOOGLE_CLIENT_SECRET": "very-secret",
}


def test_an_oauth_client_needs_a_public_url(tmp_path: Path) -> None:
    client = {**GOOGLE, "SEALDESK_MAIL_GOOGLE_CLIENT_ID": "an-id"}
    url = {"SEALDESK_PUBLIC_URL": "https://desk.acme.test/"}
    mail = read(tmp_path, **client, **url).mail
    assert (mail.public_url, mail.oauth_clients["google"].id) == ("https://desk.acme.test", "an-id")
    assert "very-secret" not in repr(mail)
    for wrong in (
        client,
        {**client, "SEALDESK_PUBLIC_URL": "http://desk.acme.test"},
        {**client, "SEALDESK_PUBLIC_URL": "https://desk.acme.test/support"},
        {**GOOGLE, **url},
        {"SEALDESK_MAIL_MICROSOFT_CLIENT_ID": "an-id", **url},
    ):
        with pytest.raises(BadSettings) as caught:
            read(tmp_path, **wrong)
        assert "very-secret" not in str(caught.value)
