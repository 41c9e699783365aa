import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { connectAsync } from 'mqtt';
import { afterAll, describe, it } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { createLogger } from '../../src/adapters/log.ts';
import { startBroker } from '../../src/cli/demo/broker.ts';
import { Agent } from '../../src/device/agent.ts';
import { createMachineDeps } from '../../src/device/machine-deps.ts';
import { configSchema } from '../../src/protocol/config.ts';
import { deviceTopics } from '../../src/protocol/mqtt/topics.ts';
import { createConsultation } from '../cli/doctor/consultation.ts';
import { needs } from '../needs.ts';
import { type Card, type CardOptions, LOUDEST, openRack } from './card.ts';
import { type Loudspeaker, openPipeline as openPipelineAt, RATE_HZ, until } from './card-lane.ts';
import { babble, findOnset } from './sound.ts';

const fixture = createConsultation();
const { rack, missing } = await openRack();
rack?.use();
/** Functions that close opened parts, in reverse order. */
const opened: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of opened.reverse()) await close();
  await rack?.close();
  fixture.close();
});

const run = promisify(execFile);
const clock = createSystemClock();
const log = createLogger({ level: 'error', format: 'json', sink: { write() {} } });
/** Control steps of volume 50 (-18 dB) and volume 20 (-42 dB). */
const [HALF, FIFTH] = [LOUDEST - 18, LOUDEST - 42];
const SPEAKER = { control: { name: 'Speaker' } };

const title = `the volume of a virtual card${missing === null ? '' : `: skipped, ${missing}`}`;

/** The real amixer sets the card's control, which changes the played sound. */
describe.concurrent(title, needs(missing), () => {
  it('is set and unmuted by the configuration, and set by command', async ({ expect }) => {
    const card = await insert({ id: 'Ordered', playback: { control: { name: 'Master', on: false } } });
    const broker = await startBroker();
    opened.push(() => broker.close());
    const { device } = card;
    const config = configSchema.parse({
      device: { id: 'kiosk', tenant: 'test' },
      mqtt: { url: broker.url },
      lanes: [
        {
          source: 'en',
          targets: ['es'],
          start: 'command',
          capture: { device },
          playback: { device, volume: 50 },
        },
      ],
    });
    const agent = new Agent(config, await createMachineDeps(config, clock, log, {}));
    opened.push(() => agent.stop());
    await agent.start();
    await until('volume 50', isAt(card, HALF));

    const operator = await connectAsync(broker.url);
    opened.push(() => operator.endAsync());
    const topics = deviceTopics({ prefix: config.mqtt.prefix, tenant: 'test', device: 'kiosk' });
    const answers: unknown[] = [];
    let isThere = false;
    operator.on('message', (topic, text) => {
      if (topic === topics.status) isThere = true;
      else answers.push(JSON.parse(text.toString()));
    });
    await operator.subscribeAsync([topics.status, topics.commandResponse('volume')]);
    await until('the agent at the broker', () => isThere);
    const order = { id: 'quieter', args: { percent: 20 } };
    await operator.publishAsync(topics.command('volume'), JSON.stringify(order));
    await until('volume 20', isAt(card, FIFTH));
    await until('the answer', () => answers.length > 0);
    expect(answers).toMatchObject([{ id: 'quieter', status: 'ok' }]);
  });

  it.for([
    { id: 'Own', playback: SPEAKER, knob: HALF, gain: 10 ** (-18 / 20) },
    { id: 'None', playback: {}, knob: null, gain: 0.5 ** 3 },
    // A microphone's control does not affect a loudspeaker.
    { id: 'Mic', playback: {}, capture: { control: { name: 'Master' } }, knob: null, gain: 0.5 ** 3 },
  ])(
    'changes the played sound, on the card or before it: $id',
    async ({ knob, gain, ...options }, { expect }) => {
      const card = await insert(options);
      const loudspeaker = await openPipeline(card.device, 50);
      await until('the volume', () => knob === null || card.playback.knob()?.volume === knob);
      const sentence = babble(RATE_HZ / 2, 1);
      const quieter = sentence.map((sample) => Math.round(sample * gain));
      await sayUntilHeard(loudspeaker, sentence, card, quieter.subarray(-64));
      const sounded = await card.playback.sound();
      expect(findOnset(sounded, quieter)).toBeGreaterThanOrEqual(0);
      expect(findOnset(sounded, sentence)).toBe(-1);
      expect(card.playback.knob()?.volume ?? null).toBe(knob);
      expect(card.capture.knob()?.volume ?? LOUDEST).toBe(LOUDEST);
    },
  );

  it('keeps a change by others until the next command', async ({ expect }) => {
    const card = await insert({ id: 'Meddled', playback: SPEAKER });
    const { playbackPipeline } = await openPipeline(card.device, 50);
    await until('volume 50', isAt(card, HALF));
    await run('amixer', ['-q', '-D', 'hw:CARD=Meddled', 'sset', 'Speaker', '3', 'mute'], env());
    expect(card.playback.knob()).toEqual({ volume: 3, on: false });
    playbackPipeline.setVolume(50);
    await until('volume 50', isAt(card, HALF));
  });

  it('has the value of the last of many commands', async () => {
    const card = await insert({ id: 'Hasty', playback: SPEAKER });
    const { playbackPipeline } = await openPipeline(card.device, 100);
    for (let percent = 0; percent < 100; percent += 7) playbackPipeline.setVolume(percent);
    playbackPipeline.setVolume(20);
    await until('volume 20', isAt(card, FIFTH));
    playbackPipeline.setVolume(0);
    await until('silence', isAt(card, 0));
  });

  it('is set again on a card that returns with another volume', async () => {
    const card = await insert({ id: 'Forgetful', playback: SPEAKER });
    const { say, events } = await openPipeline(card.device, 50);
    await until('volume 50', isAt(card, HALF));
    card.playback.control('unplug');
    // Only writing shows that a card is gone, and a busy machine may miss sound while it opens the card: play repeatedly.
    const isLost = (): boolean => {
      say(babble(RATE_HZ / 2, 3));
      return events.includes('audio_fault');
    };
    await until('the fault', isLost, undefined, 500);
    card.playback.turn({ volume: LOUDEST, on: false });
    card.playback.control();
    await until('the report', () => events.includes('playback_back'));
    await until('volume 50', isAt(card, HALF));
  });

  it('is set on a card that is plugged in later', async () => {
    const loudspeaker = await openPipeline('plughw:CARD=Tardy', 50);
    await until('the fault', () => loudspeaker.events.includes('audio_fault'));
    const card = await insert({ id: 'Tardy', playback: SPEAKER });
    await until('volume 50', isAt(card, HALF));
    const sentence = babble(RATE_HZ / 2, 2);
    const quieter = sentence.map((sample) => Math.round(sample * 10 ** (-18 / 20)));
    await sayUntilHeard(loudspeaker, sentence, card, quieter);
  });
});

