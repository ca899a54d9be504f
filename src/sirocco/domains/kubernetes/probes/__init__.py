"""What the mutation engine asks of Kubernetes: names in documents, goals as instructions, places, operators."""
