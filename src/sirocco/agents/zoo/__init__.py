"""Model agents, honest ones and ones that game their evaluation, by which an evaluation is itself measured."""
