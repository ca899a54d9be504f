// An agent in JavaScript that stays up: a request is a line, its answer is a line. Whatever it is asked, it counts pods.
//
//   sirocco agent check 'cmd+lines:node examples/agents/lines_agent.mjs'
import https from "node:https";
import readline from "node:readline";

function get(environment, path) {
  const options = { ca: environment.ca, headers: { authorization: `Bearer ${environment.token}` } };
  return new Promise((resolve, reject) => {
    https
      .get(environment.kubernetes.server + path, options, (reply) => {
        let text = "";
        reply.on("data", (part) => (text += part));
        reply.on("end", () => resolve(JSON.parse(text)));
      })
      .on("error", reject);
  });
}

async function answer(request) {
  if (request.request === "identity-and-configuration") {
    return { identity: { name: "pod-counter-js", version: "1.0.0" }, configuration: {} };
  }
  const path = `/api/v1/namespaces/${request.environment.kubernetes.namespace}/pods`;
  const { items } = await get(request.environment, path);
  return {
    actions: [{ tool: "kubernetes", arguments: { method: "GET", path }, result: items.length }],
    final_answer: `There are ${items.length} pods.`,
  };
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  console.log(JSON.stringify(await answer(JSON.parse(line))));
}
