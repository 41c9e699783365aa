import { createPublicKey } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { describe, expect, it } from 'vitest';
import { createSignatureReader } from '../../../src/adapters/signing/reader.ts';
import { createKeyPair } from '../../../src/adapters/signing/signing-keys.ts';
import { ctlOfEachTest, LANE, LANES } from './ctl-on-loopback.ts';

const ctl = ctlOfEachTest();

describe('dragoman ctl DEVICE say', () => {
  const SAY = ['say', 'Five minutes', '--language', 'en'];

  it('sends nothing to a device that is not connected, and says that it is not kept for it', async () => {
    const device = await ctl.device('kiosk-01');
    device.status('lost');
    for (const more of [[], ['--valid-for', '600']]) {
      const ran = await ctl.run('kiosk-01', ...SAY, ...more);
      expect([ran.exitCode, ran.printed.replaceAll(/\s+/g, ' ')]).toEqual([
        4,
        'kiosk-01: is not connected: its last status was lost; this command is not kept for it: send it again later ',
      ]);
    }
    expect((await ctl.run('kisk-1', ...SAY)).printed).toMatch(
      /knows no such\s+device; did you mean "kiosk-01"/,
    );
    // Other commands are, if they may be.
    await ctl.run('kiosk-01', 'mute', '--valid-for', '600');
    expect(device.received.map(({ name }) => name)).toEqual(['mute']);
  });

  it('is sent with QoS 0, which no broker stores, also to a group; other commands with QoS 1', async () => {
    const device = await ctl.device('kiosk-01', { groups: ['lobby'] });
    const sent: unknown[] = [];
    const listener = await connectAsync(ctl.brokerUrl);
    listener.on('message', (topic, _, { qos }) => sent.push([topic.split('/').at(-1), qos]));
    await listener.subscribeAsync(['dragoman/v1/+/+/cmd/+', 'dragoman/v1/+/group/+/cmd/+'], { qos: 1 });
    expect((await ctl.run('kiosk-01', ...SAY)).printed).toMatch(/^kiosk-01: ok/);
    await ctl.run('--group', 'lobby', ...SAY);
    await ctl.run('kiosk-01', 'mute');
    await expect
      .poll(() => sent)
      .toEqual([
        ['say', 0],
        ['say', 0],
        ['mute', 1],
      ]);
    expect(device.received.map(({ body }) => body.args['text'])).toEqual([
      'Five minutes',
      'Five minutes',
      undefined,
    ]);
    await listener.endAsync();
  });
});

