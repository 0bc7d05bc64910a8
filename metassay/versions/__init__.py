"""code.yaml: the version of the code behind every stage and every named block."""
