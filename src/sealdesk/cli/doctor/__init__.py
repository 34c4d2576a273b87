"""`sealdesk doctor`: checks of the installation, its database and its proxies."""
