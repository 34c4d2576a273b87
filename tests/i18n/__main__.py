"""`python -m tests.i18n`: update and compile the catalogues, and name what lacks a translation."""

import sys

from tests.i18n import catalogues


def main() -> int:
    """1 when a message lacks a translation."""
    template = catalogues.extract()
    catalogues.write_po(template, catalogues.POT)
    exit_code = 0
    for language in catalogues.languages():
        catalogue = catalogues.update(language, template)
        catalogues.write_po(catalogue, catalogues.po_path(language))
        catalogues.write_mo(catalogue, catalogues.mo_path(language))
        for message in catalogues.untranslated(catalogue):
            exit_code = 1
            sys.stdout.write(f"{language} lacks {message.id!r}\n")
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
