/** Wrong arguments of `dragoman ctl`: each gives one sentence that names it and exit code 2; nothing is sent. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { VERB_NAMES } from '../../../src/cli/ctl/verbs.ts';
import { ctlOfEachTest } from './ctl-on-loopback.ts';

const ctl = ctlOfEachTest();

/** Valid arguments of each verb. */
const RIGHT: Readonly<Record<string, readonly string[]>> = {
  volume: ['60'],
  languages: ['--targets', 'es'],
  echo: ['off'],
  voice: ['none'],
  say: ['hello', '--language', 'es'],
  'log-level': ['info'],
  config: ['get'],
  conversation: ['begin'],
  turn: ['source'],
  update: ['1.3.0-1'],
};
/** Verbs without a device. */
const TALKS = VERB_NAMES.filter((verb) => verb !== 'help');

/** Wrong values of each verb's arguments, and the names that the error must contain. */
const WRONG: readonly (readonly [verb: string, words: readonly string[], names: RegExp])[] = [
  ['volume', ['sixty'], /percent/],
  ['volume', [' '], /percent/],
  ['volume', ['1e3'], /percent/],
  ['languages', ['--targets', ''], /targets/],
  ['languages', ['--targets', 'es,es'], /targets/],
  ['languages', ['--targets', 'es,,fr'], /targets/],
  ['languages', ['--source', 'en', '--lane', 'No Lane'], /lane/],
  ['echo', ['LOUD'], /mode/],
  ['voice', ['v'.repeat(129)], /voice/],
  ['say', ['x'.repeat(2049), '--language', 'es'], /text/],
  ['say', ['hello'], /language/],
  ['identify', ['--seconds', 'soon'], /seconds/],
  ['log-level', ['loud'], /level/],
  ['log-level', ['info', '--minutes', 'x'], /minutes/],
  ['logs', ['--minutes', '61'], /minutes/],
  ['start', ['--until', 'tomorrow'], /until/],
  ['start', ['--lane', ''], /lane/],
  ['config', ['set', 'main.nothing=1'], /nothing/],
  ['config', ['set', 'main.targets'], /targets/],
  ['config', ['set', '=es'], /=es|key/],
  ['config', ['set', 'Main Lane.echo=off'], /Main Lane/],
  ['config', ['unset', 'main.rolloverLead'], /rolloverLead/],
];

const isOneSentence = (text: string): boolean => text.startsWith('dragoman: ') && text.length < 700;

describe('a wrong argument of ctl', () => {
  it('is tested for every verb', () => {
    const known = new Set([...WRONG.map(([verb]) => verb), ...TALKS]);
    expect([...known].filter((verb) => !VERB_NAMES.includes(verb))).toEqual([]);
    const takesValues = [
      'volume',
      'languages',
      'echo',
      'voice',
      'say',
      'identify',
      'log-level',
      'logs',
      'config',
    ];
    expect(takesValues.filter((verb) => !WRONG.some(([one]) => one === verb))).toEqual([]);
  });

  it.each(WRONG)('is named in the error: %s %j', async (verb, words, names) => {
    const device = await ctl.device('kiosk-01');
    const ran = await ctl.run('kiosk-01', verb, ...words, '--timeout', '1');
    expect(ran).toMatchObject({ exitCode: 2, printed: '' });
    expect(ran.complained).toMatch(names);
    expect(isOneSentence(ran.complained)).toBe(true);
    expect(device.received).toEqual([]);
  });

  const isRefused = async (words: readonly string[], names: RegExp): Promise<void> => {
    const ran = await ctl.run('kiosk-01', ...words);
    expect([words, ran.exitCode]).toEqual([words, 2]);
    expect(ran.complained).toMatch(names);
    expect(isOneSentence(ran.complained)).toBe(true);
  };

  it.each(TALKS)('%s rejects unknown options and extra words', async (verb) => {
    const device = await ctl.device('kiosk-01');
    const right = [verb, ...(RIGHT[verb] ?? [])];
    await isRefused([...right, '--frobnicate'], /frobnicate/);
    await isRefused([...right, 'one', 'two', 'three'], /argument|none/);
    expect(device.received).toEqual([]);
  });

  it.each<[string[], RegExp]>([
    [['--timeout'], /timeout/],
    [['--spread', 'x'], /spread/],
    [['--valid-for', '86401'], /valid-for/],
    [['--timeout', 'NaN'], /timeout/],
    [['--timeout', 'Infinity'], /timeout/],
    [['--timeout', '-5'], /timeout/],
    [['--group'], /group/],
    [['--profile', 'no such'], /no such/],
  ])('is named in the error when it belongs to the option %j', async (option, names) => {
    const device = await ctl.device('kiosk-01');
    await isRefused(['mute', ...option], names);
    expect(device.received).toEqual([]);
  });

  it.each([
    ['kiosk/01'],
    ['kiosk+01'],
    ['#'],
    ['KIOSK'],
    [''],
    ['a'.repeat(65)],
    ['../x'],
    ['kiosk\u001b[2J'],
    ['group'],
    ['backend'],
    ['claim'],
  ])('is named in the error when %j is not a device name', async (name) => {
    const ran = await ctl.run(name, 'mute', '--timeout', '1');
    expect(ran).toMatchObject({ exitCode: 2, printed: '' });
    expect(isOneSentence(ran.complained)).toBe(true);
    expect(ran.complained).not.toContain('\u001b');
  });
});

