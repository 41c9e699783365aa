import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { formatProblem } from '../../src/adapters/config/layer.ts';
import { loadConfig } from '../../src/adapters/config/load.ts';
import { KEY_NAMES, keyCode, keyName } from '../../src/protocol/key-names.ts';
import { COMMANDS } from '../../src/protocol/mqtt/commands/registry.ts';
import { speakPlainly } from '../../src/protocol/plain-issues.ts';

let folder = '';
beforeEach(() => {
  speakPlainly();
  folder = mkdtempSync(join(tmpdir(), 'dragoman-keys-config-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** What is wrong with a configuration that has these keys. */
function problemsOf(keys: unknown, lane: object = {}, more: object = {}): string[] {
  const file = join(folder, 'config.json');
  const given = {
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: 'mqtts://broker.example' },
    lanes: [{ id: 'desk', source: 'en', targets: ['es'], ...lane }],
    keys,
    ...more,
  };
  writeFileSync(file, JSON.stringify(given));
  const result = loadConfig({ file, env: {} });
  return result.ok ? [] : result.problems.map((problem) => formatProblem({ ...problem, source: null }));
}
const key = (command: string, args: object = {}, more: object = {}) => ({
  device: '/dev/input/by-id/pad',
  key: 'KEY_F1',
  do: { command, args },
  ...more,
});

describe('keys of the configuration', () => {
  it('are accepted with any command that needs no signature', () => {
    const given = [
      key('languages', { step: 1 }),
      key('conversation', { do: 'end', lane: 'desk' }),
      key('unmute', {}, { on: 'hold' }),
      key('volume', { percent: 50 }, { key: 'BTN_LEFT' }),
      key('identify'),
      ...['open', 'back', 'next', 'choose', 'repeat'].map((what) => key('menu', { do: what })),
    ];
    expect(problemsOf(given, { offer: ['es', 'fr'] })).toEqual([]);
  });

  it('are refused with an unknown name, and the nearest one is named', () => {
    const [problem, ...more] = problemsOf([key('mute', {}, { key: 'KEY_FF1' })]);
    expect(more).toEqual([]);
    expect(problem).toMatch(/keys\[0\]\.key: .*dragoman devices --keys.*did you mean "KEY_F1"\?/);
    expect(problem?.length).toBeLessThan(250);
  });

  it('are refused with a command that needs a signature', () => {
    const signed = Object.entries(COMMANDS).filter(([, one]) => 'mustBeSigned' in one);
    expect(signed.length).toBeGreaterThan(0);
    for (const [command] of signed)
      expect(problemsOf([key(command)])).toEqual([
        expect.stringMatching(/keys\[0\]\.do\.command.*the owner signs this one, and a key cannot sign/),
      ]);
  });

  it.each([
    ['an unknown command', key('languagse', { step: 1 }), /do\.command.*did you mean "languages"/],
    ['a wrong argument', key('volume', { percent: 200 }), /do\.args\.percent.*at most 100/],
    ['an unknown argument', key('mute', { lan: 'desk' }), /do\.args.*"lan"/],
    ['no such lane', key('mute', { lane: 'left' }), /do\.args\.lane.*"desk"/],
    ['a hold without an opposite', key('volume', { percent: 5 }, { on: 'hold' }), /keys\[0\]\.on.*"press"/],
    ['an unknown key of the menu', key('menu', { do: 'up' }), /keys\[0\]\.do\.args\.do.*"back"/],
    ['a key of the menu without its name', key('menu'), /keys\[0\]\.do\.args\.do/],
    ['a menu at no such lane', key('menu', { do: 'next', lane: 'left' }), /do\.args\.lane.*"desk"/],
    ['a held key of the menu', key('menu', { do: 'next' }, { on: 'hold' }), /keys\[0\]\.on.*"press"/],
    ['a device that is not a path', key('mute', {}, { device: 'event0' }), /keys\[0\]\.device.*\/dev\/input/],
  ])('are refused with %s', (_name, given, message) => {
    expect(problemsOf([given])).toEqual([expect.stringMatching(message)]);
  });

  it('are named as by the kernel', () => {
    expect([keyCode('KEY_ESC'), keyCode('KEY_F1'), keyCode('BTN_LEFT'), keyCode('KEY_FN')]).toEqual([
      1, 59, 0x110, 0x1d0,
    ]);
    for (const name of KEY_NAMES) {
      const code = keyCode(name) ?? 0;
      expect(keyCode(keyName(code) ?? '')).toBe(code);
    }
    expect([keyCode('KEY_NOPE'), keyName(0xffff)]).toEqual([null, null]);
  });
});

describe('languages for visitors', () => {
  it('are refused when the service does not speak them, or twice', () => {
    expect(problemsOf([], { offer: ['es', 'cy'] })).toEqual([
      expect.stringMatching(/lanes\[0\]\.offer\[1\].*must be a language that the service speaks/),
    ]);
    expect(problemsOf([], { offer: ['es', 'ES'.toLowerCase()] })).toEqual([expect.stringMatching(/twice/)]);
    expect(problemsOf([], { offer: ['pt-BR', 'zh-Hant'] })).toEqual([]);
  });
});

describe('the notice of a conversation', () => {
  it.each([
    [{ notice: 'yes' }, /conversation\.notice/],
    [{ notice: { Spanish: 'Hola' } }, /conversation\.notice/],
    [{ notice: { es: '' } }, /conversation\.notice/],
    [{ endAfter: 1 }, /conversation\.endAfter.*10/],
  ])('is refused as %j', (conversation, message) => {
    expect(problemsOf([], {}, { conversation })).toEqual([expect.stringMatching(message)]);
  });

  it('may be switched off, or have own texts', () => {
    for (const notice of [true, false, { es: 'Una IA.' }])
      expect(problemsOf([], {}, { conversation: { notice } })).toEqual([]);
  });
});

describe('phrases of the house', () => {
  const many = (count: number) => Array.from({ length: count }, (_, at) => ({ en: `Phrase ${at}` }));
  it.each([
    [{ list: [] }, /^phrases\.list: .*at least one phrase/],
    [{ list: many(21) }, /^phrases\.list: .*at most 20 phrases/],
    [{ folder: 'phrases' }, /^phrases\.list: is missing/],
    [{ list: [{}] }, /^phrases\.list\[0\]: .*at least one language/],
    [{ list: [{ EN: 'Yes.' }] }, /^phrases\.list\[0\]\.EN: .*must be a language tag such as/],
    [{ list: [{ 'pt-BR': 'Sim.', 'pt-br': 'Sim.' }] }, /^phrases\.list\[0\]: .*must not name.*"pt-br" twice/],
    [{ list: [{ English: 'Yes.' }] }, /^phrases\.list\[0\]\.English: .*language tag such as "en"/],
    [{ list: [{ en: 'Yes.' }, { es: ' ' }] }, /^phrases\.list\[1\]\.es: .*must not be empty/],
    [{ list: [{ en: 'x'.repeat(161) }] }, /^phrases\.list\[0\]\.en: .*at most 160 characters/],
    [{ list: [{ en: 'one\ntwo' }] }, /^phrases\.list\[0\]\.en: .*control characters/],
    [{ list: [{ en: 7 }] }, /^phrases\.list\[0\]\.en: /],
    [{ folder: '', list: many(1) }, /^phrases\.folder: .*must name a file|must name/],
    [{ sounds: 'phrases', list: many(1) }, /^phrases\.sounds: is not a known key/],
  ])('are refused as %j', (phrases, message) => {
    expect(problemsOf([], {}, { phrases })).toEqual([expect.stringMatching(message)]);
  });

  it('may be twenty, with texts of 160 letters, with or without sound files', () => {
    const list = [{ en: 'x'.repeat(160), 'zh-Hant': '請稍候。' }, ...many(19)];
    for (const phrases of [null, { list }, { folder: null, list }, { folder: '/etc/dragoman/phrases', list }])
      expect(problemsOf([], {}, { phrases })).toEqual([]);
  });
});
