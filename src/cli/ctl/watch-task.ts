import { connectOperator } from '../../adapters/ctl/operator-client.ts';
import {
  type DeviceEntry,
  lostBySilence,
  neverCame,
  type RosterRow,
  rosterRows,
} from '../../fleet/roster.ts';
import { isSilent } from '../../fleet/silence.ts';
import { ASK_SPREAD_S, createStatusAsker } from '../../machine/status-asker.ts';
import type { Clock } from '../../ports/clock.ts';
import { jsonLine, textLine } from '../../protocol/common/plain-text.ts';
import { plainRow } from '../demo/display-text.ts';
import { isLiveTerminal } from '../demo/live-host.ts';
import { createScreen, type LiveTerminal } from '../demo/live-screen.ts';
import { sendCommand } from './ask.ts';
import type { CtlDeps } from './deps.ts';
import { layOutRoster } from './fleet-table.ts';
import { createFleetView } from './fleet-view.ts';
import { registeredIn } from './target.ts';

/** Interval between redraws (ms): looks live, and is slow enough for 200 devices over a slow connection. */
const DRAW_EACH_MS = 250;
/** Time for the broker's retained messages (ms). */
const NEVER_AFTER_MS = 3000;
const END_SIGNALS = ['SIGINT', 'SIGTERM'] as const;

/** Source of signals, and the terminal for the live table. */
export interface WatchHost {
  readonly output: LiveTerminal & { readonly isTTY?: boolean };
  once(signal: (typeof END_SIGNALS)[number], listener: () => void): unknown;
  off(signal: (typeof END_SIGNALS)[number], listener: () => void): unknown;
}

const processHost: WatchHost = {
  output: process.stdout,
  once: (signal, listener) => process.once(signal, listener),
  off: (signal, listener) => process.off(signal, listener),
};

/** Shows a live table of the devices until the user ends it; in a pipe, one line per change. */
export async function watchFleet(deps: CtlDeps, host: WatchHost = processHost): Promise<void> {
  const { topics, target, clock, access, shell, options } = deps;
  const view = createFleetView(topics, target);
  let problem: string | null = null;
  const silence = createSilence(clock);
  const health = topics.published(target.kind === 'device' ? target.device : null, 'health');
  const subscriptions = [...view.subscriptions, { filter: health, qos: 0, mayBeRefused: true } as const];
  let hasRetained = false;
  const asker = createStatusAsker(clock, () => {
    const spread = { ...deps, options: { ...options, spread: ASK_SPREAD_S } };
    void sendCommand(client, 'status', {}, deps.newId(), spread).catch(() => {});
  });
  const client = await connectOperator(access.connection, clock, subscriptions, {
    message(message) {
      const about = topics.read(message.topic);
      if (about !== null && !message.retain) silence.heard(about.device);
      if (message.retain) {
        hasRetained = true;
        asker.heardRetained();
      }
      view.receive(message);
    },
    unsubscribed: (filters) => silence.judges(filters.length === 0),
    connectionChanged(now) {
      problem = now;
      silence.listen(now === null);
      if (now === null) asker.up();
      else asker.down();
    },
  });
  silence.listen(true);
  // The first messages come with the connection.
  if (!hasRetained) asker.up();
  const isLive = !options.json && isLiveTerminal(host.output, shell.env);
  const show = isLive
    ? createTable(host.output)
    : createLines((text) => shell.print(text), options.json === true);
  let isOver = false;
  const ended = new Promise<void>((resolve) => {
    const end = (): void => {
      isOver = true;
      for (const signal of END_SIGNALS) host.off(signal, end);
      resolve();
    };
    for (const signal of END_SIGNALS) host.once(signal, end);
  });
  const registered = registeredIn(target, access.registered);
  const startedAt = clock.now();
  const draw = (): void => {
    if (isOver) return;
    const known = view.entries().map(silence.apply);
    const never = startedAt + NEVER_AFTER_MS > clock.now() ? [] : neverCame(registered, known);
    show.rows(rosterRows([...known, ...never]), problem);
    clock.at(clock.now() + DRAW_EACH_MS, draw);
  };
  draw();
  await ended;
  asker.down();
  show.restore();
  await client.close();
}

/** Notices devices that publish nothing any more, not even `health`. */
function createSilence(clock: Clock) {
  const heardAt = new Map<string, number>();
  const silent = new Set<string>();
  let listeningSince: number | null = null;
  let isJudging = true;
  return {
    heard(device: string): void {
      heardAt.set(device, clock.now());
      silent.delete(device);
    },
    judges(isAllHeard: boolean): void {
      isJudging = isAllHeard;
    },
    listen(isListening: boolean): void {
      listeningSince = isListening ? clock.now() : null;
    },
    apply(entry: DeviceEntry): DeviceEntry {
      const { device } = entry;
      if (isJudging && isSilent(heardAt.get(device) ?? null, listeningSince, clock.now())) silent.add(device);
      return silent.has(device) ? lostBySilence(entry) : entry;
    },
  };
}

interface Showing {
  rows(rows: readonly RosterRow[], problem: string | null): void;
  restore(): void;
}

/** Draws rows with problems first, so that only healthy devices are cut off at the bottom. */
function createTable(output: LiveTerminal): Showing {
  const screen = createScreen(output);
  return {
    rows(rows, problem) {
      const columns = output.columns ?? 80;
      const height = Math.max(4, (output.rows ?? 24) - 1);
      const [head = '', ...lines] = layOutRoster(rows, columns - 1);
      const shown = lines.slice(0, height - 2);
      const hidden = rows.slice(shown.length);
      const last = summary(rows, hidden, problem).slice(0, columns - 1);
      screen.draw([head, ...shown, last].map(plainRow), columns);
    },
    restore: () => screen.restore(),
  };
}

function summary(rows: readonly RosterRow[], hidden: readonly RosterRow[], problem: string | null): string {
  if (problem !== null) return `no connection to the broker: ${problem}`;
  const wrong = rows.filter(({ isProblem }) => isProblem).length;
  const worse = hidden.filter(({ isProblem }) => isProblem).length;
  const more =
    hidden.length === 0
      ? ''
      : `, ${hidden.length} more below${worse === 0 ? '' : ` (${worse} with a problem)`}`;
  return `${rows.length} ${rows.length === 1 ? 'device' : 'devices'}, ${wrong} with a problem${more}; Ctrl-C ends`;
}

/** For a pipe: prints only changed rows. */
function createLines(print: (text: string) => void, isJson: boolean): Showing {
  const before = new Map<string, string>();
  return {
    rows(rows) {
      for (const row of rows) {
        const { since: _, ...shown } = row;
        const text = JSON.stringify(shown);
        if (before.get(row.device) === text) continue;
        before.set(row.device, text);
        const words = [row.device, row.status, row.reasons, row.lanes].filter((word) => word !== '');
        print(isJson ? jsonLine(row) : textLine(words.join('  ')));
      }
    },
    restore() {},
  };
}
