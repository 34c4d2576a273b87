"""Mutants of attachments: their upload, their files, and their references."""

from tests.mutants.mutant import Mutant

_UPLOADS = "tests/tickets/test_uploads.py"
_ATTACHED = "tests/tickets/test_attached.py"
_OF_PAGES = "tests/tickets/test_uploads_of_pages.py"
_BUCKET = "tests/tickets/test_bucket.py"
_ROOM = "tickets/attachments"
_PUBLISH = "    await storage.publish(incoming.path, content_of(attachment), request.now_us)\n\n"
_WRITE = """\
    async def work(tx: Tx) -> Attachment:
        await actions.add(tx, attachment, quota_bytes=settings.attachment_quota_bytes)
        return attachment

    return await request.write(work)
"""

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
        f"{_ROOM}/rules.py",
        '/{content.sha256}.{content.tenant_id}"',
        '/{content.sha256}.{0:036}"',
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
        "        return await state.database.read(work)\n",
        "        return False\n",
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
        f"{_ROOM}/packing.py",
        "        if (await incoming.finish()).sha256 != content.sha256:\n",
        "        if not await incoming.finish():\n",
        (
            "tests/tickets/test_packing.py"
            "::test_an_attachment_that_does_not_fit_its_name_is_not_restored",
            "tests/cli/test_attachments.py::test_a_file_that_does_not_fit_its_name_is_not_moved",
        ),
    ),
    Mutant(
        "a file is put into the bucket after its row",
        f"{_ROOM}/receiving.py",
        _PUBLISH + _WRITE,
        _WRITE.replace("return await", "written = await")
        + _PUBLISH.rstrip("\n")
        + "\n    return written\n",
        (f"{_BUCKET}::test_a_failing_bucket_refuses_the_file_and_keeps_nothing_of_it",),
    ),
    Mutant(
        "the bytes of a bucket are not compared with their hash",
        f"{_ROOM}/bucket.py",
        " and self._digest.hexdigest() != self._content.sha256:\n",
        " and not self._digest.hexdigest():\n",
        (f"{_BUCKET}::test_bytes_that_were_changed_in_the_bucket_are_not_given_whole",),
    ),
    Mutant(
        "a request to the bucket has no deadline",
        f"{_ROOM}/bucket.py",
        "asyncio.timeout(_seconds_for(size))",
        "asyncio.timeout(None)",
        (f"{_BUCKET}::test_a_hanging_bucket_ends_with_a_problem",),
    ),
    Mutant(
        "a tenant may have all requests to the bucket",
        f"{_ROOM}/bucket.py",
        "_slots(_SLOTS, per_tenant=_SLOTS_OF_TENANT)",
        "_slots(_SLOTS, per_tenant=_SLOTS)",
        (f"{_BUCKET}::test_a_hanging_bucket_delays_nothing_else",),
    ),
    Mutant(
        "bytes are published in the bucket while they are deleted",
        f"{_ROOM}/bucket.py",
        "        is_whole = not await self._is_being_deleted(content)\n",
        "        is_whole = True\n",
        (f"{_BUCKET}::test_bytes_are_not_published_while_they_are_deleted",),
    ),
    Mutant(
        "retention deletes from the bucket what was uploaded again",
        f"{_ROOM}/bucket.py",
        ' or found["last_modified"] >= _instant(before_us)',
        "",
        (f"{_BUCKET}::test_an_upload_renews_the_time_of_equal_bytes",),
    ),
    Mutant(
        "the marks of killed deletions stay in the bucket",
        f"{_ROOM}/pruning.py",
        "    await storage.delete_abandoned(now_us)\n",
        "",
        (f"{_BUCKET}::test_what_a_killed_deletion_left_is_deleted_after_an_hour",),
    ),
)
