"""`sealdesk upgrade`: brings an installation to this version."""
