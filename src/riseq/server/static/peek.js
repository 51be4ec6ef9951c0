// On a narrow page the answer lies below the question: while it is out of sight, it peeks in at the foot of the screen.
import { byId } from "./dom.js";

const peek = byId("peek");
let inSight = true;

/** Watch whether the answer can be seen. */
export function startPeek() {
  const hero = byId("hero");
  const onSight = (entries) => {
    inSight = entries.at(-1).isIntersecting;
    draw();
  };
  // The margin counts an answer above the screen as seen, also after a jump past it.
  new IntersectionObserver(onSight, { rootMargin: "100000px 0px 0px" }).observe(hero);
  peek.addEventListener("click", () => hero.scrollIntoView({ block: "center" }));
}

/** Let `text` peek in; an empty one does not. */
export function showPeek(text) {
  peek.textContent = text;
  draw();
}

function draw() {
  peek.hidden = inSight || !peek.textContent;
}
