"""What other tools wrote, read into tables of one's own, judges and people apart."""

# Named here, so that the command line is understood before their readers are imported.
TOOLS = (
    *("inspect", "lm-eval", "ragas", "deepeval", "promptfoo", "langfuse", "phoenix", "mlflow"),
    *("scout", "label-studio"),
)
