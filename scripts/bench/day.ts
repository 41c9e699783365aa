/**
 * Measures the agent's heap over a day in simulated time. It runs the agent's own loop, core, capture and playback, in an
 * environment without memory. Run with `--expose-gc`; the last line is the report.
 * Usage: node --expose-gc day.mjs RECORDING HOURS [half-duplex|cancel]
 */

import { readFileSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { loadSpeechDetector } from '../../src/adapters/voice/speech-detector.ts';
import { seededRandom } from '../../src/core/random.ts';
import { Agent } from '../../src/device/agent.ts';
import { MOST_REMEMBERED } from '../../src/device/commands/command-ledger.ts';
import type { AgentDeps } from '../../src/device/deps/deps.ts';
import { configSchema } from '../../src/protocol/config.ts';
import { withTalk } from '../../src/sound/speech/talk-detector.ts';
import { createSimClock } from '../../test/sim/sim-clock.ts';
import { createDayBroker } from './day-broker.ts';
import { createAir, openEchoCanceller } from './day-echo.ts';
import type { DayReport } from './day-report.ts';
import { createDayService, SPOKEN_BYTES } from './day-service.ts';
import { slope } from './quantiles.ts';
import { conversation, RATE_HZ, readPcm } from './speech.ts';

const HOUR_MS = 3_600_000;
const CHUNK_MS = 320;
const CHUNK_SAMPLES = (RATE_HZ * CHUNK_MS) / 1000;
/** Opening hours after the start (h), and visitors: five minutes of every quarter of an hour (ms). */
const OPEN = { fromH: 1, untilH: 11, everyMs: 900_000, forMs: 300_000 };
/** Hours before the measurement starts: time for all code to run, and for all bounded buffers to fill. */
const WARM_H = 4;
const BASE = 'dragoman/v1/bench/kiosk-01';
const MEGABYTE = 2 ** 20;

const [recording = '', hoursText = '24', echo = 'half-duplex'] = process.argv.slice(2);
const cancels = echo === 'cancel';
const hours = Number(hoursText);
const sound = conversation(readPcm(readFileSync(recording)));
const clock = createSimClock(0);
clock.setWall(Date.UTC(2026, 0, 15, 8));
const counts = { chunks: 0, sentences: 0, sessions: 0, commands: 0 };
const quiet = (): void => {};

/** Sound of the microphone: a conversation while there are visitors, otherwise an empty room. */
function hear(fromMs: number): Uint8Array {
  const hour = (fromMs / HOUR_MS) % 24;
  const isVisit = hour >= OPEN.fromH && hour < OPEN.untilH && fromMs % OPEN.everyMs < OPEN.forMs;
  const pcm = new Int16Array(CHUNK_SAMPLES);
  const first = counts.chunks++ * CHUNK_SAMPLES;
  for (let at = 0; at < pcm.length; at++) {
    pcm[at] = isVisit ? (sound[(first + at) % sound.length] ?? 0) : ((first + at) * 7919) % 9;
  }
  if (cancels) air.hear(pcm, fromMs);
  return new Uint8Array(pcm.buffer);
}

/** Sound of a sentence: with echo cancelling, another part of the recorded speech; otherwise arbitrary samples. */
function spoken(sentence: number, chunk: number): Uint8Array {
  if (!cancels) return new Uint8Array(SPOKEN_BYTES).fill((sentence + chunk) & 0x3f);
  const samples = SPOKEN_BYTES / 2;
  const from = ((sentence * 7 + chunk) * samples) % (sound.length - samples);
  return new Uint8Array(sound.slice(from, from + samples).buffer);
}

const air = createAir(RATE_HZ);
const service = createDayService(clock, counts, spoken);
const broker = createDayBroker(clock, (topic, payload) => {
  if (topic === `${BASE}/token/req`) grant(payload);
});

function grant(request: string): void {
  const { id } = JSON.parse(request) as { id: string };
  const payload = JSON.stringify({
    id,
    ok: true,
    session: service.session(),
    stream_url: 'wss://service.example/streaming-api/{random_hash}/v1/speech-to-speech/stream',
  });
  clock.at(clock.now() + 80, () => broker.send(`${BASE}/token/res`, payload));
}

const detector = await loadSpeechDetector();
const random = seededRandom(1);
const world: AgentDeps = {
  clock,
  log: { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet },
  version: '0.0.0',
  openBus: broker.openBus,
  openStream: service.openStream,
  createVoiceDetector: withTalk(detector.create),
  openEchoCanceller,
  openAudio: () => ({
    async openCapture(sink) {
      let cancel = quiet;
      const deliver = (): void => {
        cancel = clock.at(clock.now() + CHUNK_MS, deliver);
        sink.frames(hear(clock.now() - CHUNK_MS), clock.now());
      };
      cancel = clock.at(clock.now() + CHUNK_MS, deliver);
      clock.settle();
      return { close: async () => cancel() };
    },
    async openPlayback() {
      let until = 0;
      return {
        mixer: null,
        write(pcm) {
          const from = Math.max(clock.now() + 40, until);
          until = from + (pcm.byteLength / 2 / RATE_HZ) * 1000;
          if (cancels) air.play(pcm, from);
          return { from, until };
        },
        flush() {
          until = clock.now();
        },
        close: async () => {},
      };
    },
  }),
  random,
  randomHash: () => `hash${random().toString(36).slice(2)}`,
};

function command(name: string): void {
  counts.commands += 1;
  const payload = JSON.stringify({ id: `day-${counts.commands}`, args: {} });
  broker.send(`${BASE}/cmd/${name}`, payload);
}

/** Heap after garbage collection (MB). */
async function heapMb(): Promise<number> {
  for (let time = 0; time < 3; time++) {
    await breathe();
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / MEGABYTE;
}

const config = configSchema.parse({
  device: { id: 'kiosk-01', tenant: 'bench' },
  mqtt: { url: 'mqtts://broker.example' },
  lanes: [
    {
      capture: { driver: 'file', path: 'in.wav', sampleRate: RATE_HZ },
      playback: { driver: 'file', path: 'out.wav' },
      source: 'en',
      targets: ['es'],
      echo,
      standbyAfter: 120,
    },
  ],
});
const startedAt = process.hrtime.bigint();
const agent = new Agent(config, world);
void agent.start();
clock.settle();
const points: [hour: number, mb: number][] = [];
const warmMinutes = 60 * Math.min(WARM_H, hours / 2);
for (let minute = 1; minute <= hours * 60; minute++) {
  await clock.run((minute * HOUR_MS) / 60);
  const commands = minute <= warmMinutes ? Math.ceil(MOST_REMEMBERED / warmMinutes) : 1;
  for (let time = 0; time < commands; time++) command('status');
  if (minute % 60 === 0) points.push([minute / 60, await heapMb()]);
}
const seconds = Number(process.hrtime.bigint() - startedAt) / 1e9;
const steady = points.filter(([hour]) => hour * 60 > warmMinutes);
const report: DayReport = {
  hours,
  seconds,
  ...counts,
  points,
  mbPerDay: slope(steady) * 24,
  detector: detector.name,
};
process.stdout.write(`${JSON.stringify(report)}\n`);
process.exit(0);
