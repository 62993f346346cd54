"""LogicBench: one file on the hub for each rule of inference and kind of question."""

REPO, REVISION = "cogint/LogicBench-v1.0", "39b417f30d04870f87bde3c756000b813c27e872"
RULES = {
    "propositional_logic": (
        *("bidirectional_dilemma", "commutation", "constructive_dilemma", "destructive_dilemma"),
        *("disjunctive_syllogism", "hypothetical_syllogism", "material_implication", "modus_tollens"),
    ),
    "first_order_logic": (
        *("bidirectional_dilemma", "constructive_dilemma", "destructive_dilemma", "disjunctive_syllogism"),
        *("existential_generalization", "hypothetical_syllogism", "modus_ponens", "modus_tollens"),
        "universal_instantiation",
    ),
    "nm_logic": (
        *("default_reasoning_default", "default_reasoning_irr", "default_reasoning_open"),
        *("default_reasoning_several", "reasoning_about_exceptions_1", "reasoning_about_exceptions_2"),
        *("reasoning_about_exceptions_3", "reasoning_about_priority"),
    ),
}


def files_of(kind: str) -> tuple[str, ...]:
    """The files of one kind of question (BQA, MCQA), one for each rule."""
    return tuple(
        f"data/LogicBench(Eval)/{kind}/{logic}/{rule}/data_instances.json"
        for logic, rules in RULES.items()
        for rule in rules
    )
