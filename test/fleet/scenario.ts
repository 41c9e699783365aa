/** What the fleet goes through, and what is measured on the way. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Device, endStream, type Grant, openDevice, openStream, speak } from './devices.ts';
import type { Programs } from './programs.ts';

export interface Size {
  readonly devices: number;
  readonly agents: number;
  readonly live: number;
  /** Steps of connected devices at which programs are measured. */
  readonly steps: readonly number[];
  readonly windowS: number;
  /** Requests a second while nothing is broken. */
  readonly rate: number;
}

export interface Outcome {
  readonly devices: number;
  readonly tokensPerS: number;
  readonly steadyMs: readonly number[];
  readonly peakRps: number;
  readonly coldS: number;
  readonly recoveryS: number;
  readonly killMs: readonly number[];
  readonly liveLateMs: readonly number[];
  readonly failures: readonly string[];
}

const STREAM_S = 2;
const CONNECTS_AT_ONCE = 200;

export async function runScenario(
  programs: Programs,
  size: Size,
  say: (line: string) => void,
): Promise<Outcome> {
  const failures: string[] = [];
  const requests: number[] = [];
  const grants: number[] = [];
  const open: Device[] = [];
  const add = (name: string): Promise<Device> =>
    new Promise((resolve) => {
      const device = openDevice(
        name,
        programs.brokerPort,
        () => requests.push(performance.now()),
        () => resolve(device),
      );
      open.push(device);
    });
  const addMany = async (prefix: string, from: number, to: number): Promise<Device[]> => {
    const added: Device[] = [];
    for (let index = from; index < to; index += CONNECTS_AT_ONCE) {
      const names = Array.from(
        { length: Math.min(CONNECTS_AT_ONCE, to - index) },
        (_, more) => `${prefix}-${index + more}`,
      );
      added.push(...(await Promise.all(names.map(add))));
    }
    return added;
  };
  const token = async (device: Device): Promise<Grant> => {
    const grant = await device.token();
    grants.push(performance.now());
    return grant;
  };
  /** Token, stream, running task, two seconds of it, end. */
  const work = async (device: Device): Promise<Grant> => {
    const grant = await token(device);
    try {
      const socket = await openStream(grant);
      await sleep(STREAM_S * 1000);
      endStream(socket);
    } catch (error) {
      failures.push(error instanceof Error ? error.message : 'unknown');
    }
    return grant;
  };
  /** All agents, one after the other at this rate. */
  const steadily = async (
    agents: readonly Device[],
    halfway = async (): Promise<void> => {},
  ): Promise<number[]> => {
    const began = performance.now();
    const works: Promise<Grant>[] = [];
    let half: Promise<void> | null = null;
    for (const [index, agent] of agents.entries()) {
      await sleep(Math.max(0, began + (index * 1000) / size.rate - performance.now()));
      works.push(work(agent));
      if (index >= agents.length / 2) half ??= halfway();
    }
    await half;
    return (await Promise.all(works)).map(({ waitedMs }) => waitedMs);
  };
  /** All agents at once. @returns seconds until the last one has its session */
  const storm = async (agents: readonly Device[], began: number): Promise<number> => {
    await Promise.all(agents.map(work));
    return (Math.max(began, ...grants.slice(-1)) - began) / 1000;
  };
  const show = async (label: string, count: number): Promise<void> => {
    const parts = [programs.broker, ...programs.backends];
    const before = parts.map((part) => part.usage());
    await sleep(size.windowS * 1000);
    const figures = parts.map((part, index) => {
      const { cpuS, rssBytes } = part.usage();
      const cpu = ((cpuS - (before[index]?.cpuS ?? 0)) / size.windowS) * 100;
      return `${part.name} ${(rssBytes / 1e6).toFixed(0)} MB, ${cpu.toFixed(1)} % of a core`;
    });
    say(`${label}: ${figures.join('; ')}`);
    const text = await programs.metrics();
    const ready = Number(/^dragoman_devices\{status="ready"\} (\d+)$/m.exec(text)?.[1] ?? -1);
    if (ready !== count) failures.push(`the backend counts ${ready} devices that are ready, not ${count}`);
  };

  // The devices without streams, in steps.
  let idle = 0;
  for (const step of size.steps) {
    const began = performance.now();
    await addMany('idle', idle, step);
    say(`${step - idle} devices connected in ${((performance.now() - began) / 1000).toFixed(1)} s`);
    idle = step;
    await show(`${step} devices`, step);
  }

  // Live streams, which go on to the end.
  const lateMs: number[] = [];
  const speakers = await addMany('live', 0, size.live);
  const sockets = await Promise.all(speakers.map(async (device) => openStream(await token(device))));
  const stops = sockets.map((socket) => speak(socket, (ms) => lateMs.push(ms)));
  say(`${sockets.length} live streams at real time`);

  // A cold start: all at once, as after a power cut.
  const agents = await addMany('agent', 0, size.agents);
  const all = idle + size.live + size.agents;
  const coldS = await storm(agents, performance.now());
  const tokensPerS = size.agents / Math.max(0.001, coldS);
  say(
    `cold start of ${size.agents} agents: ${coldS.toFixed(1)} s until the last session, ${tokensPerS.toFixed(1)} tokens a second`,
  );
  const steadyMs = await steadily(agents);
  say(`${size.agents} agents at ${size.rate} a second: ${describe(steadyMs)}`);

  const downAt = performance.now();
  await programs.restartBroker();
  const upAt = performance.now();
  say(`the broker was away for ${((upAt - downAt) / 1000).toFixed(1)} s`);
  await until(() => agents.every(({ client }) => client.isUp));
  const recoveryS = await storm(agents, upAt);
  await until(() => open.every(({ client }) => client.isUp));
  say(`restart of the broker: ${recoveryS.toFixed(1)} s until every agent has a session`);
  await show(`${all} devices after the restart`, all);

  const killMs = await steadily(agents, async () => {
    await programs.backends[1]?.kill('SIGKILL');
    say('one of two backends was killed');
  });
  say(`with a killed backend: ${describe(killMs)}`);
  const isLive = sockets.filter((socket) => socket.readyState === socket.OPEN).length;
  if (isLive !== size.live) failures.push(`only ${isLive} of ${size.live} live streams go on`);
  for (const stop of stops) stop();
  for (const socket of sockets) socket.close();
  for (const device of open) device.close();
  const devices = all;
  return {
    devices,
    tokensPerS,
    steadyMs,
    peakRps: peakOf(requests),
    coldS,
    recoveryS,
    killMs,
    liveLateMs: lateMs,
    failures,
  };
}

async function until(check: () => boolean): Promise<void> {
  while (!check()) await sleep(50);
}

/** Most moments within one second. */
export function peakOf(moments: readonly number[]): number {
  let peak = 0;
  let first = 0;
  for (const [index, at] of moments.entries()) {
    while ((moments[first] ?? at) <= at - 1000) first += 1;
    peak = Math.max(peak, index - first + 1);
  }
  return peak;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((one, other) => one - other);
  return Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0);
}

export function describe(values: readonly number[]): string {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(values, share));
  return `from request to session ${p50} ms in the median, ${p99} ms at 99 %, ${max} ms at most`;
}
