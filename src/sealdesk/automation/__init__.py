"""Automation rules: what a desk does with tickets by itself; on pages they are "Rules"."""
