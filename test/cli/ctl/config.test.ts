import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { effectiveOf, readDocument, resolveDesired } from '../../../src/device/config/desired-rules.ts';
import { configSchema } from '../../../src/protocol/config.ts';
import { deviceTopics } from '../../../src/protocol/mqtt/topics.ts';
import { until } from '../../until.ts';
import { ctlOfEachTest } from './ctl-on-loopback.ts';

const ctl = ctlOfEachTest();
const CONFIG = configSchema.parse({
  device: { id: 'kiosk-01', tenant: 'museum', groups: ['lobby'] },
  mqtt: { url: 'mqtt://127.0.0.1:1' },
  lanes: [{ id: 'main', source: 'en', targets: ['es'] }],
});

/** A device that applies documents with the agent's core, and reports. */
async function reporting(name: string) {
  await ctl.device(name, { groups: ['lobby'] });
  const topics = deviceTopics({ prefix: 'dragoman/v1', tenant: 'museum', device: name });
  const documents = new Map<string, Exclude<ReturnType<typeof readDocument>, string>>();
  let isUp = false;
  const bus = createMqttBus(
    { url: ctl.brokerUrl, clientId: `config.${name}` },
    { clock: createSystemClock(), seed: 2 },
  )(
    { subscriptions: [topics.configDesired, topics.groupDesired('lobby')], will: null },
    {
      up: () => {
        isUp = true;
      },
      down() {},
      message: ({ topic, payload }) => {
        const from = topic === topics.configDesired ? 'device' : 'group:lobby';
        const document = readDocument(from, JSON.parse(payload));
        if (typeof document !== 'string') documents.set(from, document);
        const all = ['group:lobby', 'device'].flatMap((one) => documents.get(one) ?? []);
        const { config, errors } = resolveDesired(CONFIG, all);
        const version = Object.fromEntries(all.map((one) => [one.from, one.version]));
        const body = { ts: null, version, hash: 'x', effective: effectiveOf(config), errors };
        bus.publish(topics.configReported, JSON.stringify(body), { qos: 1, retain: true });
      },
    },
  );
  await until(() => isUp);
  return { close: () => bus.close() };
}

