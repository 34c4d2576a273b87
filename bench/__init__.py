"""The benchmark: the service over HTTP compared with other servers, as ratios of one run.

plan: how much is measured. databases: what is measured on. servers: the processes that are
measured. peers: what they are compared with. load: the requests. figures: what is measured, and
the report.
"""
