"""The page of who has what to do now: waiting tickets, people and teams."""
