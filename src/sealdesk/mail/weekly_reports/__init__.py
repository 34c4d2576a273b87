"""Weekly reports: saved reports that are sent by e-mail each Monday to those who asked for them."""
