/** Two backends as programs with one store make sessions for simulated devices, while they are killed at drawn moments. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { startBroker } from '../../../src/cli/demo/broker.ts';
import { startEmulator } from '../../../src/emulator/server.ts';
import { findMosquitto, startMosquitto } from '../../adapters/mqtt/mosquitto.ts';
import { watchStalls } from '../../stalls.ts';
import { until } from '../../until.ts';
import { API_KEY, STREAM_URL } from '../backend-on-loopback.ts';
import { type Asked, openMintingDevices } from './minting-devices.ts';
import { PASSWORD } from './postgres-server.ts';
import { openSlowDoor } from './slow-door.ts';

export interface Plan {
  readonly kills: number;
  readonly devices: number;
  /** Share of requests that a device replaces before their answer. */
  readonly impatient: number;
  /** On a busy machine times prove nothing: `test/backend/issuing/instances.test.ts` judges them in virtual time. */
  readonly areTimesJudged: boolean;
}

/** One start of a backend. */
export interface Run {
  killedAt: number | null;
}
/** A session at the service. */
export interface Made {
  readonly reference: string;
  readonly by: Run;
  readonly madeAt: number;
  goneAt: number | null;
}

const UNUSED_WITHIN_MS = 5000;
const ORPHANS_WITHIN_MS = 60_000;
const DRAINED_WITHIN_MS = 10_000;
/** A longer stall (ms) of the machine may have delayed answers and ends. */
const MOST_STALL_MS = 1000;
/** Between two kills (ms). */
const SHORTEST_MS = 200;
const LONGEST_MS = 1500;
/** Load before and after the end of one of two (ms). */
const LOAD_MS = 1500;

/**
 * @param store as in a backend's configuration
 * @param folder holds the bundles
 * @returns what was found, and whether the times were judged; if the machine was too busy, the note says so
 */
