import { describe, expect, it } from 'vitest';
import { type DemoModel, FIRST_MODEL, notice, observeStep } from '../../../src/cli/demo/model.ts';
import type { Caption } from '../../../src/device/lane/state/lane-effect.ts';
import { EMPTY_BACKLOG } from '../../../src/device/lane/uplink/backlog.ts';
import { SILENT_PLAYOUT } from '../../../src/device/playout/playout.ts';
import type { EventKind } from '../../../src/protocol/mqtt/event.ts';
import { captionStep, LANE, laneStep } from './made-up.ts';

const NOW = 5000;

function hear(...captions: Partial<Caption>[]): DemoModel['exchanges'] {
  return captions.reduce((model, caption) => observeStep(model, captionStep(caption), 0, NOW), FIRST_MODEL)
    .exchanges;
}

function notify(kind: EventKind, detail: Record<string, unknown>): string | undefined {
  const step = laneStep({ effects: [{ type: 'notify', kind, detail }] });
  return observeStep(FIRST_MODEL, step, 0, NOW).notices.at(-1)?.text;
}

const interim = (text: string, id: string | null = null): Partial<Caption> => ({
  isFinal: false,
  text,
  id,
});
const final = (text: string, id: string | null = null): Partial<Caption> => ({ text, id });
const translated = (text: string, id: string | null = null, language = 'es'): Partial<Caption> => ({
  kind: 'translation',
  language,
  text,
  id,
});
const translating = (text: string, id: string | null = null): Partial<Caption> => ({
  ...translated(text, id),
  isFinal: false,
});

it('joins a message without its full stop to the rest of the notice', () => {
  const parked = notify('parked', { message: 'The service cannot be reached.', retry_ms: 6500 });
  expect(parked).toBe('The service cannot be reached; next try in 6.5 s');
});

describe('the broker', () => {
  const line = (model: DemoModel, up: boolean) =>
    observeStep(model, laneStep({ event: { type: 'broker', up } }), 0, NOW);

  it('causes one notice when it goes and one when it returns, but none at the first connection', () => {
    const first = line(line(FIRST_MODEL, false), true);
    expect(first.notices).toEqual([]);
    const gone = line(line(first, false), false);
    expect(gone.broker).toBe('gone');
    expect(gone.notices.map(({ text }) => text)).toEqual([
      'the broker is gone: no token can be requested until it is back',
    ]);
    const back = line(gone, true);
    expect(back.broker).toBe('up');
    expect(back.notices.at(-1)?.text).toBe('the broker is back');
  });
});

describe('sentences', () => {
  it('are replaced by newer partials until they are final', () => {
    expect(hear(interim('Good'), interim('Good morning'))).toMatchObject([
      { seq: 0, source: 'Good morning', isFinal: false },
    ]);
    expect(hear(interim('Good'), final('Good morning.'))).toMatchObject([
      { seq: 0, source: 'Good morning.', isFinal: true },
    ]);
  });

  it('are in order without names', () => {
    const exchanges = hear(
      final('One.'),
      interim('Tw'),
      translated('Uno.'),
      final('Two.'),
      translated('Dos.'),
    );
    expect(exchanges).toMatchObject([
      { seq: 0, source: 'One.', translations: [{ language: 'es', text: 'Uno.', isFinal: true }] },
      { seq: 1, source: 'Two.', translations: [{ language: 'es', text: 'Dos.', isFinal: true }] },
    ]);
  });

  it('are distinguished by their names in any order', () => {
    const exchanges = hear(
      final('One.', 'a'),
      interim('Two', 'b'),
      translated('Uno.', 'a'),
      translated('Un.', 'a', 'fr'),
      final('Two.', 'b'),
    );
    expect(exchanges).toMatchObject([
      { id: 'a', translations: [{ text: 'Uno.' }, { language: 'fr', text: 'Un.' }] },
      { id: 'b', source: 'Two.', isFinal: true, translations: [] },
    ]);
  });

  it('stay final when a partial arrives late', () => {
    expect(hear(final('One.', 'a'), interim('On', 'a'))).toMatchObject([{ source: 'One.', isFinal: true }]);
    const late = hear(final('One.', 'a'), translated('Uno.', 'a'), translating('Un', 'a'));
    expect(late[0]?.translations).toEqual([{ language: 'es', text: 'Uno.', isFinal: true }]);
  });

  it('mark partial translations as not final', () => {
    const exchanges = hear(interim('On', 'a'), translating('Un', 'a'), translating('Uno', 'a'));
    expect(exchanges[0]?.translations).toEqual([{ language: 'es', text: 'Uno', isFinal: false }]);
  });

  it('are not created by a translation alone', () => {
    expect(hear(translated('Uno.'))).toEqual([]);
  });

  it('are limited in number, and keep counting', () => {
    const exchanges = hear(...Array.from({ length: 120 }, (_, index) => final(`${index}`, `id-${index}`)));
    expect(exchanges.length).toBeLessThanOrEqual(50);
    expect(exchanges.at(-1)).toMatchObject({ seq: 119, source: '119' });
  });
});

