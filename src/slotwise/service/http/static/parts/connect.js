/* How to connect a page, until the first decision is requested. */

import { getKey } from "../api.js";
import { choices, el, swap } from "../dom.js";
import { ROOT } from "../root.js";

/** The chosen language, kept when the part is drawn again. */
const view = { language: "curl" };

export function of({ decisions, name, segments, slots }) {
  return [decisions.issued === 0, name, segments, slots];
}

export function draw({ decisions, name, segments }) {
  if (decisions.issued) return [];
  const examples = snippets({ address: location.origin + ROOT, name, context: context(segments), key: getKey() !== null });
  const body = el("div", null);
  const show = () =>
    swap(
      body,
      choices("Language", Object.fromEntries(Object.keys(examples).map((key) => [key, key])), view.language, (key) => ((view.language = key), show())),
      examples[view.language].map(({ text, code }) => [el("p", null, text), snippet(code)]).flat(),
    );
  show();
  return [
    el("h2", null, "Connect your page"),
    el("p", { class: "waiting-for", id: "first-decision", role: "status" }, "Waiting for the first decision. This page changes by itself when it arrives."),
    body,
    el("p", { class: "quiet small" }, getKey() === null ? "This service has no API key, so only programs on its own machine may send requests." : "The API key belongs on your server, never into a page."),
  ];
}

/** A context with the first value of every segment key. */
function context(segments) {
  const first = Object.entries(segments).map(([key, values]) => [key, values[0]]);
  return first.length ? Object.fromEntries(first) : null;
}

function snippet(code) {
  const copy = el("button", { type: "button", "data-key": "copy", onclick: async () => ((await navigator.clipboard?.writeText(code)), (copy.textContent = "Copied")) }, "Copy");
  return el("div", { class: "snippet" }, el("pre", { tabindex: "0" }, el("code", null, code)), navigator.clipboard ? copy : null);
}

/** Text as a word of a shell. */
const word = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function snippets({ address, name, context, key }) {
  const text = JSON.stringify(name);
  const json = JSON.stringify(context);
  const path = encodeURIComponent(name).replaceAll("'", "%27");
  const bearer = key ? ' \\\n  -H "Authorization: Bearer $SLOTWISE_SERVER_KEY"' : "";
  const fields = context ? { context } : {};
  return {
    curl: [
      { text: "Request a decision. Its items are the list to show, first slot first.", code: `curl -X POST ${word(`${address}/v1/placements/${path}/decisions`)}${bearer} \\\n  -H 'Content-Type: application/json' -d ${word(JSON.stringify(fields))}` },
      { text: "Report the click with the decision's token. A browser may do this: the token is for this decision only.", code: `curl -X POST ${word(`${address}/v1/outcomes`)} \\\n  -H 'Content-Type: application/json' -d '{"token": "TOKEN", "clicked": "ITEM"}'` },
    ],
    Python: [
      { text: "On your server, with pip install slotwise-client:", code: `${key ? "import os\n" : ""}from slotwise_client import Client\n\nclient = Client(${JSON.stringify(address)}${key ? ', key=os.environ["SLOTWISE_SERVER_KEY"]' : ""}, timeout=0.3)\ndecision = client.decide(${text}${context ? `, context=${json}` : ""})\nprint(decision.items)  # show these, first slot first\nclient.outcome(decision, clicked=decision.items[0])  # or let the browser report it` },
    ],
    Node: [
      { text: "On your server, with npm install slotwise-client:", code: `import { Client } from "slotwise-client";\n\nconst client = new Client(${JSON.stringify(address)}, {${key ? " key: process.env.SLOTWISE_SERVER_KEY," : ""} timeoutMs: 300 });\nconst decision = await client.decide(${text}${context ? `, { context: ${json} }` : ""});\nconsole.log(decision.items); // show these, first slot first\nawait client.outcome(decision, { clicked: decision.items[0] }); // or let the browser report it` },
    ],
    Browser: [
      { text: "Your server requests the decision and renders its items and token. The script reports clicks by itself.", code: `<ol id="list">\n  <li data-item="ITEM"><a href="/ITEM">ITEM</a></li>\n</ol>\n<script src="${address}/slotwise.js"></script>\n<script>slotwise.report(document.getElementById("list"), {token: "TOKEN"})</script>` },
    ],
  };
}
