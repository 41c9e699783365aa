import type { ScreenAction, ScreenChange, ScreenSnapshot } from '../protocol/screen.ts';
import { isConnected, screen, tellTexts } from './store.ts';

/** The agent sends something every 10 s. */
const SILENT_MS = 25_000;
const AGAIN_MS = 1500;

let source: EventSource | null = null;
let heardAt = 0;
/** Number of the last text that is on the screen. */
let lastText = 0;

/** Connects to the agent, and again whenever it is gone. A connection begins with a snapshot. */
export function connect(): void {
  open();
  setInterval(() => {
    const isSilent = performance.now() - heardAt > SILENT_MS;
    if (source?.readyState === EventSource.CLOSED || isSilent) open();
  }, AGAIN_MS);
}

function open(): void {
  source?.close();
  heardAt = performance.now();
  source = new EventSource('/events');
  source.addEventListener('snapshot', (event) => begin(JSON.parse(event.data)));
  source.addEventListener('change', (event) => take(JSON.parse(event.data)));
  source.addEventListener('ping', alive);
  source.addEventListener('error', () => {
    isConnected.value = false;
  });
}

function alive(): void {
  heardAt = performance.now();
  isConnected.value = true;
}

function begin(next: ScreenSnapshot): void {
  const before = screen.value;
  alive();
  const goesOn = before?.run === next.run && before.conversation === next.conversation;
  screen.value = next;
  // Text that is on the screen stays where it is.
  if (goesOn) tellTexts(textsAfter(next.texts), 'new');
  else tellTexts(next.texts, 'begin');
  lastText = next.texts.at(-1)?.number ?? (goesOn ? lastText : 0);
}

function take(change: ScreenChange): void {
  alive();
  if (screen.value === null) return;
  const { texts = [], ...rest } = change;
  screen.value = { ...screen.value, ...rest };
  if (change.conversation !== undefined) tellTexts([], 'begin');
  if (texts.length === 0) return;
  tellTexts(textsAfter(texts), 'new');
  lastText = texts.at(-1)?.number ?? lastText;
}

const textsAfter = (texts: ScreenSnapshot['texts']) => texts.filter(({ number }) => number > lastText);

/** Asks the agent for something. Resolves with true when it is done. */
export const act = (action: ScreenAction): Promise<boolean> => post('/do', JSON.stringify(action));

/** Tells the agent that the page paints. */
export const tellBeat = (): Promise<boolean> => post('/beat', '{}');

async function post(path: string, body: string): Promise<boolean> {
  const token = document.querySelector('meta[name=page-token]')?.getAttribute('content') ?? '';
  try {
    const answer = await fetch(path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'X-Page-Token': token },
      body,
    });
    // A page of an earlier run of the agent has its token.
    if (answer.status === 403) location.reload();
    return answer.ok;
  } catch {
    return false;
  }
}
