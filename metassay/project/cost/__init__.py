"""What the next run would ask of language models, before anything is sent: `metassay cost`."""