describe('levels and backlog', () => {
  const levels = { loudestDb: -23, quietestDb: -60 };

  it('come from the last captured chunk', () => {
    const step = laneStep({ event: { type: 'captured', capturedAt: NOW, pcm: new Uint8Array(2), levels } });
    const model = observeStep(FIRST_MODEL, step, 777, NOW);
    expect(model).toMatchObject({ inputDb: -23, elapsedMs: 777 });
    expect(observeStep(model, laneStep(), 800, NOW).inputDb).toBe(-23);
  });

  it('follow the played sound, and fall when it ends', () => {
    const pcm = new Uint8Array(new Int16Array(480).fill(3277).buffer);
    const playout = { ...SILENT_PLAYOUT, heard: { from: NOW - 100, until: NOW + 100 } };
    const play = { type: 'play', pcm, kind: 'speech', write: 1, receivedAt: null } as const;
    const playing = laneStep({ effects: [play], after: { playout } });
    const model = observeStep(FIRST_MODEL, playing, 0, NOW);
    expect(model.isPlaying).toBe(true);
    expect(model.outputDb).toBeCloseTo(-20, 0);
    const over = observeStep(model, laneStep({ after: { playout } }), 0, NOW + 100);
    expect(over).toMatchObject({ isPlaying: false, outputDb: -96 });
  });

  it('count the unsent speech, without its pauses', () => {
    const chunk = { seq: 0, capturedAt: 0, pcm: null, voiced: true, queued: false };
    const step = laneStep({
      after: {
        session: { kind: 'waiting', lease: null, wait: null },
        backlog: { ...EMPTY_BACKLOG, chunks: [chunk, chunk, chunk, { ...chunk, voiced: false }] },
      },
    });
    expect(observeStep(FIRST_MODEL, step, 0, NOW)).toMatchObject({
      phase: 'waiting',
      backlogMs: 3 * LANE.settings.chunkMs,
    });
  });
});

describe('notices', () => {
  it('describe occurrences, each with its time and number', () => {
    const effects = [{ type: 'request_token', id: 'x', reason: 'revoked', attempt: 1 } as const];
    const model = notice(observeStep(FIRST_MODEL, laneStep({ effects }), 1500, NOW), 'mine', 1600);
    expect(model.notices).toEqual([
      { seq: 0, atMs: 1500, text: 'requests a token from the backend (revoked)' },
      { seq: 1, atMs: 1600, text: 'mine' },
    ]);
  });

  it.each<[EventKind, Record<string, unknown>, string]>([
    ['session_started', { session: 'abc' }, 'session abc is live'],
    ['session_ended', { session: 'abc', cause: 'session_revoked' }, 'session abc ended: session revoked'],
    ['refused', { message: 'no room', retry_ms: 2340 }, 'no room; next try in 2.3 s'],
    ['audio_lost', { device: 'capture', message: 'unplugged' }, 'capture lost: unplugged'],
    ['audio_back', { device: 'capture' }, 'capture is back'],
  ])('describe the event %s in words', (kind, detail, text) => {
    expect(notify(kind, detail)).toBe(text);
  });

  it('are limited in number, and keep counting', () => {
    let model = FIRST_MODEL;
    for (let i = 0; i < 200; i++) model = notice(model, `${i}`, i);
    expect(model.notices.length).toBeLessThanOrEqual(50);
    expect(model.notices.at(-1)).toMatchObject({ seq: 199, text: '199' });
  });
});

describe('a translation in parts', () => {
  it('joins its parts, each replaced by its newer text', () => {
    const said = { id: 's', text: 'One. Two.' };
    const part = (name: string, text: string, isFinal: boolean) =>
      ({ kind: 'translation', isFinal, id: 's', part: name, language: 'es', text }) as const;
    const first = part('0', 'Uno.', true);
    const interim = part('1', 'D', false);
    const second = part('1', 'Dos.', true);
    const textOf = (...captions: Partial<Caption>[]) =>
      hear(said, ...captions)[0]?.translations.map(({ text }) => text);
    expect(textOf(first)).toEqual(['Uno.']);
    expect(textOf(first, interim)).toEqual(['Uno. D']);
    expect(textOf(first, interim, second)).toEqual(['Uno. Dos.']);
  });
});
