"""The statements of the check of the installation."""
