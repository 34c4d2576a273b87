"""The routes of the pages of tickets, as rows of the table in `table.py`."""

from sealdesk.identity.auth.session_guard import FileGuard, SessionGuard
from sealdesk.identity.types import ADMINISTRATORS, ROLES
from sealdesk.reports import pages as reports
from sealdesk.team_now import pages as team_now
from sealdesk.teams import pages as teams
from sealdesk.tickets.attachments import pages as attachments
from sealdesk.tickets.attachments.rules import MAX_ATTACHMENT_BYTES
from sealdesk.tickets.editing import pages as editing
from sealdesk.tickets.followers import pages as followers
from sealdesk.tickets.held_replies import pages as held_replies
from sealdesk.tickets.hours import pages as hours
from sealdesk.tickets.links import pages as links
from sealdesk.tickets.live import pages as live
from sealdesk.tickets.macros import pages as macros
from sealdesk.tickets.merging import pages as merging
from sealdesk.tickets.notifications import pages as notifications
from sealdesk.tickets.pages import (
    bulk,
    bulk_macro,
    export,
    field,
    inbox,
    macro,
    neighbours,
    new_ticket,
    people,
    presence,
    preview,
    reply,
    ticket,
    unread,
)
from sealdesk.tickets.tags import pages as tags
from sealdesk.tickets.views import pages as views
from sealdesk.web.operation import Route
from sealdesk.web.request import MAX_BODY_BYTES

# Every user of the tenant may read and write its tickets.
_USER_PAGE, _USER_FILE = SessionGuard(ROLES), FileGuard(ROLES)
_ADMIN_PAGE = SessionGuard(ADMINISTRATORS)
# For bodies with long text, as in the table.
_LONG = MAX_BODY_BYTES