export async function killBackends(
  store: object,
  folder: string,
  plan: Plan,
): Promise<{ note: string; isJudged: boolean }> {
  const stalls = watchStalls();
  const command = findMosquitto();
  // The embedded broker has no shared subscriptions: both backends hear each request, and no device needs to repeat one.
  const broker = command === null ? await startBroker() : await startMosquitto(command);
  const emulator = await startEmulator({ apiKeys: [API_KEY], pending: 10_000, concurrent: 1000 });
  const sessions = new Map<string, Made>();
  const write = (name: string, content: string): string => {
    const file = join(folder, name);
    writeFileSync(file, content);
    chmodSync(file, 0o600);
    return file;
  };
  const openSlot = async (name: string) => {
    const slot = { run: { killedAt: null } as Run, child: null as ChildProcess | null };
    const door = await openSlowDoor(emulator.url, () => {
      const by = slot.run;
      return {
        made: (id, reference) =>
          void sessions.set(id, { reference, by, madeAt: performance.now(), goneAt: null }),
        gone(id) {
          const session = sessions.get(id);
          if (session !== undefined) session.goneAt ??= performance.now();
        },
      };
    });
    const config = {
      mqtt: { url: broker.url },
      service: { url: door.url, streamUrl: STREAM_URL, apiKeyFile: write('key', API_KEY), timeout: 20 },
      allow: ['museum/*'],
      session: { expiresInSeconds: 600 },
      limits: {
        createsPerSecond: 100,
        pendingSessions: 10_000,
        sessionsPerHour: 3600,
        burst: 1000,
        perMinute: 6000,
      },
      store: { ...store, ...('url' in store && { passwordFile: write('password', PASSWORD) }) },
    };
    const file = write(`${name}.json`, JSON.stringify(config));
    return {
      door,
      async start(): Promise<void> {
        slot.run = { killedAt: null };
        const child = spawn(process.execPath, [join(folder, 'backend.mjs'), 'run', '--config', file], {
          cwd: folder,
          env: { PATH: process.env['PATH'] },
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        slot.child = child;
        let said = '';
        child.stdout?.on('data', (part) => {
          said += String(part);
        });
        await until(() => said.includes('listening for token requests') || child.exitCode !== null, name);
        expect(child.exitCode, said).toBeNull();
      },
      kill(): void {
        slot.run.killedAt = performance.now();
        slot.child?.kill('SIGKILL');
      },
      /** @returns the time until its end (ms) */
      async end(): Promise<number> {
        const { child } = slot;
        if (child === null || child.exitCode !== null || child.signalCode !== null) return 0;
        const began = performance.now();
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        expect((await ended)[0]).toBe(0);
        return performance.now() - began;
      },
    };
  };
  const slots = [await openSlot('one'), await openSlot('two')] as const;
  const devices = openMintingDevices(broker.url, emulator, plan);
  try {
    await Promise.all(slots.map((slot) => slot.start()));
    await devices.start();
    for (let kill = 0; kill < plan.kills; kill += 1) {
      await sleep(SHORTEST_MS + Math.random() * (LONGEST_MS - SHORTEST_MS));
      const slot = slots[Math.random() < 0.5 ? 0 : 1];
      slot.kill();
      devices.backendKilled();
      await slot.start();
      devices.backendReturned();
    }
    await sleep(LOAD_MS);
    // One of two leaves under load.
    const endedMs = await slots[0].end();
    await sleep(LOAD_MS);
    await devices.stop();
    const unused = () => [...sessions].filter(([id, { goneAt }]) => goneAt === null && !devices.isUsed(id));
    await until(() => unused().length === 0, 'the end of every unused session', 3 * ORPHANS_WITHIN_MS);
    await slots[1].end();

    expect(devices.found.refused).toEqual([]);
    expect(devices.found.hopeless, 'denials without a time to try again').toEqual([]);
    const twice = [...devices.found.given].filter(([, ids]) => ids.size > 1);
    expect(twice, 'requests with two sessions').toEqual([]);
    expect(devices.found.asked.length).toBeGreaterThan(plan.devices);
    const { asked, denied, lost } = devices.found;
    const times = { asked, denied, lost, sessions, isUsed: devices.isUsed, endedMs };
    const note = figuresOf(times);
    if (!plan.areTimesJudged) return { isJudged: false, note };
    try {
      judgeTimes(times);
    } catch (error) {
      const stalledMs = stalls.longestMs();
      if (stalledMs <= MOST_STALL_MS) throw error;
      return { isJudged: false, note: `this process stalled for ${stalledMs.toFixed(0)} ms; ${note}` };
    }
    return { isJudged: true, note };
  } finally {
    await devices.close();
    for (const slot of slots) {
      slot.kill();
      await slot.door.close();
    }
    await emulator.close();
    await broker.close();
  }
}

interface Times {
  readonly asked: readonly Asked[];
  /**
   * None on a machine that keeps up: kills are not a reason. A store that does not answer for 4 s is down for a backend, and a machine
   * with many waiting programs may stand still for so long. Then a denial with a time to try again is right: without the store
   * the backend cannot know whether the lane has a session.
   */
  readonly denied: readonly string[];
  /** None: one retry for each kill is enough, and whoever leaves in an orderly way loses no request. */
  readonly lost: readonly string[];
  readonly sessions: ReadonlyMap<string, Made>;
  readonly isUsed: (id: string) => boolean;
  /** How long the end of one of two took, under load. */
  readonly endedMs: number;
}

function judgeTimes(times: Times): void {
  const { denied, lost, endedMs } = times;
  expect(denied).toEqual([]);
  expect(lost, 'requests that were lost without a kill').toEqual([]);
  const { orphans, others } = unusedOf(times);
  const longer = (of: readonly Made[], ms: number) => of.filter((one) => idleMs(one) > ms);
  expect(longer(orphans, ORPHANS_WITHIN_MS), 'orphans of a killed one').toEqual([]);
  expect(longer(others, UNUSED_WITHIN_MS), 'unused sessions').toEqual([]);
  expect(endedMs, 'time of an end under load').toBeLessThan(DRAINED_WITHIN_MS);
}

function unusedOf({ asked, sessions, isUsed }: Times): { orphans: Made[]; others: Made[] } {
  /** Its maker died, or the backend to which the lane's next request went. */
  const isOrphan = ({ reference, madeAt, goneAt, by }: Made): boolean =>
    (by.killedAt !== null && by.killedAt < madeAt + UNUSED_WITHIN_MS) ||
    asked.some(
      ({ device, at, endedAt, attempts }) =>
        attempts > 1 && reference === `museum/${device}/main` && at < (goneAt ?? endedAt) && endedAt > madeAt,
    );
  const unused = [...sessions].filter(([id]) => !isUsed(id)).map(([, session]) => session);
  return { orphans: unused.filter(isOrphan), others: unused.filter((one) => !isOrphan(one)) };
}

function figuresOf(times: Times): string {
  const { asked, denied, sessions, endedMs } = times;
  const { orphans, others } = unusedOf(times);
  const worst = (of: readonly Made[]): string =>
    `${of.length} (${(Math.max(0, ...of.map(idleMs)) / 1000).toFixed(1)} s at most)`;
  return (
    `requests: ${asked.length}, repeated: ${asked.filter(({ attempts }) => attempts > 1).length}, ` +
    `denied: ${denied.length}; sessions: ${sessions.size}; unused: ${worst(others)}; orphans: ${worst(orphans)}; ` +
    `an end under load: ${(endedMs / 1000).toFixed(1)} s`
  );
}

/** How long it lay unused, after the death of its maker. */
const idleMs = ({ madeAt, goneAt, by }: Made): number =>
  (goneAt ?? Number.POSITIVE_INFINITY) - Math.max(madeAt, by.killedAt ?? 0);
