/* A dialog that confirms a change, sends it once, and shows why it was rejected. */

import { Refused, setKey, Unreachable } from "./api.js";
import { el } from "./dom.js";
import { sentence } from "./format.js";

let fields = 0;

/** A labelled control with a hint: field("Slots", el("input", {type: "number"}), "Number of …"). */
export function field(label, control, hint = null) {
  const id = `field-${(fields += 1)}`;
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return el("div", { class: control.type === "checkbox" ? "field tick" : "field" }, el("label", { for: id }, label), control, hint ? el("small", { id: `${id}-hint` }, hint) : null);
}

/** A drop-down list: select({never: "Never"}, "never"). */
export function select(options, chosen) {
  return el(
    "select",
    null,
    Object.entries(options).map(([value, text]) => el("option", { value, selected: value === chosen }, text)),
  );
}

/**
 * Ask for confirmation, then call `act()`. Resolves to its result, or to null if the viewer cancels.
 *
 * If a change is rejected, the dialog keeps the input and shows the reason. `check()` may return an error message before
 * anything is sent.
 */
export function confirm({ title, words = [], fields = [], verb, grave = false, after = null, act, check = () => null }) {
  return new Promise((resolve) => {
    const before = document.activeElement;
    let answer = null;
    let key = null;
    const problem = el("p", { class: "problem", role: "alert" });
    const keyField = el("div", null);
    const submit = el("button", { type: "submit", class: grave ? "grave" : null }, verb);
    const say = (text) => problem.replaceChildren(text);
    const refused = (why) => {
      if (why instanceof Refused && why.status === 401) {
        say(why.key !== null ? "This API key is wrong." : "This needs the API key.");
        key = el("input", { type: "password", autocomplete: "current-password" });
        keyField.replaceChildren(field("API key", key, "It is stored in this tab until you close it."));
        key.focus();
      } else if (why instanceof Refused && why.status === 412) {
        say("Somebody else changed this placement in the meantime, so nothing was saved. Close this dialog, check the changes, and try again.");
        submit.disabled = true;
        return;
      } else if (why instanceof Unreachable) {
        say("The service does not respond. The change may not be saved; try again later.");
      } else {
        say(sentence(why.message));
      }
      submit.disabled = false;
    };
    const form = el(
      "form",
      {
        onsubmit: async (event) => {
          event.preventDefault();
          if (submit.disabled) return;
          say("");
          const wrong = check();
          if (wrong) return say(wrong);
          if (key?.value) setKey(key.value.trim());
          submit.disabled = true;
          try {
            answer = await act();
            // a request of the page may have been rejected in the meantime
            if (key?.value) dispatchEvent(new Event("slotwise-key"));
            dialog.close();
          } catch (why) {
            refused(why);
          }
        },
      },
      el("h2", null, title),
      words.map((text) => el("p", null, text)),
      fields,
      keyField,
      problem,
      el(
        "div",
        { class: "verbs" },
        submit,
        el("button", { type: "button", onclick: () => dialog.close() }, "Cancel"),
      ),
      after,
    );
    const dialog = el("dialog", { class: "ask", "aria-label": title }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      // the page may have been drawn again in the meantime
      const key = before?.dataset.key;
      (before?.isConnected ? before : [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key))?.focus();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
