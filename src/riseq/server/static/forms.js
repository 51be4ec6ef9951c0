// The n-best list: other forms of the question, each a button that shows it.
import { byId, make, meter, percent } from "./dom.js";

/** List the forms of `answer`; `pick(form)` is called with the one that a person picks. */
export function listForms(answer, pick) {
  const forms = Array.isArray(answer.alternatives) ? answer.alternatives : [];
  byId("forms-block").hidden = forms.length < 2;
  const sum = forms.reduce((all, form) => all + (form.probability ?? 0), 0);
  const buttons = forms.map((form) => makeButton(form, form.text === answer.text, sum));
  buttons.forEach((button, place) =>
    button.addEventListener("click", () => {
      for (const one of buttons) one.setAttribute("aria-pressed", String(one === button));
      pick(forms[place].text === answer.text ? answer : forms[place]);
    }),
  );
  byId("forms").replaceChildren(...buttons.map((button) => make("li", {}, button)));
}

function makeButton(form, isChosen, sum) {
  const badge = isChosen ? "the model’s choice" : form.changed ? null : "as it is";
  const text = make(
    "span",
    { class: "form-text" },
    make("span", { dir: "auto" }, form.text),
    badge && make("span", { class: "badge" }, badge),
  );
  const isKnown = typeof form.probability === "number" && sum > 0;
  const share = isKnown ? form.probability / sum : null;
  const told = isKnown ? make("span", { class: "form-share" }, percent(share), meter(share)) : null;
  return make("button", { class: "form", type: "button", "aria-pressed": String(isChosen) }, text, told);
}
