"""The form with which customers open tickets, and the e-mail that confirms it."""
