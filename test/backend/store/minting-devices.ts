/** Devices that ask for one session after the other, and open a stream at the emulator with each. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import type { Emulator } from '../../../src/emulator/server.ts';
import { tokenResponseSchema } from '../../../src/protocol/mqtt/token.ts';
import { createTestBuses } from '../../adapters/mqtt/test-buses.ts';
import { until } from '../../until.ts';
import { PREFIX } from '../backend-on-loopback.ts';

/**
 * A device repeats its request after this time (src/device/lane/state/lane-options.ts). Here it does so only when the request may have
 * been lost with a killed backend: a slow machine must not look like a lost request.
 */
const REPEAT_MS = 5000;
/** A request that no kill has touched is lost after this time (ms): longer than a backend keeps one. */
const LOST_MS = 30_000;
/** Longest time until an impatient device asks anew, and between two sessions of a device (ms). */
const IMPATIENT_MS = 800;
const PAUSE_MS = 2500;

/** A request that has its answer. */
export interface Asked {
  readonly device: string;
  readonly at: number;
  readonly endedAt: number;
  readonly attempts: number;
}
interface Session {
  readonly id: string;
  readonly token: string;
}

export function openMintingDevices(
  brokerUrl: string,
  emulator: Emulator,
  { devices: count, impatient }: { readonly devices: number; readonly impatient: number },
) {
  const buses = createTestBuses(createSystemClock());
  const found = {
    asked: [] as Asked[],
    /** Sessions of the answers to one request. */
    given: new Map<string, Set<string>>(),
    /** Sessions with which no stream could be opened. */
    refused: [] as string[],
    denied: [] as string[],
    /** Requests that were lost without a kill, or by the same kill twice. */
    lost: [] as string[],
    /** Denials that give no time to try again. */
    hopeless: [] as string[],
  };
  const used = new Set<string>();
  const waiting = new Map<string, (session: Session | null) => void>();
  /** Repeats the requests that wait. */
  const repeaters = new Map<string, () => void>();
  /** From a kill until another backend listens in its place. */
  let mayLose = false;
  let isOver = false;
  let isClosed = false;
  let living: Promise<unknown> = Promise.resolve();

  const hear = (payload: string): void => {
    const answer = tokenResponseSchema.parse(JSON.parse(payload));
    if (!answer.ok) {
      const { code, detail, final, retry_after_s } = answer.error;
      found.denied.push(`${code} ${detail}`);
      if (final || retry_after_s === undefined) found.hopeless.push(code);
    } else if ('session' in answer) {
      const { id, token } = answer.session as Session;
      found.given.set(answer.id, (found.given.get(answer.id) ?? new Set()).add(id));
      return waiting.get(answer.id)?.({ id, token });
    }
    waiting.get(answer.id)?.(null);
  };
  const { bus, ups } = buses.open(
    { url: brokerUrl },
    { subscriptions: [`${PREFIX}/museum/+/token/res`] },
    1,
    ({ payload }) => hear(payload),
  );

  /** Null: denied, or asked anew before the answer. */
  const ask = (device: string, id: string, isImpatient: boolean): Promise<Session | null> =>
    new Promise((resolve) => {
      const at = performance.now();
      let attempts = 0;
      const end = (session: Session | null, isAnswered: boolean): void => {
        clearTimeout(repeat);
        clearTimeout(patience);
        waiting.delete(id);
        repeaters.delete(id);
        if (isAnswered) found.asked.push({ device, at, endedAt: performance.now(), attempts });
        resolve(session);
      };
      const send = (): void => {
        attempts += 1;
        const request = { id, lane: 'main', intent: 's2s', connection_type: 'ws', reason: 'network' };
        bus.publish(
          `${PREFIX}/museum/${device}/token/req`,
          JSON.stringify({ ...request, attempt: attempts }),
        );
        if (mayLose) return repeatLater();
        repeat = setTimeout(() => {
          found.lost.push(id);
          send();
        }, LOST_MS);
      };
      const repeatLater = (): void => {
        clearTimeout(repeat);
        repeat = setTimeout(send, REPEAT_MS);
      };
      let repeat: NodeJS.Timeout | undefined;
      const patience = isImpatient
        ? setTimeout(() => end(null, false), Math.random() * IMPATIENT_MS)
        : undefined;
      waiting.set(id, (session) => end(session, true));
      repeaters.set(id, repeatLater);
      send();
    });

  const stream = async ({ id, token }: Session): Promise<void> => {
    const address = `${emulator.wsUrl}/streaming-api/x/v1/speech-to-speech/stream?token=${token}`;
    const socket = new WebSocket(address, { perMessageDeflate: false });
    const ended = new Promise<void>((resolve) => {
      socket.on('open', () => {
        used.add(id);
        setTimeout(() => socket.close(), 50 + Math.random() * 200);
      });
      socket.on('error', (error) => found.refused.push(error.message));
      socket.on('close', () => resolve());
    });
    await ended;
  };

  const live = async (device: string): Promise<void> => {
    await sleep(Math.random() * PAUSE_MS);
    for (let round = 0; !isOver; round += 1) {
      const isImpatient = Math.random() < impatient;
      const session = await ask(device, `${device}-${round}`, isImpatient);
      if (session !== null) await stream(session);
      else if (isImpatient) continue;
      await sleep(Math.random() * PAUSE_MS);
    }
    if (isClosed) return;
    // A device that is switched off for good does not leave a request open.
    const session = await ask(device, `${device}-last`, false);
    if (session !== null) await stream(session);
  };

  return {
    found,
    isUsed: (id: string) => used.has(id),
    async start(): Promise<void> {
      await until(() => ups.length > 0, 'the broker');
      living = Promise.all(Array.from({ length: count }, (_, index) => live(`kiosk-${index}`)));
    },
    /** A backend was killed: each device that waits repeats its request once. */
    backendKilled(): void {
      mayLose = true;
      for (const repeatLater of repeaters.values()) repeatLater();
    },
    backendReturned(): void {
      mayLose = false;
    },
    /** Waits for the answers to what was asked. */
    async stop(): Promise<void> {
      isOver = true;
      await living;
    },
    /** Without waiting for anything. */
    async close(): Promise<void> {
      isOver = true;
      isClosed = true;
      for (const give of [...waiting.values()]) give(null);
      await buses.closeAll();
    },
  };
}
