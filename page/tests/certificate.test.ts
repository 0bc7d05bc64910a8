import { expect, test } from "vitest";
import { SENTENCES } from "../src/certificate";
import { table } from "./data";

const rows = table({
  confound: ["words", null, null],
  given_confound: [0.25, null, null],
  given_confound_p: [0.03125, null, null],
  only_between_systems: [true, false, false],
  within_systems: [0.125, 0.5, null],
  within_systems_p: [0.5, null, null],
  with_raters: [0.5, 0.75, null],
  rater: [0.75, 0.75, null],
  against_rater: [-0.25, 0, null],
  against_rater_low: [-0.5, -0.125, null],
  against_rater_high: [0.25, 0.25, null],
  as_good_as_rater: [false, true, false],
  advice: ["rate more systems", "use it", null],
  needed_systems: [8, null, null],
  needed_documents: [1, null, null],
});
const says = (title: string, row: number) => SENTENCES[title]!(rows, row);

test("a confound is named with what is left, and that none was found is said", () => {
  expect(says("Confounds", 0)).toEqual([
    "words: half or more of the correlation goes if it is held constant. .25 is left (p = .031).",
    "The system: of two texts of one system the metric says nothing. .12 is left (p = .500).",
  ]);
  const none = "None found: no other score of this study explains half of the correlation.";
  expect(says("Confounds", 1)).toEqual([none, "Among texts of one system the correlation is .50."]);
  expect(says("Confounds", 2)).toEqual([none]);
});

test("a rater stands beside the metric, where there are others", () => {
  const title = "A rater beside the metric";
  expect(says(title, 0)).toEqual([
    "With the other raters the metric correlates .50, and a rater .75: a difference of −.25 [−.50, .25].",
  ]);
  expect(says(title, 1).at(-1)).toBe("The metric agrees with raters as well as a rater does.");
  expect(says(title, 2)).toEqual(["Not compared: a rater is held against the others, and there is only one."]);
});

test("what would settle a verdict is advice and a size, and nothing where there is none", () => {
  const title = "What to do";
  expect(says(title, 0)).toEqual(["Rate more systems.", "About 8 systems and 1 document would settle it."]);
  expect([says(title, 1), says(title, 2)]).toEqual([["Use it."], []]);
});
