"""The form of a key, and its conversion to the body that the API takes."""

from typing import Any

from sealdesk import clock
from sealdesk.api_keys import rules
from sealdesk.api_keys.permissions import DEFAULT_PERMISSIONS
from sealdesk.api_keys.types import ApiKey
from sealdesk.errors import ValidationFailed
from sealdesk.web.form import Form
from sealdesk.web.pages import forms
from sealdesk.web.pages.i18n import gettext

READ_ONLY = tuple(name for name in DEFAULT_PERMISSIONS if name.endswith(":read"))
DAYS = ("30", "90", "365")
_DAY_US = 24 * 3600 * 1_000_000
_FIELDS = ("name", "mode", "grant", "rate_limit", "expiry", "expires_at", "allowed_ips", "seen")
NONE_SEEN = "0"  # sorts before every id
FormValues = dict[str, Any]


def empty_values(newest_id: str) -> FormValues:
    """The form of a new key: the default permissions, for a year, protected from replays, which the
    API's default is not: its callers may send two equal requests. newest_id: of the existing keys.
    """
    return {
        "seen": newest_id,
        "name": "",
        "mode": "live",
        "grant": "everything",
        "permissions": [],
        "rate_limit": str(rules.DEFAULT_RATE_LIMIT),
        "expiry": "365",
        "expires_at": "",
        "allowed_ips": "",
        "replay_protection": "writes",
    }


def values_of_key(key: ApiKey) -> FormValues:
    """The form of an existing key."""
    return {
        "seen": rules.settings_hash(key),
        "name": key.name,
        "grant": grant_of(key.permissions),
        "permissions": list(key.permissions),
        "rate_limit": str(key.rate_limit),
        "expiry": "never" if key.expires_at is None else "keep",
        "expires_at": "" if key.expires_at is None else clock.iso(key.expires_at)[:16],
        "allowed_ips": "\n".join(key.allowed_ips or ()),
        "replay_protection": "writes" if key.replay_protection == "writes" else "",
    }


def read_values(form: Form) -> FormValues:
    """The submitted values of the fields, to show them again."""
    return {
        **{name: form.text(name) for name in _FIELDS},
        "permissions": form.texts("permissions"),
        "replay_protection": form.text("replay_protection"),
    }


def to_body(form: Form, now_us: int) -> FormValues:
    """The body that the API takes; without `expires_at` when it is unchanged."""
    limit = form.text("rate_limit").strip()
    body: FormValues = {
        "name": form.text("name"),
        "permissions": _permissions(form),
        "rate_limit": int(limit) if limit.isascii() and limit.isdigit() and len(limit) < 9 else 0,
        "allowed_ips": _split_lines(form.text("allowed_ips")) or None,
        "replay_protection": "writes" if form.text("replay_protection") else "off",
    }
    if form.text("expiry") != "keep":
        body["expires_at"] = _expiry(form, now_us)
    return body


def faults(error: ValidationFailed, values: FormValues) -> dict[str, str]:
    """The error text of each field."""
    texts = forms.faults_by_field(error)
    if "expires_at" in texts:
        if clock.parse_instant(values["expires_at"]) is not None:
            texts["expires_at"] = gettext("This must be in the future.")
        else:
            texts["expires_at"] = gettext("Choose a date and a time.")
    indexes = [fault.pointer.removeprefix("/allowed_ips/") for fault in error.faults]
    invalid_networks = [
        _split_lines(values["allowed_ips"])[int(index)] for index in indexes if index.isdigit()
    ]
    if invalid_networks:
        texts["allowed_ips"] += f" ({', '.join(invalid_networks)})"
    return texts


def _split_lines(text: str) -> list[str]:
    return [line.strip() for line in text.replace(",", "\n").split("\n") if line.strip()]


def grant_of(permissions: tuple[str, ...]) -> str:
    """The preset of these permissions: everything, read or chosen."""
    if permissions == DEFAULT_PERMISSIONS:
        return "everything"
    return "read" if permissions == READ_ONLY else "chosen"


def _permissions(form: Form) -> list[str]:
    presets = {"everything": DEFAULT_PERMISSIONS, "read": READ_ONLY}
    return list(presets.get(form.text("grant"), form.texts("permissions")))


def _expiry(form: Form, now_us: int) -> str | None:
    expiry = form.text("expiry")
    if expiry in DAYS:
        return clock.iso(now_us + int(expiry) * _DAY_US)
    return None if expiry == "never" else form.text("expires_at")
