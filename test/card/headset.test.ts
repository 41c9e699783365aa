import { afterAll, describe, it } from 'vitest';
import { createHeadset, createPlayback } from '../../src/adapters/audio/drivers/driver.ts';
import { readPlug, watchHeadsetPlug } from '../../src/adapters/headset/plug.ts';
import { createProgramRunner } from '../../src/adapters/program-runner.ts';
import { step } from '../../src/device/lane/machine.ts';
import { createLatencyRecorder } from '../../src/device/lane/runner/latency.ts';
import { PlaybackPipeline } from '../../src/device/lane/runner/playback-pipeline.ts';
import { SAFE_PERCENT } from '../../src/device/lane/sound/headset.ts';
import type { LaneEvent } from '../../src/device/lane/state/lane-event.ts';
import { volumeGain } from '../../src/sound/pcm.ts';
import { LaneHarness } from '../device/lane/lane-harness.ts';
import { needs } from '../needs.ts';
import { spoke } from '../service-events.ts';
import { type Card, type CardOptions, openRack } from './card.ts';
import { clock, laneOf, RATE_HZ, until } from './card-lane.ts';
import { babble, findOnset } from './sound.ts';

const { rack, missing } = await openRack();
rack?.use();
const opened: (() => unknown)[] = [];
afterAll(async () => {
  for (const close of opened.reverse()) await close();
  await rack?.close();
});

const JACK = 'Headphone Jack';
const run = createProgramRunner({ ...process.env, ...rack?.env });

function insert(options: CardOptions): Promise<Card> {
  if (rack === null) throw new Error('the virtual cards are missing');
  return rack.insert(options);
}

/** The reports of a card's jack, oldest first. */
function watch(device: string, detect = JACK) {
  const reports: (boolean | string)[] = [];
  let readings = 0;
  const counted: typeof run = (...words) => {
    readings++;
    return run(...words);
  };
  const plug = watchHeadsetPlug(
    { device, detect },
    { clock, run: counted },
  )({
    changed: (isIn) => void reports.push(isIn),
    lost: (problem) => void reports.push(problem),
    found: () => void reports.push('found'),
  });
  opened.push(() => plug.close());
  return { reports, plug, readings: () => readings };
}

const title = `the headset of a virtual card${missing === null ? '' : `: skipped, ${missing}`}`;