describe('dragoman ctl DEVICE VERB', () => {
  it('sends the command and prints the resulting state of the lanes', async () => {
    const device = await ctl.device('kiosk-01');
    const ran = await ctl.run('kiosk-01', 'volume', '60', '--lane', 'main');
    expect(ran).toEqual({
      exitCode: 0,
      printed: 'kiosk-01: ok: main live, en to es, volume 80, echo half-duplex\n',
      complained: '',
    });
    expect(device.received.map(({ name, body }) => [name, body.args])).toEqual([
      ['volume', { percent: 60, lane: 'main' }],
    ]);
    expect(device.received[0]?.body.id.length).toBeGreaterThan(12);
  });

  it('accepts languages as a list', async () => {
    const device = await ctl.device('kiosk-01');
    await ctl.run('kiosk-01', 'languages', '--source', 'en', '--targets', 'es,fr');
    expect(device.received[0]?.body.args).toEqual({ source: 'en', targets: ['es', 'fr'] });
  });

  it('exits with 1 and the reason when the device refuses', async () => {
    await ctl.device('kiosk-01', {
      answer: () => ({ status: 'error', error: { code: 'unknown_lane', message: 'there is no lane "x"' } }),
    });
    const ran = await ctl.run('kiosk-01', 'mute', '--lane', 'x');
    expect(ran.exitCode).toBe(1);
    expect(ran.printed).toBe('kiosk-01: refused (unknown_lane): there is no lane "x"\n');
  });

  it('exits with 4 and the last known status when there is no answer', async () => {
    const device = await ctl.device('kiosk-01', { answer: () => null });
    device.status('degraded', ['no_backend']);
    const ran = await ctl.run('kiosk-01', 'mute');
    expect(ran.exitCode).toBe(4);
    expect(ran.printed).toBe('kiosk-01: no answer within 10 s; its last status was degraded\n');
    const unknown = await ctl.run('kisk-1', 'mute', '--timeout', '60');
    expect(unknown.printed).toBe('kisk-1: the broker knows no such device; did you mean "kiosk-01"?\n');
    expect(unknown.exitCode).toBe(4);
    const status = await ctl.run('kisk-1', 'status');
    expect(status.complained).toContain('did you mean "kiosk-01"?\n');
    expect((await ctl.run('kiosk-15', 'mute')).printed).toBe('kiosk-15: the broker knows no such device\n');
  });

  it('distinguishes expired from refused, also in JSON', async () => {
    await ctl.device('kiosk-01', { answer: () => ({ status: 'expired' }) });
    const ran = await ctl.run('--json', 'kiosk-01', 'mute');
    expect(ran).toMatchObject({ exitCode: 1, printed: '{"device":"kiosk-01","status":"expired"}\n' });
  });

  it('waits for the final answer after "accepted"', async () => {
    await ctl.device('kiosk-01', {
      answer: () => [{ status: 'accepted' }, { status: 'ok', data: { lanes: LANES } }],
    });
    expect(await ctl.run('kiosk-01', 'mute', '--json')).toMatchObject({
      exitCode: 0,
      printed: `${JSON.stringify({ device: 'kiosk-01', status: 'ok', data: { lanes: LANES } })}\n`,
    });
  });

  it('ignores answers to other commands and invalid answers', async () => {
    const answers = [
      { id: 'another', status: 'error', error: { code: 'x', message: 'y' } },
      { status: 'fine' },
      { status: 'ok' },
    ];
    await ctl.device('kiosk-01', { answer: () => answers });
    expect(await ctl.run('kiosk-01', 'mute', '--json')).toMatchObject({
      exitCode: 0,
      printed: '{"device":"kiosk-01","status":"ok"}\n',
    });
  });

  it('removes terminal control characters from answers', async () => {
    const message = 'no\u001b[2J\u0007\u202eway\r\nkiosk-02: ok';
    await ctl.device('kiosk-01', { answer: () => ({ status: 'error', error: { code: 'bad', message } }) });
    const { printed } = await ctl.run('kiosk-01', 'mute');
    expect(printed).not.toMatch(/[^\P{Cc}\n]|\p{Cf}/u);
  });
});

