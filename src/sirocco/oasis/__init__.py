"""The nouns of the OASIS standard and the ports to the world: frozen values and Protocols, no I/O of any kind."""
