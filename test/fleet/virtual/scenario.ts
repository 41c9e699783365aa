/** Twenty minutes of a fleet: opening time, a restart of the broker, and the death of both backends, each while tokens are needed. */
import { peakOf, quantile } from '../scenario.ts';
import { type Need, openVirtualFleet } from './fleet.ts';

const MINUTE_MS = 60_000;
/** All devices are switched on within this time. */
const OPENING_MS = MINUTE_MS;
/** Sessions end in two waves within the twenty minutes; the agents begin the next ones before. */
const SESSION_S = 480;
const ALL_MS = 20 * MINUTE_MS;
const BROKER_DOWN_MS = 2000;
const BACKENDS_DOWN_MS = 5000;
/** The middle of a wave comes so long after the start of the sessions (ms). */
const HALF_A_WAVE_MS = 30_000;

/** @returns what went wrong */
export async function runVirtualFleet(size: number, say: (line: string) => void): Promise<string[]> {
  const fleet = openVirtualFleet(size, SESSION_S);
  const { clock, broker, service, received, needs, gapsMs, codes, defects } = fleet;
  const beganAt = clock.now();
  const cpu = process.cpuUsage();
  const usage = (): string => {
    const { user, system } = process.cpuUsage(cpu);
    const { rss } = process.memoryUsage();
    return `${((user + system) / 1e6).toFixed(0)} s of processor time, ${(rss / 1e6).toFixed(0)} MB`;
  };
  const between = (from: number, to: number) => (at: number) => at >= from && at < to;
  const show = (label: string, from: number, wanted: readonly Need[]): void => {
    const granted = wanted.filter(({ grantedAt }) => grantedAt !== null);
    const waits = granted.map(({ since, grantedAt }) => (grantedAt ?? 0) - since);
    const [p50, p99, max] = [0.5, 0.99, 1].map((share) => (quantile(waits, share) / 1000).toFixed(1));
    const last = Math.max(from, ...granted.map(({ grantedAt }) => grantedAt ?? 0));
    const inPhase = between(from, clock.now());
    const most = Math.max(0, ...wanted.map(({ asked }) => asked));
    const reasons = [...codes].map(([code, count]) => `, ${code} ${count} since the start`).join('');
    say(
      `${label}: ${wanted.length} needs, granted ${granted.length}; ` +
        `wait ${p50} s in the median, ${p99} s at 99 %, ${max} s at most; ` +
        `last grant after ${((last - from) / 1000).toFixed(1)} s; denials: ${wanted.reduce((sum, { denials }) => sum + denials, 0)}${reasons}; ` +
        `requests a second at the peak: ${peakOf(received.filter(inPhase))}, most of one device: ${most}; ` +
        `connections a second: ${peakOf(broker.attempts.filter(inPhase))}; ` +
        `messages a second: ${peakOf(broker.messages.filter(inPhase))}; ` +
        `lanes without a stream for a while: ${gapsMs.length}, ${(Math.max(0, ...gapsMs.splice(0)) / 1000).toFixed(1)} s at most; ` +
        `(${usage()})`,
    );
  };
  const phase = async (label: string, untilMs: number, from: number): Promise<void> => {
    const known = needs.length;
    await clock.run(beganAt + untilMs);
    show(label, from, needs.slice(known));
  };

  let backends = [fleet.startBackend('backend-1'), fleet.startBackend('backend-2')];
  await clock.run(beganAt + 2000);
  fleet.wake(OPENING_MS);
  await phase('opening', 5 * MINUTE_MS, clock.now());
  say(`live: ${fleet.live()}; connected: ${broker.connected}`);

  // The first sessions end about now.
  const firstWaveMs = SESSION_S * 1000 - MINUTE_MS;
  await clock.run(beganAt + firstWaveMs);
  let known = needs.length;
  await clock.run(beganAt + firstWaveMs + MINUTE_MS);
  broker.restart(BROKER_DOWN_MS);
  const brokerAt = clock.now();
  let backAfterMs: number | null = null;
  const look = (): void => {
    if (broker.connected >= size + backends.length) backAfterMs = clock.now() - brokerAt;
    else clock.at(clock.now() + 100, look);
  };
  clock.at(brokerAt + BROKER_DOWN_MS, look);
  await clock.run(beganAt + 13 * MINUTE_MS);
  show('rollover and restart of the broker', brokerAt, needs.slice(known));
  say(
    `every device is connected again after ${backAfterMs === null ? 'never' : (backAfterMs / 1000).toFixed(1)} s`,
  );
  say(`live: ${fleet.live()}; streams at once: ${service.mostOpen}`);

  known = needs.length;
  const secondWaveMs = 2 * firstWaveMs + MINUTE_MS + HALF_A_WAVE_MS;
  await clock.run(beganAt + secondWaveMs);
  const killedAt = clock.now();
  for (const kill of backends) kill();
  await clock.run(killedAt + BACKENDS_DOWN_MS);
  backends = [fleet.startBackend('backend-3'), fleet.startBackend('backend-4')];
  await clock.run(beganAt + ALL_MS);
  show('rollover and death of both backends', killedAt, needs.slice(known));
  say(
    `sessions: ${service.sessions}, without a stream: ${service.unused()}; ended by their limit: ${service.limits}; live: ${fleet.live()}; waiting: ${fleet.waiting()}`,
  );

  const failures = [...new Set([...service.faults, ...defects])].slice(0, 10);
  if (fleet.live() < size) failures.push(`only ${fleet.live()} of ${size} lanes are live at the end`);
  return failures;
}
