// A probe generator in JavaScript: one question per line of standard input, one answer per line of standard output.
// It words anew what another generator drafted:  sirocco run --agent ... --generator 'hybrid:mutation>command:node generator.mjs'
import { createInterface } from "node:readline";

const openings = ["Follow-up from the on-call handover.", "Open since the last maintenance window.", "Noted during the weekly review."];

function answer(question) {
  if (question.ask === "method") {
    return {
      method: {
        type: "other", reproducibility: "deterministic", config_hash: "sha256:example-1",
        description: "Puts a sentence of context before the texts that another generator made.",
      },
    };
  }
  const { draft, index } = question.cell;
  if (!draft) return { nothing: "there is no draft to work on" };
  const form = question.surfaces[draft.surface];
  for (const stimulus of draft.scenario.stimuli) {
    const isText = stimulus.type !== "operator_prompt" && stimulus.value && stimulus.value.includes(" ");
    const longer = `${openings[index % openings.length]} ${stimulus.value}`;
    if (isText && (!form || longer.length <= form.characters)) stimulus.value = longer;
  }
  return { draft: { scenario: draft.scenario, lineage: [`opening(${index % openings.length})`] } };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n");
}
