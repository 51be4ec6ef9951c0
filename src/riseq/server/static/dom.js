// Elements made from data. Text only ever goes in as text, so nothing a person or the server says can become markup.

export const byId = (id) => document.getElementById(id);

/** Return a new element with `attributes` and `children`, which are elements or strings. */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name === "on") for (const [event, listen] of Object.entries(value)) element.addEventListener(event, listen);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}

const SVG = "http://www.w3.org/2000/svg";

/** Return the icon `name` of the sprite. */
export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#icon-${name}`);
  svg.append(use);
  return svg;
}

/** Show the icon `name` in the button or label `element`, in place of the one it has. */
export function setIcon(element, name) {
  element.querySelector(".icon use").setAttribute("href", `#icon-${name}`);
}

/** Return a small bar that is filled to `share`, a number from 0 to 1. */
export function meter(share) {
  const bar = make("span", { class: "meter", "aria-hidden": "true" });
  bar.style.setProperty("--share", `${Math.round(Math.min(1, Math.max(0, share)) * 100)}%`);
  return bar;
}

/** Return a probability as people write it; very small ones don't become 0%, and large ones not 100%. */
export function percent(value) {
  if (value > 0 && value < 0.01) return "< 1%";
  if (value > 0.99 && value < 1) return "> 99%";
  return `${Math.round(value * 100)}%`;
}

/** Make `area` as high as its text where the browser cannot do it by itself. */
export function fitHeight(area) {
  if (CSS.supports("field-sizing", "content")) return;
  area.style.height = "auto";
  area.style.height = `${area.scrollHeight}px`;
}

/** Copy `text` and return whether that worked; plain http pages have no clipboard interface. */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = make("textarea", { class: "hidden", readonly: true, "aria-hidden": "true" });
    area.value = text;
    const before = document.activeElement;
    document.body.append(area);
    area.select();
    const copied = document.execCommand("copy");
    area.remove();
    before?.focus?.();
    return copied;
  }
}
