"""certify: evidence -> certificates: which metric to trust for which decision, in words."""

from metassay.core.options import parse
from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.sentences import certificates
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.evidence import EVIDENCE
from stages.doorway import Given, enter


def main(given: Given) -> None:
    """Give the verdict on each metric of one benchmark; no number is computed again."""
    where = "params.yaml > certification"
    options = parse(CertificationOptions, given.shared("certification"), where=where)
    given.write(CERTIFICATES, certificates(given.read(EVIDENCE), options))


if __name__ == "__main__":
    enter(main)
