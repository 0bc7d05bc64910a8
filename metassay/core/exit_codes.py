"""The exit codes of all commands, with their meanings."""

DONE, FAILED, REFUSED, INCOMPLETE, WORSE, DRIFTED = range(6)
INTERRUPTED = 130  # as shells return after Ctrl-C
# Of a stage; EX_CONFIG of sysexits.h: running it again cannot help.
BAD_INPUT = 78

MEANINGS = {
    DONE: "done",
    FAILED: "failed: what was to be made was not made; the output names it",
    REFUSED: "refused: the command, the configuration or the data must be corrected first",
    INCOMPLETE: "incomplete: answers, tables or checks are missing; the output names them",
    WORSE: "worse: a score is worse than what it is compared with, or than required",
    DRIFTED: "drifted: a watched judge answers differently, or its model is retired",
    INTERRUPTED: "interrupted: the next run goes on from there",
}
WORST_FIRST = (FAILED, WORSE, DRIFTED, INCOMPLETE, DONE)  # if several apply
