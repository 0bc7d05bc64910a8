"""Systems that write a text from a source; to add one: a module with a KIND, and a line here."""

SYSTEMS = {
    "lead": "metassay.generation.lead",
    "longest_turn": "metassay.generation.longest_turn",
    "chat": "metassay.generation.chat",
    "seq2seq": "metassay.generation.seq2seq",
    "causal": "metassay.generation.causal",
}
