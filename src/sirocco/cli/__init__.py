"""The command line: one file a command, each parses, calls one function, renders, exits."""
