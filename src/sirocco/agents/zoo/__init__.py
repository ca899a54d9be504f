"""Model agents, both honest ones and ones that game their evaluation, with which an evaluation is itself measured."""
