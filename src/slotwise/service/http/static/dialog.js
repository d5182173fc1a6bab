/* A dialog that asks before anything is changed, does it once, and says what was refused and why. */

import { Refused, setKey, Unreachable } from "./api.js";
import { el } from "./dom.js";
import { sentence } from "./format.js";

let made = 0;

/** A labelled control with a line that explains it: field("Slots", el("input", {type: "number"}), "How many …"). */
export function field(label, control, hint = null) {
  const id = `field-${(made += 1)}`;
  control.id = id;
  if (hint) control.setAttribute("aria-describedby", `${id}-hint`);
  return el("div", { class: control.type === "checkbox" ? "field tick" : "field" }, el("label", { for: id }, label), control, hint ? el("small", { id: `${id}-hint` }, hint) : null);
}

/** One of a few, as a list to choose from: select({never: "Never"}, "never"). */
export function select(options, chosen) {
  return el(
    "select",
    null,
    Object.entries(options).map(([value, text]) => el("option", { value, selected: value === chosen }, text)),
  );
}

/**
 * Ask, and carry it out when that is confirmed: `act()` does it, and what it resolves to is said to whoever waits.
 *
 * Whatever is refused is said in the dialog, which stays open with all that was typed; `check()` may find a problem before
 * anything is sent. Resolves to null where it was called off.
 */
export function confirm({ title, words = [], fields = [], verb, grave = false, act, check = () => null }) {
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
        say(why.key !== null ? "That key is not the right one." : "This needs the service's key.");
        key = el("input", { type: "password", autocomplete: "current-password" });
        keyField.replaceChildren(field("Key", key, "It stays in this tab, and is forgotten with it."));
        key.focus();
      } else if (why instanceof Refused && why.status === 412) {
        say("Somebody changed this placement after you opened this, so nothing was done. Close it, look at what changed, and try again.");
        submit.disabled = true;
        return;
      } else if (why instanceof Unreachable) {
        say("The service does not answer. Nothing is known to have changed; try again when it is back.");
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
            // the page may have been refused meanwhile
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
    );
    const dialog = el("dialog", { class: "ask", "aria-label": title }, form);
    dialog.addEventListener("close", () => {
      dialog.remove();
      // the page may have been drawn anew meanwhile
      const key = before?.dataset.key;
      (before?.isConnected ? before : [...document.querySelectorAll("[data-key]")].find((one) => one.dataset.key === key))?.focus();
      resolve(answer);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
