/** `npm run bench:fleet`: a fleet of simulated devices against real programs on this machine (docs/scale.md). */
import { parseArgs } from 'node:util';
import { missing, startPrograms } from './programs.ts';
import { describe, quantile, runScenario, type Size } from './scenario.ts';
import { lightenAgents } from './virtual/fleet.ts';
import { runVirtualFleet } from './virtual/scenario.ts';

const HELP = `Usage: npm run bench:fleet -- [options]

Starts mosquitto, the emulator and two backends, and lets simulated devices
connect, get tokens and open streams.

  --devices <n>     connected devices without streams (10000)
  --agents <n>      devices that get tokens and open streams (2000)
  --live <n>        streams that speak in real time beside them (150)
  --rate <n>        token requests a second while nothing is broken (40)
  --store <kind>    sqlite or postgres (sqlite)
  --virtual         shipped agents and backends in virtual time instead (--agents 1000)
  --quick           a small fleet, in less than a minute
  --json            the last line is {"fleet": {...}}
`;
const FULL: Size = {
  devices: 10_000,
  agents: 2000,
  live: 150,
  steps: [100, 1000, 10_000],
  windowS: 15,
  rate: 40,
};
const QUICK: Size = { devices: 100, agents: 40, live: 4, steps: [20, 100], windowS: 1, rate: 20 };

/** Shipped agents in virtual time. */
const VIRTUAL = { full: 1000, quick: 100 };

/** Longer than any run takes on a slow machine (ms). */
const LIMIT_MS = { quick: 300_000, full: 3_600_000 };

const say = (line: string): void => void process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      devices: { type: 'string' },
      agents: { type: 'string' },
      live: { type: 'string' },
      rate: { type: 'string' },
      store: { type: 'string', default: 'sqlite' },
      virtual: { type: 'boolean' },
      quick: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  if (values.virtual) {
    lightenAgents();
    const agents = Number(values.agents ?? (values.quick ? VIRTUAL.quick : VIRTUAL.full));
    const failures = await runVirtualFleet(agents, say);
    for (const failure of failures) say(`FAILED: ${failure}`);
    return failures.length === 0 ? 0 : 1;
  }
  const store = values.store === 'postgres' ? 'postgres' : 'sqlite';
  const why = missing(store);
  if (why !== null) {
    process.stderr.write(`skipped: ${why}\n`);
    return 77;
  }
  const base = values.quick ? QUICK : FULL;
  const devices = Number(values.devices ?? base.devices);
  const size: Size = {
    ...base,
    devices,
    steps: [...base.steps.filter((step) => step < devices), devices],
    agents: Number(values.agents ?? base.agents),
    live: Number(values.live ?? base.live),
    rate: Number(values.rate ?? base.rate),
  };
  const programs = await startPrograms(store, size.agents + size.live + 100);
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => void programs.close().then(() => process.exit(1)));
  setTimeout(
    () => {
      say('FAILED: devices still have no session after the time of the whole run');
      void programs.close().then(() => process.exit(1));
    },
    values.quick ? LIMIT_MS.quick : LIMIT_MS.full,
  ).unref();
  try {
    const result = await runScenario(programs, size, say);
    const late = result.liveLateMs;
    say(
      `live streams: a chunk was ${quantile(late, 0.5)} ms late in the median, ${quantile(late, 0.99)} ms at 99 %`,
    );
    say(`in all: ${describe([...result.steadyMs, ...result.killMs])}`);
    for (const failure of new Set(result.failures)) say(`FAILED: ${failure}`);
    const fleet = {
      devices: result.devices,
      tokens_per_s: Math.round(result.tokensPerS * 10) / 10,
      token_ms: { p50: quantile(result.steadyMs, 0.5), p99: quantile(result.steadyMs, 0.99) },
      storm_peak_rps: result.peakRps,
      storm_recovery_s: Math.round(result.recoveryS * 10) / 10,
    };
    if (values.json) process.stdout.write(`${JSON.stringify({ fleet })}\n`);
    return result.failures.length === 0 ? 0 : 1;
  } finally {
    await programs.close();
  }
}

// Sockets of a failed run would keep the process alive.
process.exit(await main());
