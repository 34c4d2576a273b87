"""Example values of ratings for the API reference."""

from sealdesk.mail.ratings.types import RatingLink

LINK = RatingLink(
    url="https://desk.example.com/r/4f2kq7…",
    expires_at="2026-04-01T10:02:18.000000Z",
)
