"""One connection to an IMAP server, one response at a time (RFC 9051)."""

import asyncio
import base64

from sealdesk.mail.connections import quote, read_line, start_tls
from sealdesk.mail.imap.commands import MAX_RESPONSES, Commands, HasRoom
from sealdesk.mail.imap.folder_names import encode_folder
from sealdesk.mail.imap.responses import (
    Folder,
    Listed,
    Response,
    code_of,
    is_ok,
    number_of,
    read_body,
    read_listed,
)
from sealdesk.mail.servers import LogIn, MailFailed, ProblemCode

_FIELDS = b"BODY.PEEK[HEADER.FIELDS (DATE FROM SUBJECT MESSAGE-ID)]<0.8192>"
_FULL = (b"OVERQUOTA",)
_LATER = (b"UNAVAILABLE", b"INUSE", b"LIMIT", b"SERVERBUG")


class ImapSession(Commands):
    """What is done in a connection. has_idle: whether the server tells by itself what is new."""

    has_idle = False

    async def greet(self, deadline: float) -> None:
        """Read the greeting. Raises MailFailed."""
        line = await read_line(self._streams.reader, deadline)
        self._notice(line)
        if not line.upper().startswith(b"* OK"):
            raise MailFailed("unexpected_answer", quote(line))

    async def start_tls(self, host: str, deadline: float) -> None:
        """Raises MailFailed; starttls_missing if the server refuses it."""
        answer, _ = await self._command(b"STARTTLS", deadline)
        if not is_ok(answer):
            raise MailFailed("starttls_missing", quote(answer))
        await start_tls(self._streams, host, deadline)

    async def log_in(self, log_in: LogIn, deadline: float) -> None:
        """Raises MailFailed."""
        if log_in.is_token:
            answer = await self._authenticate(log_in, deadline)
        else:
            # As literals, which may hold every character.
            values = [log_in.username.encode(), log_in.secret.encode()]
            answer, _ = await self._with_literals(b"LOGIN", values, deadline)
        if not is_ok(answer):
            raise _refused(answer, "login_refused", log_in.secret)

    async def _authenticate(self, log_in: LogIn, deadline: float) -> bytes:
        # https://developers.google.com/workspace/gmail/imap/xoauth2-protocol; Microsoft's is equal.
        tag = self._send(b"AUTHENTICATE XOAUTH2")
        text = f"user={log_in.username}\x01auth=Bearer {log_in.secret}\x01\x01"
        # The second time the server says why it refuses, and waits for an empty line.
        for line in (base64.b64encode(text.encode()), b""):
            answer = await self._read_until((b"+", tag), deadline)
            if answer.startswith(tag):
                return answer
            self._streams.writer.write(line + b"\r\n")
        return await self._read_until((tag,), deadline)

    async def select(self, folder: str, deadline: float) -> None:
        """Open a folder to change it. Raises MailFailed."""
        await self._open(b"SELECT", folder, deadline)

    async def examine(self, folder: str, deadline: float) -> Folder:
        """Open a folder to read it, which changes nothing in it. Raises MailFailed."""
        lines = await self._open(b"EXAMINE", folder, deadline)
        uid_validity = number_of(b"UIDVALIDITY", lines)
        if uid_validity is None:
            raise MailFailed(
                "unexpected_answer", "The server does not say how it numbers messages."
            )
        _, capabilities = await self._command(b"CAPABILITY", deadline)
        self.has_idle = any(b"IDLE" in line.text.upper().split() for line in capabilities)
        return Folder(uid_validity, number_of(b"UIDNEXT", lines))

    async def list_after(self, uid: int, most: int, deadline: float) -> list[Listed]:
        """Messages with a higher UID, the lowest first; [] if there are none.

        most: how many numbers to look at; some may belong to no message. Raises MailFailed.
        """
        self.has_new = False  # what arrives from here on may be missing in the list
        if not self.count:
            return []
        newer = await self._list_uids(uid + 1, uid + most, deadline)
        if newer:
            return newer
        # `*` is the highest message, whose number may be below.
        found = await self._list(b"UID FETCH * (UID RFC822.SIZE)", deadline)
        if max((each.uid for each in found), default=0) <= uid + most:
            return []
        first = await self._find_after(uid, deadline)
        return await self._list_uids(first, first + most, deadline)

    async def list_range(self, first: int, last: int, deadline: float) -> list[Listed]:
        """Messages by their places in the folder, with some header fields. Raises MailFailed."""
        what = b"(UID RFC822.SIZE INTERNALDATE " + _FIELDS + b")"
        return await self._list(b"FETCH %d:%d " % (first, last) + what, deadline)

    async def fetch(
        self, uid: int, most_bytes: int, deadline: float, has_room: HasRoom
    ) -> bytes | None:
        """The first bytes of a message, None if it is gone.

        has_room: whether so many bytes more may be held. Raises MailFailed, NoRoom.
        """
        command = b"UID FETCH %d (UID BODY.PEEK[]<0.%d>)" % (uid, most_bytes)
        return await self._fetch(command, uid, most_bytes, deadline, has_room)

    async def fetch_header(self, uid: int, most_bytes: int, deadline: float) -> bytes | None:
        """The first bytes of a message's header, None if it is gone. Raises MailFailed."""
        command = b"UID FETCH %d (UID BODY.PEEK[HEADER]<0.%d>)" % (uid, most_bytes)
        return await self._fetch(command, uid, most_bytes, deadline, lambda _: True)

    async def wait(self, wait_s: float, answer_s: float) -> None:
        """Wait by IDLE until there are new messages, at most so long. Raises MailFailed."""
        if not self.has_new:
            await self._idle(wait_s, answer_s)

    async def refresh(self, deadline: float) -> None:
        """Let the server say what has changed. Raises MailFailed."""
        await self._command(b"NOOP", deadline)

    async def find(self, message_id: str, deadline: float) -> bytes | None:
        """The UID of the message with this Message-ID. Raises MailFailed."""
        await self._command(b"NOOP", deadline)
        search = b'UID SEARCH HEADER Message-ID "' + message_id.encode() + b'"'
        answer, lines = await self._command(search, deadline)
        if not is_ok(answer):
            raise MailFailed("unexpected_answer", quote(answer))
        found = [each.text.split()[2:] for each in lines if _is_search(each)]
        return next((uid for uids in found for uid in uids if uid.isdigit()), None)

    async def delete(self, uid: bytes, deadline: float) -> None:
        """Delete one message, and no other that is marked as deleted. Raises MailFailed."""
        await self._command(b"UID STORE " + uid + rb" +FLAGS.SILENT (\Deleted)", deadline)
        await self._command(b"UID EXPUNGE " + uid, deadline)

    async def _idle(self, wait_s: float, answer_s: float) -> None:
        loop = asyncio.get_running_loop()
        until, tag = loop.time() + wait_s, self._send(b"IDLE")
        answer = await self._read_until((b"+", tag), loop.time() + answer_s)
        if answer.startswith(tag):
            self.has_idle = False
            return
        for _ in range(MAX_RESPONSES):
            if self.has_new:
                break
            try:
                line = await read_line(self._streams.reader, until)
            except MailFailed as error:
                if error.code != "timed_out":
                    raise
                break
            self._notice(line)
        self._streams.writer.write(b"DONE\r\n")
        await self._read_until((tag,), loop.time() + answer_s)

    async def _open(self, name: bytes, folder: str, deadline: float) -> list[Response]:
        answer, lines = await self._with_literals(name, [encode_folder(folder)], deadline)
        if not is_ok(answer):
            raise _refused(answer, "folder_missing")
        return lines

    async def _list(self, command: bytes, deadline: float) -> list[Listed]:
        answer, lines = await self._command(command, deadline)
        if not is_ok(answer):
            raise _refused(answer, "unexpected_answer")
        return [listed for each in lines if (listed := read_listed(each))]

    async def _list_uids(self, first: int, last: int, deadline: float) -> list[Listed]:
        command = b"UID FETCH %d:%d (UID RFC822.SIZE INTERNALDATE)" % (first, last)
        found = await self._list(command, deadline)
        # A server may tell of new flags meanwhile, without a size.
        by_uid = {each.uid: each for each in sorted(found, key=lambda each: each.size_bytes)}
        return [by_uid[uid] for uid in sorted(by_uid) if first <= uid <= last]

    async def _find_after(self, uid: int, deadline: float) -> int:
        """The first UID after a gap, by halving: messages are in the order of their UIDs."""
        low, high, found = 1, self.count, uid + 1
        while low <= high:
            place = (low + high) // 2
            listed = await self._list(b"FETCH %d (UID)" % place, deadline)
            if listed and listed[0].uid > uid:
                found, high = listed[0].uid, place - 1
            else:
                low = place + 1
        return found

    async def _fetch(
        self, command: bytes, uid: int, most_bytes: int, deadline: float, has_room: HasRoom
    ) -> bytes | None:
        body, answer, tag = None, b"", self._send(command)
        async for response in self._responses(tag, deadline, most_bytes, has_room):
            answer = response.text
            body = read_body(response, uid) or body
        if not is_ok(answer):
            raise _refused(answer, "unexpected_answer")
        return body


def _refused(answer: bytes, otherwise: ProblemCode, *secrets: str) -> MailFailed:
    code = code_of(answer)
    if code in _FULL:
        return MailFailed("quota_full", quote(answer, *secrets))
    return MailFailed("not_reachable" if code in _LATER else otherwise, quote(answer, *secrets))


def _is_search(response: Response) -> bool:
    return response.text[:8].upper() == b"* SEARCH"
