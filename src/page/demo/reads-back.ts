/**
 * The part of the demo's visitor that only a page can do: looks back at the conversation when nothing more is said. A person
 * who uses the page is left alone. The demo appends this script to that of the page.
 */

/** Time without new text before the visitor looks back (ms): the translation of the last sentence is still being spoken. */
const LOOKS_AFTER_MS = 6000;
/** Duration of the look back (ms). */
const SCROLL_MS = 3000;
/** How long the visitor leaves the page to a person (ms). */
const STAYS_AWAY_MS = 60_000;
/** Interval of the reports that a person reads (ms). */
const REPORT_EACH_MS = 5000;
/** The lane of the demo. */
const LANE = 'main';

let textAt = performance.now();
let personAt = Number.NEGATIVE_INFINITY;
let reportedAt = Number.NEGATIVE_INFINITY;
let hasLooked = false;

const isPersonHere = (): boolean => performance.now() - personAt < STAYS_AWAY_MS;

function lookBack(): void {
  const box = document.querySelector('.panel.target .captions');
  if (box === null || document.querySelector('dialog') !== null) return;
  hasLooked = true;
  const [from, begunAt] = [box.scrollTop, performance.now()];
  const step = (): void => {
    if (isPersonHere() || !hasLooked) return;
    const share = Math.min(1, (performance.now() - begunAt) / SCROLL_MS);
    box.scrollTop = from * (1 - share);
    if (share < 1) requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}

/** A person who reads presses nothing, so the demo would not know of them. */
function reportReader(): void {
  const now = performance.now();
  if (now - reportedAt < REPORT_EACH_MS || document.querySelector('.looking-back') === null) return;
  reportedAt = now;
  const token = document.querySelector('meta[name=page-token]')?.getAttribute('content') ?? '';
  const headers = { 'Content-Type': 'application/json', 'X-Page-Token': token };
  fetch('/do', { method: 'POST', headers, body: JSON.stringify({ do: 'touch', lane: LANE }) }).catch(
    () => {},
  );
}

new MutationObserver((changes) => {
  const isText = changes.some(({ target }) => target instanceof Element && target.closest('.captions'));
  if (!isText) return;
  textAt = performance.now();
  hasLooked = false;
}).observe(document.body, { childList: true, subtree: true });

for (const kind of ['pointerdown', 'keydown', 'wheel']) {
  const note = ({ isTrusted }: Event): void => {
    if (isTrusted) personAt = performance.now();
  };
  document.addEventListener(kind, note, { capture: true, passive: true });
}
// After the page has taken note of the scroll.
document.addEventListener('scroll', () => isPersonHere() && setTimeout(reportReader), true);

setInterval(() => {
  if (!hasLooked && !isPersonHere() && performance.now() - textAt > LOOKS_AFTER_MS) lookBack();
}, 500);