const doctorTitle = `dragoman doctor at a card with controls${missing === null ? '' : `: skipped, ${missing}`}`;

describe.concurrent(doctorTitle, needs(missing), () => {
  const examine = async (card: Card, devices: { capture?: string; playback?: string } = {}) => {
    const { capture = card.device, playback = card.device } = devices;
    const lane = {
      source: 'en',
      targets: ['es'],
      capture: { device: capture },
      playback: { device: playback },
    };
    const file = fixture.config(`${capture}-${playback}`, { lanes: [lane] });
    const found = await fixture.examine(file, ['--only', 'mixer'], { ...process.env, ...rack?.env });
    return { ...found, mixer: found.of('mixer') };
  };
  const MIC = { control: { name: 'Mic' } };

  it('reports no problem of an unmuted control', async ({ expect }) => {
    const { mixer, exitCode } = await examine(await insert({ id: 'Well', playback: SPEAKER, capture: MIC }));
    expect(exitCode).toBe(0);
    expect(mixer).toMatchObject({
      verdict: 'ok',
      finding: expect.stringMatching(/card Well, capture: 'Mic' 100 %.*card Well, playback: 'Speaker' 100 %/),
    });
  });

  it.for<[string, CardOptions, RegExp]>([
    [
      'a loudspeaker that is switched off',
      { id: 'Off', playback: { control: { name: 'Speaker', on: false } }, capture: MIC },
      /^the loudspeaker is switched off: 'Speaker' of card Off$/,
    ],
    [
      'a loudspeaker at nothing',
      { id: 'Down', playback: { control: { name: 'Master', volume: 0 } }, capture: MIC },
      /^the loudspeaker is turned down to 0: 'Master' of card Down$/,
    ],
    [
      'a microphone that is switched off',
      { id: 'Deaf', playback: SPEAKER, capture: { control: { name: 'Capture', on: false } } },
      /^the microphone is switched off: 'Capture' of card Deaf$/,
    ],
  ])('reports %s, with a fix that works', async ([, options, finding], { expect }) => {
    const card = await insert({ ...options, channels: 2 });
    const { mixer, exitCode } = await examine(card);
    expect(exitCode).toBe(3);
    expect(mixer).toMatchObject({ verdict: 'problem', finding: expect.stringMatching(finding) });
    const [, command = ''] = /: (amixer .+?);/.exec(mixer.fix ?? '') ?? [];
    await run('sh', ['-c', command], env());
    expect((await examine(card)).mixer.verdict, command).toBe('ok');
  });

  it('accepts a card without controls, and a device name without a mixer', async ({ expect }) => {
    const bare = await examine(await insert({ id: 'Bare' }));
    expect(bare.mixer).toMatchObject({
      verdict: 'skipped',
      finding: expect.stringContaining('card Bare has no control for playback'),
    });
    const unknown = await examine(
      await insert({ id: 'Other', playback: { control: { name: 'Speaker', on: false } } }),
      {
        capture: 'a_microphone',
        playback: 'a_loudspeaker',
      },
    );
    expect(unknown.mixer).toMatchObject({
      verdict: 'skipped',
      finding: expect.stringContaining('"a_loudspeaker" has no mixer'),
    });
  });
});

/** Plays a sentence until it is heard. A busy machine that restarts the player may miss it; then it is played again. */
async function sayUntilHeard(
  { say, events }: Loudspeaker,
  sentence: Int16Array,
  card: Card,
  heard: Int16Array,
): Promise<void> {
  let saidAt = -1;
  await until('the sentence', async () => {
    const backs = events.filter((event) => event === 'playback_back').length;
    if (backs > saidAt) say(sentence);
    saidAt = backs;
    return findOnset(await card.playback.sound(), heard) >= 0;
  });
}

/** Whether its control is unmuted and has this position. */
const isAt = (card: Card, volume: number) => (): boolean => {
  const knob = card.playback.knob();
  return knob?.volume === volume && knob.on;
};

const env = () => ({ env: rack?.env ?? {} });

function insert(options: CardOptions): Promise<Card> {
  if (rack === null) throw new Error('the virtual cards are missing');
  return rack.insert(options);
}

async function openPipeline(device: string, volume: number) {
  const loudspeaker = await openPipelineAt(device, volume);
  opened.push(() => loudspeaker.playbackPipeline.close());
  return loudspeaker;
}
