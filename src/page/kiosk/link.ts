import type { ScreenAction, ScreenChange, ScreenSnapshot } from '../../protocol/screen.ts';
import { SILENT_MS } from '../../protocol/screen-link.ts';
import { endsAt, isConnected, screen, tellTexts } from './store.ts';

/** Interval of the checks for a silent agent (ms). */
const LOOK_EACH_MS = 500;
const MOST_SILENT_LOOKS = SILENT_MS / LOOK_EACH_MS;
/** Number of texts kept for a panel that is laid out again, or shown again later. */
const KEPT_TEXTS = 2000;
/** Checks before a refused connection is retried; three take 1.5 s. */
const REFUSED_LOOKS = 3;

let source: EventSource | null = null;
/** Checks since the agent's last message. A browser that hung counts only one before it reads the messages that arrived. */
let silentLooks = 0;
/** Number of the last text that is on the screen. */
let lastText = 0;

/** Connects to the agent, and reconnects after each loss. A connection begins with a snapshot. */
export function connect(): void {
  open();
  setInterval(() => {
    silentLooks += 1;
    // A frozen agent does not close its connections.
    const isSilent = silentLooks > MOST_SILENT_LOOKS;
    if (isSilent) isConnected.value = false;
    const isRefused = source?.readyState === EventSource.CLOSED && silentLooks >= REFUSED_LOOKS;
    if (isSilent || isRefused) open();
  }, LOOK_EACH_MS);
}

function open(): void {
  source?.close();
  silentLooks = 0;
  source = new EventSource('/events');
  source.addEventListener('snapshot', (event) => begin(JSON.parse(event.data)));
  source.addEventListener('change', (event) => take(JSON.parse(event.data)));
  source.addEventListener('ping', alive);
  source.addEventListener('error', () => {
    isConnected.value = false;
  });
}

function alive(): void {
  silentLooks = 0;
  isConnected.value = true;
}

function begin(next: ScreenSnapshot): void {
  const before = screen.value;
  alive();
  const goesOn = before?.run === next.run && before.conversation === next.conversation;
  screen.value = next;
  noteEnd(next.endsInMs);
  // The text on the screen stays in place.
  if (goesOn) tellTexts(textsAfter(next.texts), 'new');
  else tellTexts(next.texts, 'begin');
  lastText = next.texts.at(-1)?.number ?? (goesOn ? lastText : 0);
}

function take(change: ScreenChange): void {
  alive();
  if (screen.value === null) return;
  const { texts = [], ...rest } = change;
  const isNew = change.conversation !== undefined;
  const added = textsAfter(texts);
  // A panel that is shown again later begins with these texts, so texts of an earlier conversation must be removed.
  const now = { ...screen.value, ...rest, ...(isNew && { texts: [] }) };
  screen.value = { ...now, texts: [...now.texts, ...added].slice(-KEPT_TEXTS) };
  if (change.endsInMs !== undefined) noteEnd(change.endsInMs);
  if (isNew) tellTexts([], 'begin');
  if (added.length === 0) return;
  tellTexts(added, 'new');
  lastText = added.at(-1)?.number ?? lastText;
}

function noteEnd(endsInMs: number | null): void {
  endsAt.value = endsInMs === null ? null : performance.now() + endsInMs;
}

const textsAfter = (texts: ScreenSnapshot['texts']) => texts.filter(({ number }) => number > lastText);

/** Sends an action to the agent. Resolves with true when it was carried out. */
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
    // A page loaded in an earlier run of the agent has a stale token.
    if (answer.status === 403) location.reload();
    return answer.ok;
  } catch {
    return false;
  }
}
