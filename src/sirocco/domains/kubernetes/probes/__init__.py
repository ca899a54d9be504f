"""What the mutation engine needs from Kubernetes: names in documents, goals as instructions, places, operators."""