describe('a file of ctl', () => {
  const profile = (more: object): object => ({
    profiles: { museum: { url: ctl.brokerUrl, tenant: 'museum', ...more } },
  });
  const fill = (name: string, content: string | Buffer): void => {
    mkdirSync(join(ctl.home, 'dragoman'), { recursive: true });
    writeFileSync(join(ctl.home, 'dragoman', name), content, { mode: 0o600 });
  };

  it.each(['passwordFile', 'caFile', 'certFile', 'keyFile', 'signingKeyFile'])(
    'is named in the error when %s is missing, a folder, empty or too long',
    async (key) => {
      mkdirSync(join(ctl.home, 'dragoman', 'folder'), { recursive: true });
      fill('empty', '');
      fill('long', Buffer.alloc(2_000_000, 'x'));
      const pair = key === 'certFile' ? { keyFile: 'long' } : key === 'keyFile' ? { certFile: 'long' } : {};
      const name = key === 'passwordFile' ? { username: 'anna' } : {};
      for (const file of ['none', 'folder', 'empty', 'long']) {
        ctl.writeProfiles(profile({ ...pair, ...name, [key]: file }));
        const ran = await ctl.run('kiosk-01', 'mute', '--timeout', '1');
        expect([file, ran.exitCode]).toEqual([file, 2]);
        expect(ran.complained).toMatch(/(password|ca|cert|key|signingKey)File/);
        expect(ran.complained.trim().split('\n').length).toBeLessThan(4);
        expect(ran.complained).not.toContain('xxxxxxxx');
      }
    },
  );

  it('is named in the error without its content when it is not a valid private key', async () => {
    fill('owner.key', '-----BEGIN PRIVATE KEY-----\nc2VjcmV0LXNlY3JldA==\n-----END PRIVATE KEY-----\n');
    ctl.writeProfiles(profile({ signingKeyFile: 'owner.key' }));
    const ran = await ctl.run('kiosk-01', 'mute', '--timeout', '1');
    expect(ran.exitCode).toBe(2);
    expect(ran.complained).toContain('signingKeyFile');
    expect(ran.complained).not.toContain('c2Vjcm');
  });

  it.each([
    ['a byte order mark', '\uFEFF{"profiles":{}}'],
    ['binary', '\u0000\u0001\u0002'],
    ['nothing', ''],
    ['a list', '[]'],
    ['a number', '7'],
    ['a million brackets', '['.repeat(1_000_000)],
    ['a key twice', '{"profiles":{},"profiles":{}}'],
    ['an unknown default profile', '{"profiles":{"a":{"url":"mqtt://h","tenant":"t"}},"default":"b"}'],
    ['an invalid profile name', '{"profiles":{"a b":{"url":"mqtt://h","tenant":"t"}}}'],
    ['an invalid port', '{"profiles":{"a":{"url":"mqtt://h:99999","tenant":"t"}}}'],
    ['a tenant with a wildcard', '{"profiles":{"a":{"url":"mqtt://h","tenant":"+"}}}'],
    ['a prefix with a wildcard', '{"profiles":{"a":{"url":"mqtt://h","tenant":"t","prefix":"#"}}}'],
  ])('is named in one sentence when its profiles are %s', async (_, content) => {
    ctl.writeProfiles(content);
    const ran = await ctl.run('kiosk-01', 'mute', '--timeout', '1');
    expect(ran).toMatchObject({ exitCode: 2, printed: '' });
    expect(ran.complained).toMatch(/ctl\.json|profile/);
    expect(ran.complained.length).toBeLessThan(500);
  });
});
