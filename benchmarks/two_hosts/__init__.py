"""The service on two hosts with one PostgreSQL, a partition and its healing under traffic.

`python -m benchmarks.two_hosts` needs root, for network namespaces.
"""
