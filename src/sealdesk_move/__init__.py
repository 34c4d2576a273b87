"""`sealdesk move`: moves an installation to another database, or one tenant to another one."""
