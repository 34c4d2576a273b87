"""The form of a key: what was typed, as the API takes it."""

from typing import Any

from sealdesk import clock
from sealdesk.api_keys import rules
from sealdesk.api_keys.rules import ApiKey
from sealdesk.web.forms import Form

READ_ONLY = tuple(name for name in rules.PERMISSIONS if name.endswith(":read"))
DAYS = ("30", "90", "365")
_DAY_US = 24 * 3600 * 1_000_000
_FIELDS = ("name", "grant", "rate_limit", "expiry", "expires_at", "allowed_ips", "seen")
NONE_SEEN = "0"  # sorts before every id
Typed = dict[str, Any]


def blank(newest_id: str) -> Typed:
    """A new key that may everything for a year. newest_id: of the keys that are there."""
    return {
        "seen": newest_id,
        "name": "",
        "grant": "everything",
        "permissions": [],
        "rate_limit": str(rules.DEFAULT_RATE_LIMIT),
        "expiry": "365",
        "expires_at": "",
        "allowed_ips": "",
        "replay_protection": "",
    }


def of_key(key: ApiKey) -> Typed:
    """The form of a key as it is."""
    return {
        "seen": rules.state_of(key),
        "name": key.name,
        "grant": grant_of(key.permissions),
        "permissions": list(key.permissions),
        "rate_limit": str(key.rate_limit),
        "expiry": "never" if key.expires_at is None else "keep",
        "expires_at": "" if key.expires_at is None else clock.iso(key.expires_at)[:16],
        "allowed_ips": "\n".join(key.allowed_ips or ()),
        "replay_protection": "writes" if key.replay_protection == "writes" else "",
    }


def typed(form: Form) -> Typed:
    """What stands in the fields, to show it again."""
    return {
        **{name: form.text(name) for name in _FIELDS},
        "permissions": form.texts("permissions"),
        "replay_protection": form.text("replay_protection"),
    }


def wanted(form: Form, now_us: int) -> Typed:
    """The body that the API would get; without `expires_at` when it stays as it is."""
    limit = form.text("rate_limit").strip()
    lines = form.text("allowed_ips").replace(",", "\n").split("\n")
    body: Typed = {
        "name": form.text("name"),
        "permissions": _permissions(form),
        "rate_limit": int(limit) if limit.isascii() and limit.isdigit() and len(limit) < 9 else 0,
        "allowed_ips": [line.strip() for line in lines if line.strip()] or None,
        "replay_protection": "writes" if form.text("replay_protection") else "off",
    }
    if form.text("expiry") != "keep":
        body["expires_at"] = _expiry(form, now_us)
    return body


def grant_of(permissions: tuple[str, ...]) -> str:
    """Which preset these are: everything, read or chosen."""
    if permissions == rules.PERMISSIONS:
        return "everything"
    return "read" if permissions == READ_ONLY else "chosen"


def _permissions(form: Form) -> list[str]:
    presets = {"everything": rules.PERMISSIONS, "read": READ_ONLY}
    return list(presets.get(form.text("grant"), form.texts("permissions")))


def _expiry(form: Form, now_us: int) -> str | None:
    expiry = form.text("expiry")
    if expiry in DAYS:
        return clock.iso(now_us + int(expiry) * _DAY_US)
    return None if expiry == "never" else form.text("expires_at")
