"""The error codes of attachments."""

from sealdesk.errors import ProblemType, gettext_noop
from sealdesk.errors.general import NOT_FOUND, STORAGE_UNAVAILABLE

FILE_TYPE_NOT_ALLOWED = ProblemType(
    code="file_type_not_allowed",
    status=415,
    title="Files of this type may not be attached",
    message=gettext_noop("A file whose name ends in %(ending)s may not be attached here."),
    meaning="The ending of the file's name is not allowed by SEALDESK_ATTACHMENT_TYPES.",
    remedy="Send the file in another format, or as an archive if these are allowed.",
    example={"ending": ".exe"},
)
EMPTY_ATTACHMENT = ProblemType(
    code="empty_attachment",
    status=400,
    title="The attachment is empty",
    message=gettext_noop("The file is empty."),
    meaning="The body has no bytes.",
    remedy="Send the bytes of the file as the body, without a form or an encoding around them.",
)
ATTACHMENT_QUOTA_EXCEEDED = ProblemType(
    code="attachment_quota_exceeded",
    status=409,
    title="The tenant's attachments use all of their space",
    message=gettext_noop(
        "There is no space for this file: %(used_mib)s of %(quota_mib)s MiB are used."
    ),
    meaning="All attachments of a tenant together may have SEALDESK_ATTACHMENT_QUOTA_MIB.",
    remedy="Ask who operates the service for more space.",
    example={"used_mib": 10239, "quota_mib": 10240},
    members=("used_mib", "quota_mib"),
)
CONTENT_UNAVAILABLE = STORAGE_UNAVAILABLE.variant(
    "The storage of attachments cannot be used right now. Nothing was changed. Try again."
)
LINK_EXPIRED = NOT_FOUND.variant("The link has expired, or it is not whole. Ask for a new one.")
