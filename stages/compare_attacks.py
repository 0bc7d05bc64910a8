"""compare_attacks: verdicts on attacked and plain claims -> what each attack gains by judge."""

from metassay.core.options import parse
from metassay.labelled.attack_gains import attack_cards
from metassay.labelled.attacks import AttackOptions
from metassay.tables.judge_tests import ATTACK_GAINS, GOLD, VERDICTS
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    where = f"{io.entry.params_file} > options"
    options = parse(AttackOptions, io.param("options"), where=where)
    seed = io.shared("meta_evaluation.seed")
    cards = attack_cards(io.read(GOLD), io.read(VERDICTS), options, seed=seed)
    io.note(cards.notes)
    io.write(ATTACK_GAINS, cards.gains)
