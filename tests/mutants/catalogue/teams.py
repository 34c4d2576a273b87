"""Mutants of teams and round robin."""

from tests.mutants.mutant import Mutant

_TURNS = "tests/tickets/teams/test_turns.py"
_ROUND = "tests/tickets/teams/test_round_robin.py"
_TEAMS = "tests/tickets/teams/test_teams.py"
_PAGES = "tests/tickets/teams/test_pages.py"
_TICKETS = "tests/tickets/teams/test_team_of_tickets.py"
_PLANS = "tests/tickets/teams/test_team_plans.py"

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        "round robin gives one ticket more than the capacity",
        "tickets/teams/rules.py",
        "        if given.open_count >= capacity:\n",
        "        if given.open_count > capacity:\n",
        (f"{_TURNS}::test_nobody_gets_more_than_the_capacity_and_room_is_used",),
    ),
    Mutant(
        "two processes count the open tickets of a member at once",
        "tickets/teams/assigning.py",
        '    if not await tx.try_lock("round robin", tenant_id):\n',
        '    if not await tx.try_lock(f"round robin {team_id}", tenant_id):\n',
        (f"{_ROUND}::test_two_processes_do_not_give_a_member_more_than_the_capacity",),
    ),
    Mutant(
        "round robin counts the tickets of one team only",
        "tickets/teams/store.py",
        "AND t.status = 'open' AND t.assignee_id = m.user_id LIMIT",
        "AND t.status = 'open' AND t.assignee_id = m.user_id AND t.team_id = :team_id LIMIT",
        (f"{_ROUND}::test_open_tickets_of_other_teams_take_room",),
    ),
    Mutant(
        "absent members are given tickets",
        "tickets/teams/rules.py",
        "        if each.is_active and is_present(each, now_us) and",
        "        if each.is_active and",
        (
            f"{_TURNS}::test_a_full_absent_or_deactivated_member_is_given_none",
            f"{_ROUND}::test_absent_and_deactivated_members_get_nothing",
        ),
    ),
    Mutant(
        "of equals the same member gets every ticket",
        "tickets/teams/rules.py",
        "    return member.open_count, member.last_assigned_at or 0, member.user_id\n",
        "    return member.open_count, 0, member.user_id\n",
        (f"{_ROUND}::test_who_had_the_last_one_longest_ago_is_next",),
    ),
    Mutant(
        "round robin takes tickets from those who have them",
        "tickets/teams/store.py",
        " AND t.assignee_id IS NULL AND t.snoozed_until IS NULL\nORDER BY t.id LIMIT :limit\n",
        "\nORDER BY t.id LIMIT :limit\n",
        (f"{_PLANS}::test_waiting_tickets_are_found_without_reading_others",),
    ),
    Mutant(
        "a tenant that fails ends the round",
        "tickets/teams/assigning.py",
        "        except Exception:\n",
        "        except ValueError:\n",
        (f"{_ROUND}::test_a_failure_of_one_tenant_stops_no_other",),
    ),
    Mutant(
        "only the first teams of a tenant have turns",
        "tickets/teams/assigning.py",
        "        start = self._round * _TEAMS_AT_ONCE % len(teams) if",
        "        start = 0 if",
        (f"{_ROUND}::test_each_of_many_full_teams_has_its_turn",),
    ),
    Mutant(
        "presence is stored for each round",
        "tickets/teams/assigning.py",
        "            if at - self._stored_at.get((tenant_id, user), 0) >= SEEN_EVERY_US\n",
        "            if at - self._stored_at.get((tenant_id, user), 0) >= 0\n",
        (f"{_ROUND}::test_presence_is_stored_at_most_every_half_minute",),
    ),
    Mutant(
        "pages are not noted as presence",
        "identity/auth/session_guard.py",
        "        request.state.seen_users.note(user.tenant_id, user.id, request.now_us)\n",
        "",
        (f"{_ROUND}::test_a_page_that_is_asked_for_makes_its_user_present",),
    ),
    Mutant(
        "a ticket is given to a deleted team",
        "tickets/store/teams.py",
        "WHERE tenant_id = :tenant_id AND id = :id AND deleted_at IS NULL LIMIT 1",
        "WHERE tenant_id = :tenant_id AND id = :id LIMIT 1",
        (f"{_TEAMS}::test_a_foreign_deleted_or_unknown_team_is_refused",),
    ),
    Mutant(
        "a ticket is given to any team",
        "tickets/owners.py",
        "    if team_id is None or await teams.is_team(tx, tenant_id, team_id):\n",
        "    if team_id is None or await teams.is_team(tx, tenant_id, team_id) or team_id:\n",
        (
            f"{_TEAMS}::test_a_foreign_deleted_or_unknown_team_is_refused",
            f"{_TICKETS}::test_a_foreign_team_is_refused_beside_the_field",
        ),
    ),
    Mutant(
        "a split loses the team",
        "tickets/merging/actions.py",
        "        team_id=ticket.team_id if is_team else None,\n",
        "",
        (f"{_TEAMS}::test_a_merge_keeps_the_teams_and_a_split_takes_the_team_along",),
    ),
    Mutant(
        "names of teams differ by case only",
        "tickets/teams/rules.py",
        "name.strip().casefold()",
        "name.strip()",
        (f"{_TEAMS}::test_a_name_is_given_once_regardless_of_case",),
    ),
    Mutant(
        "reopening a ticket takes it from its team",
        "tickets/templates/ticket_forms.html",
        '  <input type="hidden" name="team_id" value="{{ view.ticket.team_id or "" }}">\n',
        "",
        (f"{_TICKETS}::test_reopening_a_closed_ticket_keeps_its_team",),
    ),
    Mutant(
        "the inbox of a team reads the tickets of all",
        "tickets/store/filters.py",
        '    TEAM_AND_CHANGE: ("team_id", "status", "updated_at"),\n',
        '    TEAM_AND_CHANGE: ("status", "updated_at"),\n',
        (f"{_PLANS}::test_the_inbox_of_a_team_is_read_in_its_order",),
    ),
    Mutant(
        "agents change teams",
        "routes/ticket_pages.py",
        "_ADMIN_PAGE = SessionGuard(ADMINISTRATORS)\n",
        "_ADMIN_PAGE = SessionGuard((*ADMINISTRATORS, *ROLES))\n",
        (f"{_PAGES}::test_agents_see_no_settings_of_teams",),
    ),
)
