"""certify: evidence -> certificates: which metric to trust for which decision, in words."""

from metassay.meta_evaluation.options import CertificationOptions
from metassay.reporting.sentences import make_certificates
from metassay.tables.certificates import CERTIFICATES
from metassay.tables.evidence import EVIDENCE
from stages.doorway import StageIO, program


@program
def main(io: StageIO) -> None:
    options = io.options(CertificationOptions, "certification")
    io.write(CERTIFICATES, make_certificates(io.read(EVIDENCE), options))
