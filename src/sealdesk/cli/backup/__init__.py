"""The commands `sealdesk backup` and `sealdesk restore`."""
