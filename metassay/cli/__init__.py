"""The command line: `metassay`, one module per group of commands."""
