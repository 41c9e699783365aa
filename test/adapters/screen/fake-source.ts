import { request } from 'node:http';
import type { PageServer } from '../../../src/adapters/screen/page-server.ts';
import type { ActionProblem, ScreenSource } from '../../../src/ports/screen.ts';
import type { ScreenAction, ScreenChange, ScreenSnapshot } from '../../../src/protocol/screen.ts';

export const SNAPSHOT: ScreenSnapshot = {
  run: 'run-1',
  seq: 7,
  layout: 'beside',
  viewingDistanceMm: 700,
  heightMm: 150,
  status: { kind: 'listening' },
  level: 0,
  lanes: [
    {
      id: 'main',
      source: 'en',
      targets: ['es'],
      offer: [],
      visitor: 'es',
      typing: [{ from: 'en', into: 'es' }],
      turn: null,
      repeatable: [],
      volume: 80,
    },
  ],
  help: null,
  menu: null,
  notices: [
    { language: 'en', text: 'A computer interprets.' },
    { language: 'es', text: 'Interpreta un ordenador.' },
  ],
  phrases: [],
  operator: '',
  conversation: 1,
  isTalking: true,
  endsInMs: null,
  texts: [],
};

/** A source that a test drives by hand. */
export function createFakeSource(snapshot: ScreenSnapshot = SNAPSHOT) {
  const listeners = new Set<(change: ScreenChange) => void>();
  const actions: ScreenAction[] = [];
  let seq = snapshot.seq;
  let problem: ActionProblem | null = null;
  let mayAnswer: Promise<unknown> = Promise.resolve();
  let current = snapshot;
  const source: ScreenSource = {
    snapshot: () => ({ ...current, seq }),
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async act(action) {
      actions.push(action);
      await mayAnswer;
      return problem;
    },
  };
  return {
    source,
    actions,
    listeners,
    /** Changes the screen, and tells the pages. */
    change(change: Omit<ScreenChange, 'seq'>) {
      seq += 1;
      const texts = change.texts === undefined ? current.texts : [...current.texts, ...change.texts];
      current = { ...current, ...change, texts };
      for (const listener of listeners) listener({ seq, ...change });
    },
    /** Another run of the agent: nothing of the earlier one is left. */
    restart(run: string) {
      seq = 0;
      current = { ...current, run, texts: [], conversation: 1 };
    },
    /** Later actions are done when this is. */
    answerAfter(next: Promise<unknown>) {
      mayAnswer = next;
    },
    refuseWith(next: ActionProblem | null) {
      problem = next;
    },
  };
}

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

/** Sends one request, with any headers, on a connection of its own. */
export function ask(
  server: PageServer,
  path: string,
  { method = 'GET', headers = {}, body = '' }: { method?: string; headers?: object; body?: string } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, server.url), { method, headers: { ...headers }, agent: false });
    sent.on('error', reject);
    sent.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text }),
      );
    });
    sent.end(body);
  });
}
