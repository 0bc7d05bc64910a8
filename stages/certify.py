"""certify: evidence -> certificates: which metric to trust for which decision, in words."""

from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.sentences import certificates
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.evidence import EVIDENCE
from stages.doorway import StageIO, enter


def main(io: StageIO) -> None:
    """Give the verdict on each metric of one benchmark; no number is computed again."""
    options = io.options(CertificationOptions, "certification")
    io.write(CERTIFICATES, certificates(io.read(EVIDENCE), options))


if __name__ == "__main__":
    enter(main)
