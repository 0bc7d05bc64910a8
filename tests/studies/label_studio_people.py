"""People who answer in Label Studio: its own package makes their annotations."""

import json
import random

from label_studio_sdk.label_interface import LabelInterface

from metassay.studies import label_studio
from metassay.studies.export import write


def projects(study, folder):
    """Each rater's tasks and config, as they were written."""
    write(study, label_studio.KIND, folder)
    return {
        rater: (
            json.loads((folder / f"sheets/{rater}.json").read_text("utf-8")),
            LabelInterface((folder / f"sheets/{rater}.xml").read_text("utf-8")),
        )
        for rater in study.key.assignments
    }


def answered(question, chance):
    """What a rater says: the words of a choice or a number as text; "" for nothing."""
    if chance.random() < 0.2:
        return ""
    if question.kind == "choice":
        return chance.choice(question.choices).word
    if question.whole:
        return str(chance.randint(int(question.low), int(question.high)))
    return str(round(chance.uniform(question.low, question.high), 3))


def answers(study, seed=7):
    """Answers and a comment for each rater and row: {(rater, row): ({column: answer}, comment)}."""
    chance, by_row = random.Random(seed), {}
    for sheet in study.sheets():
        for row in (row for item in sheet.items for row in item.rows):
            of_row = {
                question.column: answered(question, chance)
                for question in row.questions
            }
            comment = chance.choice(["", "", 'a <b>bold</b> & "odd" one\nof two lines'])
            by_row[sheet.rater, row.id] = (of_row, comment)
    return by_row


def exported(tasks, interface, by_row, user=1):
    """The export of a project whose tasks all were answered and submitted."""
    return [
        export_of(number, task, results(interface, task, *by_row[key(task)]), user)
        for number, task in enumerate(tasks, start=1)
    ]


def key(task):
    return task["data"]["rater"], task["data"]["row"]


def results(interface, task, of_row, comment=""):
    """Results of one annotation, made by Label Studio's package for the controls of its config."""
    named = {column: name for name, column in task["data"]["columns"].items()}
    values = {named[column]: answer for column, answer in of_row.items() if answer}
    for name, answer in values.items():
        if interface.get_control(name).tag == "Number":
            values[name] = float(answer) if "." in answer else int(answer)
    if comment:
        values["comment"] = [comment]
    return [json.loads(region.to_json()) for region in interface.create_regions(values)]


def export_of(number, task, result, user=1, **changes):
    """One task as the format JSON has it, with one submitted annotation."""
    annotation = {
        "id": 100 + number,
        "completed_by": user,
        "result": result,
        "was_cancelled": False,
        "ground_truth": False,
        "created_at": "2026-11-20T10:00:00.000000Z",
        "lead_time": 9.5,
        "prediction": {},
        "result_count": len(result),
        "task": number,
        "project": 3,
    }
    return {
        "id": number,
        "annotations": [annotation | changes],
        "file_upload": "x.json",
        "drafts": [],
        "predictions": [],
        "data": task["data"],
        "meta": {},
        "project": 3,
        "inner_id": number,
        "total_annotations": 1,
        "cancelled_annotations": 0,
    }
