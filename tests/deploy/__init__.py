"""The files of deploy/, run as they stand there but for addresses and certificates."""
