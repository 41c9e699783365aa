/** The audit of a configuration that was published, and that a device refuses later. On both stores. */
import { afterEach, expect, it } from 'vitest';
import { type Broker, startBroker } from '../../../src/cli/demo/broker.ts';
import { onBothStores } from '../store/both-stores.ts';
import { PASSWORD as STORE_PASSWORD } from '../store/postgres-server.ts';
import { createJumpingClock } from '../watch/jumping-clock.ts';
import { consoleOfEachTest } from './console-on-loopback.ts';

const { start } = consoleOfEachTest();
const SECRET = 'hunter2-hunter2';
const A = 'museum/a';

onBothStores((maker) => {
  let broker: Broker;
  afterEach(() => broker.close());
  const open = async () => {
    const clock = createJumpingClock();
    const { config } = await maker.make();
    broker = await startBroker();
    const fixture = await start({ broker, clock, store: config, storePassword: STORE_PASSWORD }, ['ann']);
    const state = { ts: null, boot_id: 'b', groups: ['lobby'], lanes: [] };
    for (const name of [A, 'museum/b']) {
      fixture.status(name);
      fixture.say(name, 'state', state);
    }
    const known = async () => (await fixture.ask('ann', 'GET', '/api/devices')).json.rows;
    await expect.poll(known).toMatchObject([{ groups: ['lobby'] }, { groups: ['lobby'] }]);
    const publish = async (target: object, basedOn: number): Promise<number> => {
      const document = { lanes: [{ id: 'main', voice: SECRET }] };
      return (await fixture.ask('ann', 'POST', '/api/config', { target, basedOn, document })).json.version;
    };
    const report = (name: string, version: object, errors: object[] = []): void =>
      fixture.say(name, 'config/reported', { ts: null, version, hash: 'x', effective: {}, errors });
    const heard = async (name: string, errors: number) =>
      expect
        .poll(async () => (await fixture.ask('ann', 'GET', `/api/devices/${name}/config`)).json.reported)
        .toMatchObject({ errors: { length: errors } });
    const audit = async (): Promise<[boolean, string][]> => {
      const { json } = await fixture.ask('ann', 'GET', '/api/audit?what=config');
      return json.lines.map(({ result }: { result: { ok: boolean; text: string } }) => [
        result.ok,
        result.text,
      ]);
    };
    /** The audit after the console's next look. */
    const later = async (): ReturnType<typeof audit> => {
      clock.jump(5001);
      return audit();
    };
    return { fixture, publish, report, heard, audit, later };
  };
  const fault = (from: string, key: string) => ({ from, key, message: `must not be "${SECRET}"` });

  it('says which keys were refused, without a value, and once, also after a restart', async () => {
    const { fixture, publish, report, heard, audit, later } = await open();
    expect(await publish({ device: A }, 0)).toBe(1);
    report(A, { device: 1 }, [fault('device', 'lanes[0].voice'), fault('device', `<b>${SECRET}`)]);
    await heard(A, 2);
    expect(await audit()).toEqual([[true, 'published as version 1']]);
    const told = [false, 'published as version 1; museum/a refused main.voice, a key with an unusual name'];
    await expect.poll(later).toEqual([told]);
    await fixture.restart();
    report(A, { device: 1 }, [fault('device', 'lanes[0].voice')]);
    await heard(A, 1);
    for (let look = 0; look < 3; look += 1) await later();
    expect(await publish({ device: A }, 1)).toBe(2);
    // It has not read the new version yet.
    report(A, { device: 1 }, [fault('device', 'lanes[0].voice'), fault('device', 'log')]);
    await heard(A, 2);
    for (let look = 0; look < 3; look += 1) await later();
    expect(await audit()).toEqual([[true, 'published as version 2'], told]);
    const { text } = await fixture.ask('ann', 'GET', '/api/audit?what=config');
    expect(text).not.toContain('must not be');
  });

  it('may follow when one device of a group reports the highest version', async () => {
    const { publish, report, heard } = await open();
    const lobby = { tenant: 'museum', group: 'lobby' };
    report(A, { 'group:lobby': 41 }, [fault('group:lobby', 'log')]);
    report('museum/b', { 'group:lobby': Number.MAX_SAFE_INTEGER }, [fault('group:lobby', 'log')]);
    for (const name of [A, 'museum/b']) await heard(name, 1);
    expect([await publish(lobby, 0), await publish(lobby, 42)]).toEqual([42, 43]);
  });

  it('leaves a version good that a device has not read yet, and names a whole document', async () => {
    const { fixture, publish, report, heard, audit, later } = await open();
    await publish({ device: A }, 0);
    report(A, {}, [fault('group:lobby', 'lanes[0].voice')]);
    await heard(A, 1);
    report('museum/b', { device: 3 }, [fault('device', '')]);
    await heard('museum/b', 1);
    for (let look = 0; look < 3; look += 1) await later();
    expect(await audit()).toEqual([[true, 'published as version 1']]);
    report(A, {}, [fault('device', '')]);
    const told = [false, 'published as version 1; museum/a refused the whole document'];
    await expect.poll(later).toEqual([told]);
    // The device is away. What the broker keeps of it is about version 1.
    expect(await publish({ device: A }, 1)).toBe(2);
    broker.kickAll();
    // What is published while both ends connect again can be lost.
    const status = async () => {
      fixture.status('museum/b', 'idle');
      return (await fixture.ask('ann', 'GET', '/api/devices/museum/b')).json.row.status;
    };
    await expect.poll(status).toBe('idle');
    for (let look = 0; look < 3; look += 1) await later();
    expect(await audit()).toEqual([[true, 'published as version 2'], told]);
  });

  it("names the first device that refuses a group's configuration", async () => {
    const { publish, report, heard, audit, later } = await open();
    await publish({ tenant: 'museum', group: 'lobby' }, 0);
    report('museum/b', { 'group:lobby': 1 }, [fault('group:lobby', 'lanes[0].voice')]);
    await heard('museum/b', 1);
    const told = [false, 'published as version 1; museum/b refused main.voice'];
    await expect.poll(later).toEqual([told]);
    report(A, { 'group:lobby': 1 }, [fault('group:lobby', 'lanes[0].voice')]);
    await heard(A, 1);
    for (let look = 0; look < 3; look += 1) await later();
    expect(await audit()).toEqual([told]);
  });
});
