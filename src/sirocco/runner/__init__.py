"""Orders the phases of an evaluation and runs single scenarios; knows ports, never concrete agents or providers."""
