"""What the exit code of every command says: one meaning each."""

DONE, FAILED, REFUSED, INCOMPLETE, WORSE, DRIFTED = range(6)
INTERRUPTED = 130  # as a shell says it of what Ctrl-C ended

MEANINGS = {
    DONE: "done",
    FAILED: "failed: what was to be made was not made; the output names it",
    REFUSED: "refused: the command, the configuration or the data must be corrected first",
    INCOMPLETE: "incomplete: answers, tables or checks are missing; the output names them",
    WORSE: "worse: a score is worse than what it is compared with, or than required",
    DRIFTED: "drifted: a watched judge answers differently, or its model is retired",
    INTERRUPTED: "interrupted: the next run goes on from there",
}
WORST_FIRST = (FAILED, WORSE, DRIFTED, INCOMPLETE, DONE)  # where several apply