TICKET_PAGES: tuple[Route, ...] = (
    # The inbox.
    Route("GET", "/tickets", _USER_PAGE, inbox.inbox),
    Route("GET", "/tickets/arrived", _USER_PAGE, inbox.changed_tickets),
    Route("GET", "/tickets/next", _USER_PAGE, neighbours.go_to_next),
    Route("GET", "/tickets/previous", _USER_PAGE, neighbours.go_to_previous),
    Route("GET", "/tickets/tags", _USER_PAGE, tags.suggest_tags),
    Route("GET", "/tickets/people", _USER_PAGE, people.find_people),
    Route("POST", "/tickets/bulk", _USER_PAGE, bulk.change_tickets),
    Route("POST", "/tickets/bulk/macro", _USER_PAGE, bulk_macro.use_macro),
    Route("POST", "/tickets/preview", _USER_PAGE, preview.show_preview, _LONG),
    Route("GET", "/tickets/new", _USER_PAGE, new_ticket.show_form),
    Route("POST", "/tickets/new", _USER_PAGE, new_ticket.open_ticket, _LONG),
    # All of a list at once is for administrators, as the audit log is (decision 0057).
    Route("GET", "/tickets/export", _ADMIN_PAGE, export.ask_export),
    Route("GET", "/tickets/export/file", _ADMIN_PAGE, export.export_tickets),
    # Saved views of the inbox.
    Route("GET", "/tickets/views", _USER_PAGE, views.list_views),
    Route("POST", "/tickets/views", _USER_PAGE, views.save_view),
    Route("GET", "/tickets/views/new", _USER_PAGE, views.new_view),
    Route("GET", "/tickets/views/counts", _USER_PAGE, views.show_counts),
    Route("POST", "/tickets/views/{id}", _USER_PAGE, views.change_view),
    Route("POST", "/tickets/views/{id}/move", _USER_PAGE, views.move_view),
    Route("POST", "/tickets/views/{id}/delete", _USER_PAGE, views.delete_view),
    # News for open pages, and notifications.
    Route("GET", "/live", _USER_PAGE, live.stream_events),
    Route("GET", "/team-now", _USER_PAGE, team_now.show_team_now),
    Route("GET", "/team-now/file", _USER_PAGE, team_now.download_team_now),
    Route("POST", "/team-now/away", _USER_PAGE, team_now.set_away),
    Route("POST", "/team-now/here", _USER_PAGE, team_now.note_input),
    Route("GET", "/team-now/people/{user_id}", _USER_PAGE, team_now.show_person),
    Route("POST", "/team-now/people/{user_id}", _USER_PAGE, team_now.hand_over),
    Route("GET", "/reports", _ADMIN_PAGE, reports.show_report),
    Route("GET", "/reports/file", _ADMIN_PAGE, reports.download_report),
    Route("GET", "/reports/tickets", _ADMIN_PAGE, reports.list_tickets),
    Route("GET", "/notifications", _USER_PAGE, notifications.list_notifications),
    Route("GET", "/notifications/bell", _USER_PAGE, notifications.show_bell),
    Route("POST", "/notifications/read", _USER_PAGE, notifications.mark_all_read),
    Route("POST", "/notifications/{id}/open", _USER_PAGE, notifications.open_notification),
    # One ticket.
    Route("GET", "/tickets/{id}", _USER_PAGE, ticket.show_ticket, takes_numbers=True),
    Route("POST", "/tickets/{id}", _USER_PAGE, ticket.change_ticket),
    Route("GET", "/tickets/{id}/reply", _USER_PAGE, ticket.show_ticket),
    Route("POST", "/tickets/{id}/reply", _USER_PAGE, reply.reply, _LONG),
    Route("POST", "/tickets/{id}/held/{held_id}", _USER_PAGE, held_replies.take_back),
    Route("POST", "/tickets/{id}/fields", _USER_PAGE, field.save_field),
    Route("GET", "/tickets/{id}/answering", _USER_PAGE, presence.show_presence),
    Route("POST", "/tickets/{id}/answering", _USER_PAGE, presence.show_presence),
    Route("GET", "/tickets/{id}/merge", _USER_PAGE, merging.show_merge),
    Route("POST", "/tickets/{id}/merge", _USER_PAGE, merging.merge),
    Route("POST", "/tickets/{id}/unmerge", _USER_PAGE, merging.undo),
    Route("GET", "/tickets/{id}/split", _USER_PAGE, merging.show_split),
    Route("POST", "/tickets/{id}/split", _USER_PAGE, merging.split),
    Route("POST", "/tickets/{id}/macro", _USER_PAGE, macro.use_macro, _LONG),
    Route("GET", "/tickets/{id}/macro/{macro_id}", _USER_PAGE, macros.preview),
    Route("POST", "/tickets/{id}/unread", _USER_PAGE, unread.mark_unread),
    Route("POST", "/tickets/{id}/follow", _USER_PAGE, followers.follow),
    Route("GET", "/tickets/{id}/notes/{note_id}", _USER_PAGE, editing.show_note),
    Route("POST", "/tickets/{id}/notes/{note_id}", _USER_PAGE, editing.edit_note, _LONG),
    Route("GET", "/tickets/{id}/links", _USER_PAGE, links.show_links),
    Route("POST", "/tickets/{id}/links", _USER_PAGE, links.add_link),
    Route("GET", "/tickets/{id}/links/suggestions", _USER_PAGE, links.suggest_tickets),
    Route("POST", "/tickets/{id}/links/{other_id}/remove", _USER_PAGE, links.remove_link),
    Route("GET", "/tickets/{id}/history", _USER_PAGE, ticket.show_history),
    # Settings → Business hours.
    Route("GET", "/settings/business-hours", _ADMIN_PAGE, hours.show_hours),
    Route("POST", "/settings/business-hours", _ADMIN_PAGE, hours.set_hours),
    # Settings → Replies.
    Route("GET", "/settings/replies", _ADMIN_PAGE, held_replies.show_setting),
    Route("POST", "/settings/replies", _ADMIN_PAGE, held_replies.change_setting),
    # Settings → Tags.
    Route("GET", "/settings/tags", _ADMIN_PAGE, tags.list_tags),
    Route("GET", "/settings/tags/progress", _ADMIN_PAGE, tags.show_progress),
    Route("GET", "/settings/tags/rename", _ADMIN_PAGE, tags.ask_name),
    Route("POST", "/settings/tags/rename", _ADMIN_PAGE, tags.rename_tag),
    # Files.
    Route("POST", "/attachments", _USER_FILE, attachments.upload, MAX_ATTACHMENT_BYTES),
    Route("GET", "/attachments/{id}/content", _USER_PAGE, attachments.show_content),
    # Settings → Teams.
    Route("GET", "/settings/teams", _ADMIN_PAGE, teams.list_teams),
    Route("GET", "/settings/teams/new", _ADMIN_PAGE, teams.new_team),
    Route("POST", "/settings/teams/new", _ADMIN_PAGE, teams.create_team),
    Route("GET", "/settings/teams/{id}", _ADMIN_PAGE, teams.show_team),
    Route("POST", "/settings/teams/{id}", _ADMIN_PAGE, teams.change_team),
    Route("POST", "/settings/teams/{id}/members", _ADMIN_PAGE, teams.add_member),
    Route("POST", "/settings/teams/{id}/members/{user_id}", _ADMIN_PAGE, teams.change_member),
    Route(
        "POST", "/settings/teams/{id}/members/{user_id}/remove", _ADMIN_PAGE, teams.remove_member
    ),
    Route("GET", "/settings/teams/{id}/delete", _ADMIN_PAGE, teams.confirm_deletion),
    Route("POST", "/settings/teams/{id}/delete", _ADMIN_PAGE, teams.delete_team),
)
