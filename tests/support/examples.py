"""How many examples hypothesis tries: fewer in `make test`, many in `make prove`."""

from hypothesis import settings

# make prove: --hypothesis-profile=thorough.
settings.register_profile("thorough", settings.get_profile("ci"), max_examples=1_000)


def examples(count: int) -> int:
    """The number of examples of a test that starts requests or is slow for another reason."""
    return 10 * count if settings.get_current_profile_name() == "thorough" else count
