"""Systems that write a text from a source; to add one: a module with a KIND, and a line here."""

SYSTEMS = {
    "lead": "metassay.generation.copied:LEAD",
    "longest_turn": "metassay.generation.copied:LONGEST_TURN",
    "chat": "metassay.generation.chat",
    "described_note": "metassay.generation.described_note",
    "seq2seq": "metassay.generation.decoding:SEQ2SEQ",
    "causal": "metassay.generation.decoding:CAUSAL",
}