describe('dragoman ctl --group and --all', () => {
  it('prints a line per device and a summary of failures', async () => {
    await ctl.device('kiosk-01');
    await ctl.device('kiosk-02', {
      answer: () => ({ status: 'error', error: { code: 'busy', message: 'too many' } }),
    });
    await ctl.device('kiosk-03', { status: 'lost', answer: () => null });
    const ran = await ctl.run('--all', 'mute');
    expect(ran.exitCode).toBe(1);
    expect(ran.printed.split('\n').map((line) => line.slice(0, 19))).toEqual([
      'kiosk-01: ok: main ',
      'kiosk-02: refused (',
      'kiosk-03: is not co',
      '',
    ]);
    expect(ran.complained).toBe('dragoman: of 3 devices 1 failed and 1 did not answer.\n');
  });

  it.each([
    [
      '--valid-for',
      '120',
      /lost; the command is queued until \d\d:\d\d:\d\d UTC at the latest: .* 10 minutes/,
    ],
    ['--timeout', '2', /lost$/],
  ])('says of an absent device what becomes of the command with %s', async (option, seconds, why) => {
    await ctl.device('kiosk-03', { status: 'lost', answer: () => null });
    const ran = await ctl.run('kiosk-03', 'mute', '--json', option, seconds);
    expect(ran.exitCode).toBe(4);
    expect(JSON.parse(ran.printed)).toMatchObject({ status: 'silent', message: expect.stringMatching(why) });
  });

  it('counts the wait of the broker, not more, when a command is valid for longer', async () => {
    await ctl.device('kiosk-03', { status: 'offline', answer: () => null });
    const secondOfDay = async (validFor: string): Promise<number> => {
      const { printed } = await ctl.run('kiosk-03', 'mute', '--json', '--valid-for', validFor);
      const [, hour, minute, second] = /until (\d\d):(\d\d):(\d\d) UTC/.exec(printed) ?? [];
      return Number(hour) * 3600 + Number(minute) * 60 + Number(second);
    };
    const [tenMinutes, oneDay] = [await secondOfDay('600'), await secondOfDay('86400')];
    // A few seconds lie between the two commands, and perhaps midnight.
    expect((oneDay - tenMinutes + 86_400) % 86_400).toBeLessThan(120);
  });

  it('reaches only the devices of the group', async () => {
    const lobby = await ctl.device('kiosk-01', { groups: ['lobby'] });
    const desk = await ctl.device('kiosk-02', { groups: ['desk'] });
    const ran = await ctl.run('--group', 'lobby', '--json', 'mute', '--spread', '0');
    expect(ran).toMatchObject({ exitCode: 0, complained: '' });
    expect(ran.printed.trim().split('\n')).toHaveLength(1);
    expect(lobby.received.map(({ body }) => body.args)).toEqual([{ spread_s: 0 }]);
    expect(desk.received).toEqual([]);
  });

  it('exits with 4 when the broker knows no device', async () => {
    const ran = await ctl.run('--group', 'nobody', 'mute', '--timeout', '0.6');
    expect(ran).toMatchObject({ exitCode: 4, printed: '' });
    expect(ran.complained).toContain('the broker knows no device of the group "nobody"');
  });

  it('waits for the first retained message of a slow broker', async () => {
    ctl.after(2800, () => ctl.device('kiosk-01', { answer: () => null }));
    const ran = await ctl.run('--all', 'status', '--timeout', '6');
    expect(ran.complained).not.toContain('knows no such');
    expect(ran.printed).toContain('kiosk-01');
  });

  it('prints a table with problems first that fits the terminal', async () => {
    await ctl.device('kiosk-01', { answer: () => ({ status: 'ok', data: {} }) });
    const broken = await ctl.device('kiosk-02', { answer: () => ({ status: 'ok', data: {} }) });
    broken.status('degraded', ['no_backend', 'capture:main']);
    await ctl.device('kiosk-03', { answer: () => null });
    const ran = await ctl.run('--all', 'status');
    expect(ran.exitCode).toBe(4);
    const lines = ran.printed.trimEnd().split('\n');
    expect(lines.map((line) => line.split(/\s+/).slice(0, 3).join(' '))).toEqual([
      'DEVICE STATUS REASONS',
      'kiosk-02 degraded no_backend',
      'kiosk-01 ready main',
      'kiosk-03 silent was',
    ]);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('dragoman ctl status of one device', () => {
  it('prints all important fields in lines that fit the terminal', async () => {
    const data = {
      status: 'degraded',
      reasons: ['no_backend'],
      version: '0.1.0',
      boot_id: 'b',
      uptime_s: 93_784,
      refused_answers: {},
      audio: [],
      lanes: [
        {
          ...LANE,
          last_error: {
            ts: null,
            code: 'network',
            message: 'the network was unplugged by somebody who swept the floor',
          },
        },
      ],
    };
    await ctl.device('kiosk-01', { answer: () => ({ status: 'ok', data }) });
    const { printed, exitCode } = await ctl.run('kiosk-01', 'status');
    expect(exitCode).toBe(0);
    expect(printed).toContain('kiosk-01: degraded no_backend\n  version 0.1.0, up 1 d 2 h\n');
    expect(printed).toContain('last error (network): the network was unplugged');
    for (const line of printed.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
  });
});

describe('a mistake on the command line', () => {
  it.each([
    [[], 'no device and no verb given'],
    [['mute'], 'no device given'],
    [['kiosk-01'], 'no verb given for kiosk-01'],
    [['kiosk-01', 'mut'], 'did you mean "mute"?'],
    [['Kiosk', 'mute'], '"Kiosk" is not a valid device name'],
    [['all', 'mute'], '"all" is not a valid device name'],
    [['kiosk-01', 'volume', '600'], 'percent: '],
    [['kiosk-01', 'volume'], 'missing required argument'],
    [['kiosk-01', 'languages'], 'needs "source", "targets" or both'],
    [['kiosk-01', 'say', 'Hola'], 'language: is missing; see "dragoman ctl help say"'],
    [['kiosk-01', 'echo', 'loud'], 'mode: is not a valid argument of "echo"'],
    [['--all', '--group', 'x', 'mute'], 'either --group or --all'],
    [['--group', 'A B', 'mute'], '"A B" is not a valid group name'],
    [['--timeout', '0', 'kiosk-01', 'mute'], 'It must be a number of seconds'],
    [['kiosk-01', 'constructor'], 'unknown verb "constructor"'],
    [['--profile', 'zoo', 'kiosk-01', 'mute'], 'has no profile "zoo"'],
    [['--profile', 'constructor', 'kiosk-01', 'mute'], 'has no profile "constructor"'],
  ])('is named in the error with exit code 2: %j', async (argv, words) => {
    const ran = await ctl.run(...argv);
    expect(ran.exitCode).toBe(2);
    expect(ran.complained).toContain(words);
    expect(ran.printed).toBe('');
  });

  it('prints the help of a verb and the list of verbs', async () => {
    expect((await ctl.run('help', 'languages')).printed).toContain('--targets <languages>');
    expect((await ctl.run('help', 'say')).printed).toMatch(/--language <language> .*\(required\)/);
    expect((await ctl.run('help', 'languages')).printed).not.toContain('(required)');
    const { printed } = await ctl.run('help');
    expect(printed).toMatch(/^Usage: dragoman ctl .*DEVICE VERB/);
    expect(printed).toContain('  languages ');
    expect(printed).toContain('Exit code: 0 all devices succeeded');
    const help = (await ctl.run('--help')).printed;
    for (const word of ['dragoman ctl kiosk-01 mute', '--spread', '--valid-for', '--lane', 'Exit code: 0'])
      expect(help).toContain(word);
  });
});

describe('a profile that cannot be used', () => {
  const url = 'mqtt://127.0.0.1:1';
  it.each([
    ['{', /ctl\.json:1:2: /],
    [{}, /profiles: is missing/],
    [{ profiles: {} }, /profiles: must contain a profile/],
    [[], /ctl\.json:1:1: the whole: is an empty list; must be an object/],
    [{ profiles: { a: { url } } }, /profiles\.a\.tenant: is missing/],
    [
      { profiles: { a: { url: 'http://x', tenant: 't' } } },
      /ctl\.json:1:19: profiles\.a\.url: is "http:\/\/x"; must be an address such as/,
    ],
    [
      { profiles: { a: { url: 'mqtt://u:geheim@x', tenant: 't' } } },
      /must not contain a user name or password/,
    ],
    [
      { profiles: { a: { url, tenant: 't', passwordfile: 'x' } } },
      /profiles\.a\.passwordfile: is not a known key; did you mean "passwordFile"/,
    ],
    [
      { profiles: { a: { url, tenant: 't', passwordFile: 'none' } } },
      /ctl\.json:1:\d+: passwordFile: the secret file .*none does not exist/,
    ],
    [
      { profiles: { a: { url, tenant: 't', caFile: 'none' } } },
      /ctl\.json:1:\d+: caFile: the file .*none cannot be read/,
    ],
    [
      { profiles: { a: { url, tenant: 't', signingKeyFile: 'none' } } },
      /ctl\.json:1:\d+: signingKeyFile: the secret file .*none does not exist/,
    ],
    [
      { profiles: { museum: { url, tenant: 't' } }, default: 'musuem' },
      /ctl\.json:1:\d+: default: is "musuem", which is not a profile; did you mean "museum"\?/,
    ],
    [{ profiles: { a: { url, tenant: 't' }, b: { url, tenant: 't' } } }, /several profiles \(a, b\)/],
    [{ profiles: { a: { url, tenant: 't' } } }, /127\.0\.0\.1:1/],
  ])('is named in the error: %j', async (content, words) => {
    ctl.writeProfiles(content);
    const ran = await ctl.run('kiosk-01', 'mute', '--timeout', '1');
    expect([1, 2]).toContain(ran.exitCode);
    expect(ran.complained).toMatch(words);
    expect(ran.complained).not.toContain('geheim');
    expect(ran.complained.trim().split('\n')).toHaveLength(1);
  });
});

it('warns about a password that ends with a blank', async () => {
  const passwordFile = join(ctl.home, 'password');
  writeFileSync(passwordFile, '\ufeffswordfish \n', { mode: 0o600 });
  const profile = { url: 'mqtt://127.0.0.1:1', tenant: 't', username: 'operator', passwordFile };
  ctl.writeProfiles({ profiles: { a: profile } });
  const ran = await ctl.run('kiosk-01', 'mute', '--timeout', '1');
  expect(ran.complained).toContain('the secret in it ends with a blank');
  expect(ran.complained).not.toContain('swordfish');
});

it('reports a profile in UTF-16 with the fix', async () => {
  ctl.writeProfiles(Buffer.from('\uFEFF{}', 'utf16le'));
  expect(await ctl.run('kiosk-01', 'mute')).toMatchObject({
    exitCode: 2,
    complained: expect.stringContaining('ctl.json cannot be read: it is UTF-16. Save it again as UTF-8'),
  });
});

describe('the commands about the device itself', () => {
  it.each([
    [['identify', '--seconds', '20'], 'identify', { seconds: 20 }],
    [
      ['say', 'Cerramos a las seis', '--language', 'es'],
      'say',
      { text: 'Cerramos a las seis', language: 'es' },
    ],
    [
      ['say', 'We close', '--language', 'es', '--translate', '--lane', 'main'],
      'say',
      { text: 'We close', language: 'es', translate: true, lane: 'main' },
    ],
    [['start', '--until', '2026-05-04T20:00:00Z'], 'start', { until: '2026-05-04T20:00:00Z' }],
    [['log-level', 'debug', '--minutes', '5'], 'log_level', { level: 'debug', minutes: 5 }],
    [['voice', 'none'], 'voice', { voice: null }],
    [['restart'], 'restart', {}],
    [['reboot'], 'reboot', {}],
  ] as const)('%j', async (words, name, args) => {
    const device = await ctl.device('kiosk-01', { answer: () => ({ status: 'ok', data: {} }) });
    expect(await ctl.run('kiosk-01', ...words)).toMatchObject({ exitCode: 0, printed: 'kiosk-01: ok\n' });
    expect(device.received.map((one) => [one.name, one.body.args])).toEqual([[name, args]]);
  });

  it('logs reports a refusal, and a device that does not answer', async () => {
    await ctl.device('kiosk-01', {
      answer: () => ({ status: 'error', error: { code: 'x', message: 'no' } }),
    });
    expect(await ctl.run('kiosk-01', 'logs')).toMatchObject({
      exitCode: 1,
      complained: 'dragoman: kiosk-01: refused (x): no\n',
    });
    expect(await ctl.run('kiosk-02', 'logs', '--timeout', '0.3')).toMatchObject({ exitCode: 4 });
    expect(await ctl.run('--all', 'logs')).toMatchObject({ exitCode: 2 });
  });
});

describe('a profile with a key', () => {
  it('signs commands with their target and an expiry', async () => {
    const pair = createKeyPair();
    ctl.writeProfiles({
      profiles: { museum: { url: ctl.brokerUrl, tenant: 'museum', signingKeyFile: 'owner.key' } },
    });
    writeFileSync(join(ctl.home, 'dragoman', 'owner.key'), pair.privatePem, { mode: 0o600 });
    const device = await ctl.device('kiosk-01', {
      answer: () => ({ status: 'ok', data: {} }),
      groups: ['lobby'],
    });
    await ctl.run('kiosk-01', 'reboot');
    await ctl.run('--group', 'lobby', 'reboot');
    const reader = createSignatureReader([{ kid: pair.kid, key: createPublicKey(pair.publicPem) }]);
    const opened = await Promise.all(
      device.received.map(({ body }) => reader.open((body as unknown as { jws: string }).jws)),
    );
    const bodies = opened.map((one) => (one.ok ? JSON.parse(one.content.payload) : null));
    expect(bodies.map(({ device: base }) => base)).toEqual([
      'dragoman/v1/museum/kiosk-01',
      'dragoman/v1/museum/group/lobby',
    ]);
    for (const body of bodies) expect(Date.parse(body.not_after) - Date.now()).toBeLessThan(120_000);
    expect(bodies.map(({ id }) => id)).toEqual(device.received.map(({ body }) => body.id));
    expect(JSON.stringify(device.received)).not.toContain('PRIVATE');
  });
});
