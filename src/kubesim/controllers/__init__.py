"""The controllers of a cluster as pure steps: each brings what is there in line with what objects ask for.

Nothing here reads a clock: the caller says what time it is, and what must wait is put on the list of things that are
due. Every write goes through the store, so a step ends when nothing changes any more.
"""