describe('dragoman ctl config', () => {
  it('sets, shows, compares and unsets keys', async () => {
    const device = await reporting('kiosk-01');
    expect(await ctl.run('kiosk-01', 'config', 'set', 'main.targets=es,fr', 'log.level=debug')).toEqual({
      exitCode: 0,
      complained: '',
      printed: 'kiosk-01: version 1 is in force\n',
    });
    const got = await ctl.run('kiosk-01', 'config', 'get', '--json');
    expect(JSON.parse(got.printed)).toMatchObject({
      device: 'kiosk-01',
      desired: { version: 1, lanes: [{ id: 'main', targets: ['es', 'fr'] }], log: { level: 'debug' } },
      reported: { effective: { lanes: [{ targets: ['es', 'fr'] }], log: { level: 'debug' } } },
    });
    expect(await ctl.run('kiosk-01', 'config', 'diff')).toMatchObject({
      exitCode: 0,
      printed: 'kiosk-01: as desired\n',
    });
    expect((await ctl.run('kiosk-01', 'config', 'unset', 'main.targets')).printed).toBe(
      'kiosk-01: version 2 is in force\n',
    );
    expect((await ctl.run('kiosk-01', 'config', 'get')).printed).toContain('"targets":["es"]');
    await device.close();
  });

  it('refuses a lane that no device has, and takes an old one out', async () => {
    const device = await reporting('kiosk-01');
    const ran = await ctl.run('kiosk-01', 'config', 'set', 'main.echo=off', 'maim.targets=es');
    expect(ran).toMatchObject({ exitCode: 2, printed: '' });
    expect(ran.complained).toContain('there is no lane "maim"; did you mean "main"?');
    expect((await ctl.run('kiosk-01', 'config', 'get')).printed).toContain('desired: "nothing"');
    const none = await ctl.run('kiosk-01', 'config', 'unset', 'maim');
    expect(none).toMatchObject({ exitCode: 2 });
    expect(none.complained).toContain('"maim" is not in the desired configuration');
    // A device that has never reported may have any lane.
    await ctl.run('kiosk-09', 'config', 'set', 'maim.targets=es', '--new', '--timeout', '1');
    expect((await ctl.run('kiosk-09', 'config', 'get')).printed).toContain('maim');
    await ctl.run('kiosk-09', 'config', 'unset', 'maim.targets', '--timeout', '1');
    expect((await ctl.run('kiosk-09', 'config', 'get')).printed).not.toContain('maim');
    await device.close();
  });

  it('sets the volume for good', async () => {
    const device = await reporting('kiosk-01');
    const ran = await ctl.run('kiosk-01', 'config', 'set', 'main.volume=35');
    expect(ran).toMatchObject({ exitCode: 0, printed: 'kiosk-01: version 1 is in force\n' });
    expect((await ctl.run('kiosk-01', 'config', 'get')).printed).toContain('"volume":35');
    await device.close();
  });

  it('shows the keys that a device rejects, and the remaining differences', async () => {
    const device = await reporting('kiosk-01');
    const ran = await ctl.run('kiosk-01', 'config', 'set', 'main.targets=en', 'main.echo=off');
    expect(ran.exitCode).toBe(1);
    expect(ran.printed).toBe(
      'kiosk-01: some keys were rejected; in force: main.echo\n' +
        '  main.targets: targets must not name "en", which is the source already\n',
    );
    const diff = await ctl.run('kiosk-01', 'config', 'diff');
    expect(diff).toMatchObject({
      exitCode: 1,
      printed: 'kiosk-01: main.targets is ["es"], desired ["en"]\n',
    });
    // The next change is not to blame.
    expect(await ctl.run('kiosk-01', 'config', 'set', 'log.level=debug')).toMatchObject({
      exitCode: 0,
      printed:
        'kiosk-01: version 2 is in force\n  rejected since an earlier version:\n' +
        '    main.targets: targets must not name "en", which is the source already\n',
    });
    await device.close();
  });

  it.each([
    ['main.volume=150', 'main.volume: must be at most 100'],
    ['main.echo=loud', 'main.echo: must be one of "half-duplex", "cancel", "off"'],
    ['main.standbyAfter=soon', 'main.standbyAfter: must be a number'],
    ['main.targets=en,,fr', 'main.targets: [1] must be a language tag'],
    ['schedule={"timeZone":"Mars"}', 'schedule: [timeZone] must be'],
  ])('refuses %s before it is published', async (word, told) => {
    const device = await reporting('kiosk-01');
    await ctl.run('kiosk-01', 'config', 'set', 'main.volume=55');
    const ran = await ctl.run('kiosk-01', 'config', 'set', word);
    expect(ran).toMatchObject({ exitCode: 2, printed: '' });
    expect(ran.complained).toContain(told);
    expect((await ctl.run('kiosk-01', 'config', 'get')).printed).toContain(
      '"version":1,"lanes":[{"id":"main","volume":55}]',
    );
    await device.close();
  });

  it('refuses a device or group that is not known, and names the nearest', async () => {
    const device = await reporting('kiosk-02');
    const ran = await ctl.run('kisk-02', 'config', 'set', 'main.volume=5');
    expect(ran).toMatchObject({ exitCode: 2, printed: '' });
    expect(ran.complained).toContain(
      'the broker knows no such device; did you mean "kiosk-02"? If not, add --new',
    );
    const group = await ctl.run('--group', 'loby', 'config', 'set', 'main.volume=5');
    expect(group).toMatchObject({ exitCode: 2, printed: '' });
    expect(group.complained).toContain('no device of the group "loby"; did you mean "lobby"?');
    // Another number is another device.
    const far = await ctl.run('kiosk-15', 'config', 'set', 'main.volume=5');
    expect(far.complained).toContain('the broker knows no such device; add --new');
    expect((await ctl.run('kisk-02', 'config', 'get')).printed).toContain('desired: "nothing"');
    writeFileSync(
      join(ctl.home, 'setup.json'),
      JSON.stringify({ devices: [{ tenant: 'museum', device: 'kiosk-15', groups: [] }] }),
    );
    const profile = { url: ctl.brokerUrl, tenant: 'museum', setupFile: join(ctl.home, 'setup.json') };
    ctl.writeProfiles({ profiles: { museum: profile } });
    expect(await ctl.run('kiosk-15', 'config', 'set', 'main.volume=5', '--timeout', '1')).toMatchObject({
      exitCode: 4,
    });
    await device.close();
  });

  it('warns of a language that is not known', async () => {
    const device = await reporting('kiosk-01');
    expect(await ctl.run('kiosk-01', 'config', 'set', 'main.targets=zz')).toMatchObject({
      exitCode: 0,
      complained: 'warning: "zz" is not a known language: the service may refuse it\n',
    });
    await device.close();
  });

  it('shows the values that a command has changed', async () => {
    const device = await reporting('kiosk-01');
    await ctl.run('kiosk-01', 'config', 'set', 'main.targets=fr', 'main.volume=80');
    const { printed } = await ctl.run('kiosk-01', 'config', 'get');
    expect(printed).toContain('kiosk-01, from files and documents: {"lanes":[{"id":"main"');
    expect(printed).toContain('  changed by commands or visitors: main.targets is ["es"]\n');
    const json = JSON.parse((await ctl.run('kiosk-01', 'config', 'get', '--json')).printed);
    expect(json).toMatchObject({ changed: [{ key: 'main.targets', now: ['es'] }] });
    await device.close();
  });

  it('names the keys of a group that a device overrides', async () => {
    const devices = [await reporting('kiosk-01'), await reporting('kiosk-02')];
    await ctl.run('kiosk-02', 'config', 'set', 'main.echo=cancel');
    const ran = await ctl.run('--group', 'lobby', 'config', 'set', 'main.echo=off', 'main.standbyAfter=9');
    expect(ran).toMatchObject({
      exitCode: 0,
      printed:
        'kiosk-01: version 1 is in force\nkiosk-02: version 1 is in force\n' +
        '  main.echo is still "cancel", from a later group or its own document\n',
    });
    for (const device of devices) await device.close();
  });

  it('sets a group and waits for each of its devices', async () => {
    const devices = [await reporting('kiosk-01'), await reporting('kiosk-02')];
    const ran = await ctl.run('--group', 'lobby', 'config', 'set', 'main.echo=off', '--timeout', '5');
    expect(ran).toMatchObject({
      exitCode: 0,
      printed: 'kiosk-01: version 1 is in force\nkiosk-02: version 1 is in force\n',
    });
    for (const device of devices) await device.close();
  });

  it('sets a group again and again when one of its devices reports the highest version', async () => {
    const device = await reporting('kiosk-01');
    await ctl.device('kiosk-02', { groups: ['lobby'] });
    const { configReported } = deviceTopics({ prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-02' });
    const hostile = createMqttBus(
      { url: ctl.brokerUrl, clientId: 'hostile' },
      { clock: createSystemClock(), seed: 3 },
    )({ subscriptions: [], will: null }, { up() {}, down() {}, message() {} });
    const report = { version: { 'group:lobby': Number.MAX_SAFE_INTEGER }, effective: {}, errors: [] };
    hostile.publish(configReported, JSON.stringify(report), { retain: true });
    await until(() => hostile.connected && hostile.outbox.depth === 0);
    for (const [volume, version] of [
      [10, 1],
      [20, 2],
    ])
      expect((await ctl.run('--group', 'lobby', 'config', 'set', `main.volume=${volume}`)).printed).toContain(
        `kiosk-01: version ${version} is in force\n`,
      );
    await device.close();
    await hostile.close();
  });

  it('exits with 4 when the device is offline and will apply the version later', async () => {
    const ran = await ctl.run('kiosk-07', 'config', 'set', 'main.echo=off', '--new', '--timeout', '1');
    expect(ran).toMatchObject({
      exitCode: 4,
      printed: 'kiosk-07: no report yet; it will apply version 1 when it is online\n',
    });
  });

  it('promises nothing when the broker has not confirmed the document', async () => {
    // After the present configuration has come, and before the new one is published.
    ctl.after(300, async () => ctl.broker().pause());
    const ran = await ctl.run('kiosk-07', 'config', 'set', 'main.echo=off', '--new', '--timeout', '5');
    expect(ran).toMatchObject({ exitCode: 4, printed: '' });
    expect(ran.complained).toContain(
      'the broker has not confirmed version 1 within 5 s; "config get" shows which one it has',
    );
  });

  it.each([
    [['config'], 'missing required argument'],
    [['config', 'put'], 'config "put" is unknown; use get, set, unset, diff'],
    [['config', 'set'], 'config set needs a key'],
    [['config', 'set', 'targets=es'], 'not a key that can be set'],
    [['config', 'get', 'x'], 'config get takes no further arguments'],
  ])('rejects %j with exit code 2', async (words, told) => {
    const ran = await ctl.run('kiosk-01', ...words);
    expect(ran.exitCode).toBe(2);
    expect(ran.complained).toContain(told);
    expect((await ctl.run('--all', 'config', 'get')).exitCode).toBe(2);
  });
});
