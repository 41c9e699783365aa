import { expect, test } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import { resolveChoices } from '../../src/emulator/core/choices.ts';
import { createService } from '../../src/emulator/core/service.ts';
import { createRuntime } from '../../src/emulator/runtime.ts';
import { createSpeechQueue } from '../../src/emulator/speech-queue.ts';
import { createEnergyDetector } from '../../src/sound/energy-detector.ts';
import { createHarness, sentence, task } from './core/harness.ts';
import { chunks } from './core/voice.ts';

const LANGUAGES = ['es', 'de', 'fr', 'it', 'ja'];

test('makes one rendering in each turn when several are ordered, so that sockets are served in between', async () => {
  const service = createService({
    choices: resolveChoices('live', { setupMs: 0 }),
    keys: { apiKeys: ['key'], jwts: [], clients: [] },
    random: Math.random,
    createDetector: createEnergyDetector,
    wallAtZero: 0,
  });
  let rendered = 0;
  const take = service.rendered.bind(service);
  service.rendered = (...given) => {
    rendered++;
    take(...given);
  };
  const clock = createSystemClock();
  const runtime = createRuntime({
    clock,
    service,
    perform: () => {},
    speak: null,
  });
  const opening = runtime.act((now) => service.open({ secret: 'key', intent: 's2s' }, now));
  if (opening.kind === 'refused') throw new Error(opening.reason);
  const { stream } = opening;
  runtime.act((now) => service.receive(stream, { message_type: 'set_task', data: task({}, LANGUAGES) }, now));
  for (const pcm of chunks(sentence(), 24_000)) runtime.act((now) => service.hear(stream, pcm, 20_480, now));
  let mostInATurn = 0;
  while (rendered < LANGUAGES.length) {
    const before = rendered;
    await new Promise((resolve) => setImmediate(resolve));
    mostInATurn = Math.max(mostInATurn, rendered - before);
  }
  runtime.close();
  expect(mostInATurn).toBe(1);
});

test('refuses and counts sentences when too many wait for their speech', async () => {
  const job = {
    stream: 's',
    sentence: 's-1',
    mode: 'silence',
    spoken: new Int16Array(10),
    spokenHz: 24_000,
    text: 'x',
    language: 'es',
    voice: 'high',
    variant: 0,
    tempo: 1,
    outputHz: 24_000,
    outputChannels: 1,
  } as const;
  const finished: number[] = [];
  const queue = createSpeechQueue({
    clock: createSystemClock(),
    speak: null,
    isWanted: () => true,
    finished: ({ id }) => finished.push(id),
  });
  const taken = Array.from({ length: 1100 }, (_, id) => queue.put({ ...job, id }));
  expect(taken.filter((isTaken) => isTaken)).toHaveLength(1000);
  expect(queue.figures()).toMatchObject({ waiting: 1000, dropped: 100 });
  await expect.poll(() => queue.isIdle).toBe(true);
  expect(finished).toEqual(Array.from({ length: 1000 }, (_, id) => id));
  queue.close();
});

test('excuses a silence when the service was too busy to listen', () => {
  const harness = createHarness({}, 'live');
  const stream = harness.open();
  harness.run(stream);
  harness.speak(stream, sentence());
  harness.pass(3000);
  harness.service.excuse(6000);
  harness.pass(12_000);
  expect(harness.messages(stream, 'error')).toEqual([]);
  expect(harness.messages(stream, 'warning')).toHaveLength(1);
  harness.pass(1500);
  expect(harness.messages(stream, 'error')[0]?.data['code']).toBe('SERVICE_TIMEOUT');
});
