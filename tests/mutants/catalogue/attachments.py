"""Mutants of attachments: their upload, their files, and their references."""

from tests.mutants.mutant import Mutant

_UPLOADS = "tests/tickets/test_uploads.py"
_ATTACHED = "tests/tickets/test_attached.py"
_OF_PAGES = "tests/tickets/test_uploads_of_pages.py"
_ROOM = "tickets/attachments"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "the signature of a streamed body is not checked",
        f"{_ROOM}/receiving.py",
        "    await body_stream.prove(request, digest)\n",
        "",
        (f"{_UPLOADS}::test_an_upload_is_described",),
    ),
    Mutant(
        "the hash of a streamed body is not part of what is signed",
        "api_keys/guard/upload.py",
        "    if not known.verifier.has_signed(text, headers.signature):\n",
        "    if not (known.verifier.has_signed(text, headers.signature) or digest.size):\n",
        (f"{_UPLOADS}::test_a_body_with_another_hash_than_was_signed_leaves_nothing",),
    ),
    Mutant(
        "an upload needs no permission before its body",
        "api_keys/guard/upload.py",
        "        try:\n            self.get_permission(known)\n            body_stream",
        "        try:\n            body_stream",
        (f"{_UPLOADS}::test_what_needs_no_body_is_refused_before_it",),
    ),
    Mutant(
        "a streamed body may have any size",
        "web/body_stream.py",
        "    if size > request.max_body_bytes:\n",
        "    if size > 2 * request.max_body_bytes:\n",
        (f"{_UPLOADS}::test_a_larger_file_is_refused_before_it_is_sent",),
    ),
    Mutant(
        "parts of a streamed body stay counted",
        "web/body_stream.py",
        '        if "release" in message:  # our server counts what the application holds\n'
        '            message["release"](len(part))\n',
        "",
        (f"{_UPLOADS}::test_uploads_hold_little_of_the_budget_of_bodies",),
    ),
    Mutant(
        "tenants share files",
        f"{_ROOM}/files.py",
        'f"{content.sha256}.{content.tenant_id}"',
        'f"{content.sha256}"',
        (f"{_UPLOADS}::test_tenants_do_not_share_files",),
    ),
    Mutant(
        "what was received of a refused upload stays",
        f"{_ROOM}/receiving.py",
        "            incoming.discard()\n",
        "            pass\n",
        (f"{_UPLOADS}::test_a_full_disk_refuses_the_file_and_keeps_nothing_of_it",),
    ),
    Mutant(
        "an attachment may be attached twice",
        f"{_ROOM}/store.py",
        'f" AND a.id IN ({keys}) AND a.ticket_id IS NULL',
        'f" AND a.id IN ({keys})',
        (f"{_ATTACHED}::test_an_attachment_is_attached_once",),
    ),
    Mutant(
        "a link leads to every attachment of its tenant",
        f"{_ROOM}/api.py",
        "    if found.id != attachment_id:\n",
        "    if found.tenant_id != link.tenant_id:\n",
        (f"{_ATTACHED}::test_a_link_leads_to_its_attachment_only",),
    ),
    Mutant(
        "a link has no end",
        f"{_ROOM}/serving.py",
        "    if link.until_us < now_us or link.epoch != epoch:\n",
        "    if link.epoch != epoch:\n",
        (f"{_ATTACHED}::test_a_link_leads_to_the_bytes_for_five_minutes",),
    ),
    Mutant(
        "a file is served as the type that its sender declared",
        f"{_ROOM}/serving.py",
        "    content_type = (attachment.image_type or rules.DEFAULT_TYPE).encode()\n",
        "    content_type = attachment.content_type.encode()\n",
        (f"{_ATTACHED}::test_nothing_in_the_bytes_is_run",),
    ),
    Mutant(
        "retention deletes a file that another attachment has",
        f"{_ROOM}/pruning.py",
        "    if not await state.database.read(is_used):\n",
        "    if is_used:\n",
        (f"{_ATTACHED}::test_an_upload_that_nothing_refers_to_is_deleted_after_a_day",),
    ),
    Mutant(
        "an upload of a page needs no form token",
        "identity/auth/session_guard.py",
        "        forms.check_token_header(request, session.form_token(request, token))\n",
        "",
        (f"{_OF_PAGES}::test_another_site_cannot_upload",),
    ),
    Mutant(
        "a restored attachment is not compared with its hash",
        "db/backup/attached_files.py",
        '        if digest.hexdigest() != path.name.partition(".")[0]:\n',
        '        if "" != path.name.partition(".")[2][:0]:\n',
        (
            "tests/db/test_backup_archive.py"
            "::test_an_attachment_that_does_not_fit_its_name_is_not_restored",
        ),
    ),
)