// Not beside the others: the events of one virtual card wake the watchers of all.
describe(title, needs(missing), () => {
  it('is read at its changes alone, however long nothing happens', async ({ expect }) => {
    const card = await insert({ id: 'Quiet', jack: JACK });
    const { reports, readings } = watch(card.device);
    await until('the first state', () => reports.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const before = readings();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect(readings()).toBe(before);
    card.plug(true);
    await until('the plug in', () => reports.length === 2);
  });
});

describe.concurrent(title, needs(missing), () => {
  it('is known to be plugged in or not from the start, and at each change', async ({ expect }) => {
    const card = await insert({ id: 'Jack', jack: JACK });
    card.plug(true);
    const { reports, plug } = watch(card.device);
    await until('the first state', () => reports.length === 1);
    card.plug(false);
    await until('the plug out', () => reports.length === 2);
    card.plug(true);
    await until('the plug in', () => reports.length === 3);
    expect(reports).toEqual([true, false, true]);
    plug.close();
    card.plug(false);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(reports).toHaveLength(3);
  });

  it('counts as out when its card disappears, and is found again', async ({ expect }) => {
    const card = await insert({ id: 'Loose', jack: JACK });
    card.plug(true);
    const { reports } = watch(card.device);
    await until('the first state', () => reports.length === 1);
    card.playback.control('unplug');
    // An open control does not notice that; the next reading does.
    card.plug(true);
    await until('the loss', () => reports.length === 2);
    card.playback.control();
    await until('the return', () => reports.length === 4);
    expect(reports).toEqual([true, `the controls of "${card.device}" cannot be read`, 'found', true]);
  });

  it('is reported by name if the card has no such control', async ({ expect }) => {
    const card = await insert({ id: 'Bare', jack: 'Front Headphone Jack' });
    expect(await readPlug({ device: card.device, detect: JACK }, run)).toEqual({
      problem: `the card of "${card.device}" has no jack control "${JACK}"`,
      fix: expect.stringContaining('amixer -D hw:CARD=Bare controls'),
    });
    expect(await readPlug({ device: card.device, detect: 'Front Headphone Jack' }, run)).toBe(false);
    expect(await readPlug({ device: 'plughw:CARD=Nowhere', detect: JACK }, run)).toMatchObject({
      problem: 'the controls of "plughw:CARD=Nowhere" cannot be read',
    });
    expect(await readPlug({ device: card.device, detect: '/dev/input/nowhere' }, run)).toMatchObject({
      problem: 'there is no input device "/dev/input/nowhere"',
    });
    expect(await readPlug({ device: card.device, detect: '/dev/null' }, run)).toMatchObject({
      problem: '"/dev/null" has no headphone switch',
    });
  });
});

/** A lane whose core, switch and drivers are the agent's, with one card for the room and one for the listener. */
async function privateLane(id: string) {
  const speaker = await insert({ id: `${id}Room` });
  const headset = await insert({ id: `${id}Ear`, jack: JACK });
  const lane = new LaneHarness({ settings: { softEdges: false } }).goLive();
  const events: LaneEvent[] = [];
  const started = clock.now() - lane.now;
  let state = lane.state;
  let cancel = (): void => {};
  const post = (event: LaneEvent): void => {
    queueMicrotask(() => take(event));
  };
  const take = (event: LaneEvent): void => {
    events.push(event);
    const result = step(state, event, clock.now() - started);
    state = result.state;
    for (const effect of result.effects) {
      if (effect.type === 'play') pipeline.play(effect);
      if (effect.type === 'flush_playback') pipeline.flush();
      if (effect.type === 'set_volume') pipeline.setVolume(effect.percent);
      if (effect.type === 'use_output') void pipeline.useOutput(effect.output, effect.percent);
      if (effect.type === 'arm' && effect.timer === 'playout') {
        cancel();
        cancel = clock.at(effect.at + started, () => take({ type: 'timer', timer: 'playout' }));
      }
    }
  };
  const inLaneTime = (event: LaneEvent): LaneEvent =>
    event.type === 'sounding'
      ? { ...event, from: event.from === null ? null : event.from - started, until: event.until - started }
      : event;
  const pipeline: PlaybackPipeline = new PlaybackPipeline({
    clock,
    volume: 100,
    rateHz: RATE_HZ,
    wireToSpeaker: createLatencyRecorder(),
    post: (event) => post(inLaneTime(event)),
    openPlayback: createPlayback(laneOf(speaker.device).playback, RATE_HZ, clock),
    openHeadset: createHeadset(headset.device, RATE_HZ, clock),
  });
  const plug = watchHeadsetPlug(
    { device: headset.device, detect: JACK },
    { clock, run },
  )({ changed: (isIn) => post({ type: 'headset', isIn }), lost() {}, found() {} });
  await pipeline.open();
  opened.push(() => {
    cancel();
    plug.close();
    return pipeline.close();
  });
  await until('the plug to be known', () => events.some(({ type }) => type === 'headset'));
  const say = (name: string, sound: Int16Array): void => {
    const pcm = new Uint8Array(sound.slice().buffer);
    post({
      type: 'service',
      stream: lane.stream,
      said: spoke(pcm, { sentence: name, utterance: name, last: true }),
    });
  };
  return { speaker, headset, say, events };
}

const inEar = (sound: Int16Array): Int16Array =>
  sound.map((sample) => Math.round(sample * volumeGain(SAFE_PERCENT)));
/** The part of a sound from this second on. */
const from = (sound: Int16Array, second: number): Int16Array => sound.subarray(second * RATE_HZ);

describe.concurrent(
  `private listening${missing === null ? '' : `: skipped, ${missing}`}`,
  needs(missing),
  () => {
    it('moves a sentence to the headset within it, and the loudspeaker says no more', async ({ expect }) => {
      const { speaker, headset, say } = await privateLane('In');
      const [first, second] = [babble(RATE_HZ * 6, 1), babble(RATE_HZ, 2)];
      say('a', first);
      await until(
        'the loudspeaker',
        async () => findOnset(await speaker.playback.sound(), first.subarray(0, 2400)) >= 0,
      );
      headset.plug(true);
      say('b', second);
      const heard = async (): Promise<boolean> =>
        findOnset(await headset.playback.sound(), inEar(second)) >= 0;
      await until('the next sentence in the headset', heard);
      const room = await speaker.playback.sound();
      // Neither the end of the sentence nor the next one was heard by others; the headset got the end.
      expect(findOnset(room, from(first, 5))).toBe(-1);
      expect(findOnset(room, second.subarray(0, 2400))).toBe(-1);
      expect(findOnset(await headset.playback.sound(), inEar(from(first, 5)))).toBeGreaterThanOrEqual(0);
    });

    it('keeps the rest of a sentence from the loudspeaker when the plug goes out', async ({ expect }) => {
      const { speaker, headset, say, events } = await privateLane('Out');
      const [first, second] = [babble(RATE_HZ * 6, 3), babble(RATE_HZ, 4)];
      headset.plug(true);
      await until('the headset', () => events.some(({ type }) => type === 'playback_back'));
      say('a', first);
      await until(
        'the headset',
        async () => findOnset(await headset.playback.sound(), inEar(first.subarray(0, 2400))) >= 0,
      );
      headset.plug(false);
      say('b', second);
      await until('the next sentence', async () => findOnset(await speaker.playback.sound(), second) >= 0);
      const room = await speaker.playback.sound();
      // Every sample of the loudspeaker is silence or the next sentence.
      const at = findOnset(room, second);
      expect(room.subarray(0, at).every((sample) => sample === 0)).toBe(true);
      expect(findOnset(await headset.playback.sound(), inEar(from(first, 5)))).toBe(-1);
    });
  },
);
