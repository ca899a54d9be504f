"""The controllers of a cluster as pure steps: each brings the actual state in line with what objects ask for.

Nothing here reads a clock: the caller passes the time, and whatever must wait is put on the list of due things. Every
write goes through the store, so a step ends when nothing changes any more.
"""
