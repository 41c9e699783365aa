import { describe, expect, it } from 'vitest';
import { heard, spoke, translated, understood } from '../../service-events.ts';
import { createScreenDevice } from './screen-device.ts';

const WORDS = 'words of a visitor';

describe('the view of the screen', () => {
  it('passes captions on to pages, and nowhere else', async () => {
    const { deps, shown, view } = await createScreenDevice();
    deps.service(heard({ id: 't1', text: 'words of' }));
    deps.service(heard({ id: 't1', text: 'words of a' }));
    expect(shown('en')).toBe('words of');
    deps.service(understood({ id: 't1', text: WORDS }));
    deps.service(translated({ id: 't1', text: 'palabras de un visitante' }));
    expect([shown('en'), shown('es')]).toEqual([WORDS, 'palabras de un visitante']);
    deps.clock.advance(120_000);
    view.close();
    expect(JSON.stringify([deps.published, deps.logged])).not.toContain('words of');
  });

  it('numbers every change, and gives a new page the present texts', async () => {
    const { deps, changes, view } = await createScreenDevice();
    deps.service(understood({ id: 't1', text: WORDS }));
    deps.service(translated({ id: 't1', text: 'palabras' }));
    const numbers = changes.map(({ seq }) => seq);
    expect(numbers).toEqual(numbers.map((_, index) => (numbers[0] ?? 0) + index));
    const { seq, texts } = view.snapshot();
    expect(seq).toBe(numbers.at(-1));
    expect(texts.map(({ text, number }) => [number, text])).toEqual([
      [1, WORDS],
      [2, 'palabras'],
    ]);
  });

  it('shows the parts of a conversation one after the other', async () => {
    const { deps, status } = await createScreenDevice();
    expect(status()).toEqual({ kind: 'listening' });
    deps.service(understood({ id: 't1', text: WORDS }));
    expect(status()).toEqual({ kind: 'translating' });
    deps.service(spoke(new Uint8Array(48 * 500), { sentence: 't1', language: 'es', last: true }));
    expect(status()).toEqual({ kind: 'speaking' });
    deps.clock.advance(3000);
    expect(status()).toEqual({ kind: 'listening' });
  });

  it('tells pages of a change that comes by time alone', async () => {
    const { deps, changes } = await createScreenDevice();
    deps.service(spoke(new Uint8Array(48 * 500), { sentence: 't1', language: 'es', last: true }));
    deps.clock.advance(3000);
    const kinds = changes.flatMap(({ status }) => status?.kind ?? []);
    expect(kinds.slice(-2)).toEqual(['speaking', 'listening']);
  });

  it('shows a sentence 3 s after the one before it stands still', async () => {
    const { deps, shown, clock } = await createScreenDevice();
    deps.service(heard({ id: 't1', text: 'the first' }));
    for (let times = 0; times < 2; times++) deps.service(heard({ id: 't2', text: 'the second' }));
    clock.advance(2999);
    expect(shown('en')).not.toContain('second');
    clock.advance(1);
    expect(shown('en')).toContain('second');
  });

  it('tells pages of a notice that the owner has changed', async () => {
    const { deps, changes, clock } = await createScreenDevice();
    Object.assign(deps.config.conversation, { notice: { es: 'Interpreta una máquina.' } });
    clock.advance(1000);
    const texts = changes.flatMap(({ notices = [] }) => notices).filter(({ language }) => language === 'es');
    expect(texts).toEqual([{ language: 'es', text: 'Interpreta una máquina.' }]);
  });

  it('shows the level of the microphone, and none when it is muted', async () => {
    const { deps, changes } = await createScreenDevice();
    deps.speak();
    deps.speak();
    const levels = () => changes.flatMap(({ level }) => level ?? []);
    expect(levels().at(-1)).toBeGreaterThan(5);
    deps.command('mute', { id: 'c1', args: {} });
    deps.speak();
    deps.speak();
    expect(levels().at(-1)).toBe(0);
  });

  it('forgets the words 90 s after the last of them', async () => {
    const { deps, changes, view, clock } = await createScreenDevice({ standbyAfter: 0 });
    deps.service(understood({ id: 't1', text: WORDS }));
    clock.advance(89_000);
    expect(view.snapshot().texts).toHaveLength(1);
    clock.advance(2000);
    expect(view.snapshot()).toMatchObject({ texts: [], conversation: 2 });
    expect(changes.flatMap(({ conversation }) => conversation ?? [])).toEqual([2]);
  });

  it('forgets the words without a page, too', async () => {
    const { deps, view, clock, unwatch } = await createScreenDevice({ standbyAfter: 0 });
    unwatch();
    deps.service(understood({ id: 't1', text: WORDS }));
    clock.advance(91_000);
    expect(view.snapshot().texts).toEqual([]);
  });

  it('forgets the words when the lane stops', async () => {
    const { deps, view, clock } = await createScreenDevice();
    deps.service(understood({ id: 't1', text: WORDS }));
    deps.command('stop', { id: 'c1', args: {} });
    clock.advance(10_000);
    expect(view.snapshot()).toMatchObject({ texts: [], status: { kind: 'closed', until: null } });
  });

  it('forgets the words when the conversation ends, and not in standby before that', async () => {
    const { deps, view, clock } = await createScreenDevice({ standbyAfter: 20 });
    deps.service(understood({ id: 't1', text: WORDS }));
    deps.service(spoke(new Uint8Array(48 * 500), { sentence: 't1', language: 'es', last: true }));
    for (let chunk = 0; chunk < 120; chunk++) {
      deps.speak(20);
      deps.lastStream().listener.pong();
    }
    expect(view.snapshot()).toMatchObject({ texts: [{ text: WORDS }], status: { kind: 'standby' } });
    deps.command('conversation', { id: 'c1', args: { do: 'end' } });
    expect(view.snapshot().texts).toEqual([]);
    // What comes late is forgotten, too.
    deps.service(translated({ id: 't1', part: '0', text: 'palabras' }));
    clock.advance(91_000);
    expect(view.snapshot().texts).toEqual([]);
  });

  it('promises no translation any more when the conversation ends', async () => {
    const { deps, changes, status } = await createScreenDevice();
    deps.service(understood({ id: 't1', text: WORDS }));
    expect(status()).toEqual({ kind: 'translating' });
    deps.command('conversation', { id: 'c1', args: { do: 'end' } });
    expect(changes.flatMap(({ status }) => status?.kind ?? []).at(-1)).toBe('listening');
  });

  it('tells pages of the end of a conversation without words, once', async () => {
    const { deps, changes, view } = await createScreenDevice({ standbyAfter: 0 });
    await deps.agent.carryOut('volume', { percent: 90 });
    await deps.clock.elapse(91_000);
    expect(changes.flatMap(({ conversation }) => conversation ?? [])).toEqual([2]);
    expect(view.snapshot().conversation).toBe(2);
  });

  it('keeps only the latest texts for a page that begins', async () => {
    const { deps, view } = await createScreenDevice();
    for (let number = 0; number < 50; number++)
      deps.service(translated({ id: `t${number}`, text: 'x'.repeat(200) }));
    deps.service(translated({ id: 'long', text: 'y'.repeat(9000) }));
    expect(view.snapshot().texts).toHaveLength(1);
    deps.service(translated({ id: 'short', text: 'z' }));
    expect(view.snapshot().texts.map(({ text }) => text)).toEqual(['z']);
  });

  it('arms no timer when it is closed', async () => {
    const { deps, view, clock } = await createScreenDevice();
    deps.service(understood({ id: 't1', text: WORDS }));
    const armed = clock.armed;
    view.close();
    expect(clock.armed).toBe(armed - 1);
    expect(view.snapshot().texts).toEqual([]);
  });
});
