"""django-helpdesk, for comparison: a project of its own with the settings that are best for it.

Its packages are in an environment of their own, so only `settings`, `urls` and `fill` run there.
"""
