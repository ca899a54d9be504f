"""The generator whose texts a language model writes around what the engine asks for."""
