import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { createCapture, createPlayback } from '../../src/adapters/audio/drivers/driver.ts';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { createLanesInTurn } from '../../src/device/doctor/lanes-in-turn.ts';
import { CapturePipeline } from '../../src/device/lane/runner/capture-pipeline.ts';
import { createLatencyRecorder } from '../../src/device/lane/runner/latency.ts';
import { PlaybackPipeline } from '../../src/device/lane/runner/playback-pipeline.ts';
import type { LaneEvent } from '../../src/device/lane/state/lane-event.ts';
import type { Log } from '../../src/ports/log.ts';
import { configSchema } from '../../src/protocol/config.ts';
import { needs } from '../needs.ts';
import { judgeSound, watchStalls } from '../stalls.ts';
import { visitors } from './agent-on-a-card.ts';
import { openRack } from './card.ts';
import { RATE_HZ, stallsWith } from './card-lane.ts';
import { quantile } from './sound.ts';
import { openSoundServer } from './sound-server.ts';

const clock = createSystemClock();
const log: Log = { trace() {}, debug() {}, info() {}, warn() {}, error() {} };

/** Total stall in half a minute (ms) above which the measurement with a sound server is not valid. */
const BUSY_MS = 300;
/** Stall (ms) that changes the delay by an underrun. */
const LONG_STALL_MS = 50;
/** Smallest number of measured sentences, because a single one may be late. */
const FEWEST = 3;

function configOf(device: string) {
  return configSchema.parse({
    device: { id: 'kiosk', tenant: 'test' },
    mqtt: { url: 'mqtt://localhost' },
    lanes: [{ source: 'en', targets: ['es'], capture: { device }, playback: { device, normalize: false } }],
  });
}

async function doctorsDelay(device: string): Promise<number> {
  const lanes = createLanesInTurn(
    {
      clock,
      openCapture: (lane) => createCapture(lane.capture, clock),
      openPlayback: (lane) => createPlayback(lane.playback, RATE_HZ, clock),
      agent: null,
      plays: true,
      holdersOf: () => [],
    },
    configOf(device),
  );
  const [playback] = await lanes.playback();
  await lanes.close();
  return Number(playback?.data['delay_ms'] ?? Number.NaN);
}

/** Delays that a lane measures while it plays some sentences. */
async function agentsDelays(device: string): Promise<number[]> {
  const [lane] = configOf(device).lanes;
  if (lane === undefined) throw new Error('there is no lane');
  const delays: number[] = [];
  const post = (event: LaneEvent): void => {
    if (event.type === 'echo_heard') delays.push(event.measure.delayMs);
  };
  const capture = new CapturePipeline({
    clock,
    lane: 'main',
    log,
    rateHz: RATE_HZ,
    chunkMs: 320,
    playedRateHz: RATE_HZ,
    cancelEcho: false,
    post,
    openCapture: createCapture(lane.capture, clock),
    createVoiceDetector: () => ({ hear() {}, close() {} }),
  });
  capture.open();
  const playback = new PlaybackPipeline({
    clock,
    volume: 100,
    rateHz: RATE_HZ,
    wireToSpeaker: createLatencyRecorder(),
    post,
    openPlayback: createPlayback(lane.playback, RATE_HZ, clock),
    reference: capture,
  });
  await playback.open();
  const { sound, sentences } = await visitors();
  let write = 0;
  for (const { start, end } of sentences.slice(0, 5)) {
    const scale = RATE_HZ;
    const pcm = new Uint8Array(sound.slice(Math.round(start * scale), Math.round(end * scale)).buffer);
    const piece = RATE_HZ;
    for (let at = 0; at < pcm.byteLength; at += piece) {
      playback.play({
        type: 'play',
        kind: 'speech',
        pcm: pcm.slice(at, at + piece),
        write: ++write,
        receivedAt: null,
      });
      await sleep(450);
    }
    await sleep(800);
  }
  await Promise.all([playback.close(), capture.close()]);
  return delays;
}

const { rack, missing: noCard } = await openRack();
const { server, missing: noServer } = await openSoundServer('spk');
afterAll(async () => {
  await Promise.all([rack?.close(), server?.close()]);
});

describe('the delay from loudspeaker to microphone', () => {
  it(
    `is the same for the doctor and the agent on a card${noCard === null ? '' : `: skipped, ${noCard}`}`,
    needs(noCard),
    async ({ annotate, skip }) => {
      const stalls = watchStalls();
      if (rack === null) throw new Error('the virtual cards are missing');
      rack.use();
      const card = await rack.insert({ id: 'Loop', acoustic: { delayMs: 80, gainDb: -12 } });
      const { device } = card;
      const doctor = await doctorsDelay(device);
      const agent = await agentsDelays(device);
      await annotate(`doctor ${doctor}, agent ${agent.map(Math.round)}`);
      judgeSound(skip, stallsWith(stalls, card), LONG_STALL_MS, () => {
        expect(agent.length).toBeGreaterThan(0);
        for (const delay of agent) expect(Math.abs(delay - doctor)).toBeLessThan(20);
      });
    },
  );

  it(
    `is the same for both on a sound server${noServer === null ? '' : `: skipped, ${noServer}`}`,
    needs(noServer),
    async ({ annotate, skip }) => {
      const stalls = watchStalls();
      // The drivers' children inherit this process's environment.
      Object.assign(process.env, server?.env);
      const doctor = [await doctorsDelay('default'), await doctorsDelay('default')];
      const agent = await agentsDelays('default');
      doctor.push(await doctorsDelay('default'));
      await annotate(`doctor ${doctor}, agent ${agent.map(Math.round)}`);
      // A sound server may play a sentence late; the lane does not rely on a single one.
      const usual = quantile(agent, 0.5);
      skip(agent.length < FEWEST, `the lane measured its echo in ${agent.length} sentences only`);
      const isSame = doctor.every((told) => Math.abs(usual - told) < 20);
      skip(!isSame && stalls.ms() > BUSY_MS, `this machine is too busy: ${stalls.ms().toFixed(0)} ms`);
      expect(isSame).toBe(true);
    },
  );
});
