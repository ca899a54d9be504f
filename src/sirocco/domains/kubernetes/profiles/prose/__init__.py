"""The closed grammar of prose: the recurring forms in which scenarios express conditions in words.

Each form is one rule with a name, an example and a reading into predicates. A text is read only when a rule matches the
whole of it and every name in it resolves to one declared object; anything else is not recognized, never guessed
(docs/decisions/0006).
"""
