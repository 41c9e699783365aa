import { describe, expect, it } from 'vitest';
import type { DemoModel } from '../../../src/cli/demo/model.ts';
import { createPlainView } from '../../../src/cli/demo/plain-view.ts';
import { account, demoModel, exchange } from './made-up.ts';

function setUp() {
  const lines: string[] = [];
  const view = createPlainView((text) => void lines.push(text));
  return { lines, update: (more: Partial<DemoModel>) => view.update(demoModel(more), account()) };
}

describe('plain view', () => {
  it('prints each phase when it changes', () => {
    const { lines, update } = setUp();
    update({ phase: 'acquiring', elapsedMs: 100 });
    update({ phase: 'acquiring', elapsedMs: 200 });
    update({ phase: 'live', elapsedMs: 2345 });
    expect(lines).toEqual(['   0.1 s  phase    acquiring\n', '   2.3 s  phase    live\n']);
  });

  it('prints each notice once, also when old ones were removed', () => {
    const { lines, update } = setUp();
    const notices = ['one', 'two', 'three'].map((text, seq) => ({ seq, atMs: seq * 1000, text }));
    update({ notices: notices.slice(0, 2) });
    update({ notices: notices.slice(1, 3) });
    expect(
      lines.map((line) =>
        line
          .trim()
          .split(/\s{2,}/)
          .at(-1),
      ),
    ).toEqual(['one', 'two', 'three']);
  });

  it('prints a sentence and its translation once, when each is final', () => {
    const { lines, update } = setUp();
    const whole = exchange(0, 'Good morning.', 'Buenos días.');
    const interim = { language: 'es', text: 'Buenos', isFinal: false };
    update({ exchanges: [{ ...whole, source: 'Good', isFinal: false, translations: [interim] }] });
    expect(lines).toEqual([]);
    update({ exchanges: [{ ...whole, translations: [interim] }] });
    update({ exchanges: [whole] });
    update({ exchanges: [whole] });
    expect(lines).toEqual(['   0.0 s  said en  Good morning.\n', '   0.0 s  to es    Buenos días.\n']);
  });

  it('prints one line per item, whatever it contains', () => {
    const { lines, update } = setUp();
    const evil = 'a\u001b[2J\r\nb\u009b31m\u202ec';
    update({
      exchanges: [{ ...exchange(0, evil, evil), sourceLanguage: evil }],
      notices: [{ seq: 0, atMs: 0, text: evil }],
    });
    expect(lines).toHaveLength(3);
    for (const line of lines) expect(line).toMatch(/^[^\p{Cc}\u202e]+\n$/u);
  });
});
