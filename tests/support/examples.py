"""Which examples hypothesis tries: few and the same ones in `make test`, many in `make prove`."""

from hypothesis import settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

# make prove: --hypothesis-profile=thorough.
settings.register_profile("thorough", settings.get_profile("ci"), max_examples=1_000)

_constants_of_modules = providers._get_local_constants
_NONE = Constants()


def examples(count: int) -> int:
    """The number of examples of a test that starts requests or is slow for another reason."""
    return 10 * count if _is_thorough() else count


def _is_thorough() -> bool:
    return settings.get_current_profile_name() == "thorough"


def _constants() -> Constants:
    return _constants_of_modules() if _is_thorough() else _NONE


# Hypothesis also tries constants of every module that is imported by then. With them, the examples
# of a test change with any edit anywhere, and with the order of the tests.
providers._get_local_constants = _constants
