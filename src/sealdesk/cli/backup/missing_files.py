"""Says which attachments a backup lacks."""

from sealdesk.cli.output import make_console
from sealdesk.db.backup.archive import LackingFile, Report

_MAX_SHOWN = 20
_WHAT_TO_DO = """\
Their tickets are in the backup, without these files. Put the files back into the storage, from an
older backup or from a snapshot of its disk or bucket, and make another backup. A file that was
erased while the backup was made is no loss: the next backup does not need it."""


def print_lacking(report: Report | None) -> None:
    """Name the attachments that are missing. report: None if nobody has compared them."""
    if report is None:
        _warn("This backup does not say whether all attachments are in it: make a new one.")
    elif report.lacking_count:
        _warn(f"{report.lacking_count:,} attachments could not be copied:")
        for file in report.lacking[:_MAX_SHOWN]:
            _warn(f"  {_describe(file)}")
        if report.lacking_count > _MAX_SHOWN:
            _warn(f"  and {report.lacking_count - _MAX_SHOWN:,} more; --json names 1,000")
        print(_WHAT_TO_DO)


def _describe(file: LackingFile) -> str:
    ticket = "no ticket yet" if file.ticket_number is None else f"ticket {file.ticket_number}"
    return f"{file.fault:<10} {ticket} of tenant {file.tenant_id}: {file.path}"


def _warn(text: str) -> None:
    make_console().print(text, style="red", markup=False, soft_wrap=True)
