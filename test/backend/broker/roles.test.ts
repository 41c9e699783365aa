/** The rights of people by role, and the effect of a changed set-up on a running broker. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ROLES, type Role } from '../../../src/backend/broker/access.ts';
import { COMMANDS } from '../../../src/protocol/mqtt/commands/registry.ts';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { backend, type Client, type Form, type SetUp, setUpBroker } from './set-up-broker.ts';

const missing = findMosquitto() === null || !findOpenssl();
const BASE = 'dragoman/v1/museum';
const DEVICE = `${BASE}/kiosk-01`;
const FORMS: readonly Form[] = ['dynsec', 'acl'];

/** The lowest role that may publish; `null`: none. */
const PUBLISHED: readonly (readonly [string, Role | null])[] = [
  ...Object.keys(COMMANDS).map(
    (name) =>
      [
        `${DEVICE}/cmd/${name}`,
        ['reboot', 'certificate', 'update', 'rollback'].includes(name) ? 'administrator' : 'operator',
      ] as const,
  ),
  [`${BASE}/all/cmd/mute`, 'operator'],
  [`${BASE}/group/lobby/cmd/mute`, 'operator'],
  [`${BASE}/all/cmd/reboot`, 'administrator'],
  [`${BASE}/group/lobby/cmd/reboot`, 'administrator'],
  [`${DEVICE}/cmd/record_sample`, 'administrator'],
  [`${DEVICE}/config/desired`, 'administrator'],
  [`${BASE}/group/lobby/config/desired`, 'administrator'],
  [`${DEVICE}/token/res`, null],
  [`${DEVICE}/token/req`, null],
  [`${DEVICE}/cert/req`, null],
  [`${DEVICE}/status`, null],
  [`${DEVICE}/cmd/mute/res`, null],
  ['dragoman/v1/castle/kiosk-01/cmd/mute', null],
];
const RECEIVED: readonly (readonly [string, Role | null])[] = [
  [`${DEVICE}/status`, 'viewer'],
  [`${DEVICE}/state`, 'viewer'],
  [`${DEVICE}/health`, 'viewer'],
  [`${DEVICE}/event/wake`, 'viewer'],
  [`${DEVICE}/config/reported`, 'viewer'],
  [`${DEVICE}/cmd/mute/res`, 'operator'],
  [`${DEVICE}/log`, 'operator'],
  [`${DEVICE}/cert/req`, 'administrator'],
  [`${DEVICE}/token/req`, null],
  [`${DEVICE}/caption`, null],
];

describe.each(FORMS)('people at the broker (%s)', needs(missing && 'needs mosquitto, openssl'), (form) => {
  let broker: SetUp;
  let device: Client;
  beforeAll(async () => {
    broker = await setUpBroker(form, 'password');
    await broker.start();
    device = await broker.connect('museum.kiosk-01');
  });
  afterAll(async () => {
    await broker?.close();
  });

  it.each(ROLES)('%s publishes what the role allows', async (role) => {
    const person = await broker.connect(role);
    const may = (least: Role | null): boolean =>
      least !== null && ROLES.indexOf(role) >= ROLES.indexOf(least);
    for (const [topic, least] of PUBLISHED) {
      const taken = await person.mqtt.publishAsync(topic, '{}', { qos: 1 }).then(
        () => true,
        () => false,
      );
      expect([topic, taken]).toEqual([topic, may(least)]);
    }
  });

  it.each(ROLES)('%s receives what the role allows', async (role) => {
    const person = await broker.connect(role);
    const allowed = RECEIVED.filter(
      ([, least]) => least !== null && ROLES.indexOf(role) >= ROLES.indexOf(least),
    ).map(([topic]) => topic);
    for (const [topic] of RECEIVED) await person.mqtt.subscribeAsync(topic, { qos: 1 }).catch(() => {});
    for (const [topic] of RECEIVED) await device.mqtt.publishAsync(topic, '{}', { qos: 1 });
    await until(() => allowed.every((topic) => person.got.some((got) => got.topic === topic)), 'all of it');
    await device.mqtt.publishAsync(`${DEVICE}/status`, 'last', { qos: 1 });
    await until(() => person.got.some(({ text }) => text === 'last'), 'the last');
    expect([...new Set(person.got.map(({ topic }) => topic))].sort()).toEqual([...allowed].sort());
  });

  it('the backend receives requests and what the console shows, but no captions', async () => {
    const counting = await broker.connect('backend');
    const shown = ['event/wake', 'log', 'config/reported', 'cmd/mute/res'];
    const allowed = ['status', 'state', 'health', 'event/session_ended', ...shown, 'token/req'];
    const refused = ['caption', 'cert/req'];
    for (const noun of [...allowed, ...refused])
      await counting.mqtt.subscribeAsync(`dragoman/v1/+/+/${noun}`, { qos: 1 }).catch(() => {});
    for (const noun of [...refused, ...allowed])
      await device.mqtt.publishAsync(`${DEVICE}/${noun}`, '{}', { qos: 1 });
    await until(() => counting.got.some(({ topic }) => topic.endsWith('token/req')), 'the last');
    const got = counting.got.map(({ topic }) => topic.slice(DEVICE.length + 1));
    expect([...new Set(got)].sort()).toEqual([...allowed].sort());
  });

  it('locks out a disabled device after the broker has read its files, and keeps the others', async () => {
    const disabled = await backend(['devices', 'disable', 'kiosk-03', '--broker', broker.folder]);
    expect(disabled.exitCode).toBe(0);
    if (form === 'acl') broker.reload();
    else {
      await broker.stop();
      await broker.start();
    }
    let why = '';
    await until(() => {
      void broker
        .connect('museum.kiosk-03')
        .then(({ mqtt }) => mqtt.end(true))
        .catch((error: unknown) => {
          why = String(error);
        });
      return why !== '';
    }, 'its refusal');
    expect(why).toContain('Not authorized');
    expect((await broker.connect('museum.kiosk-02')).closed()).toBe(false);
  });
});
