"""A deterministic simulation of the service: workers, store, clocks, clients and network in one process.

Real are the worker with its event loop, its writer and reader, all SQL, and SQLite on files. Simulated are time, the
order in which threads run, the network, the clients, crashes and errors of the disk. Each is a choice of the seed.
"""
