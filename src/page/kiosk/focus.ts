/**
 * A part of the page is about to be removed. If it has the focus, the focus goes to the element that had it before,
 * or else to the first button of the conversation: people who use a keyboard would start again at the top.
 */
export function passFocusOn(part: HTMLElement | null, before: Element | null = null): void {
  if (part === null || !part.contains(document.activeElement)) return;
  requestAnimationFrame(() => {
    const isFree = document.activeElement === null || document.activeElement === document.body;
    const first = document.querySelector('.bar button:not(:disabled)');
    const next = before?.isConnected === true && before !== document.body ? before : first;
    if (isFree && next instanceof HTMLElement) next.focus();
  });
}
