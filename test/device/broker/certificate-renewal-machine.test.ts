import { describe, expect, it } from 'vitest';
import {
  type RenewalEvent,
  type RenewalFacts,
  renewalMachine,
} from '../../../src/device/broker/certificate-renewal-machine.ts';
import type { ConnectionOutcome } from '../../../src/device/broker/certificate-renewal-rules.ts';
import { drive } from '../../machine/drive.ts';

const HOUR = 3_600_000;
const DAY = 86_400_000;
const NOW = Date.UTC(2026, 0, 15, 9);
const request = { id: 'r1', csr: 'CSR' };
const NEXT = { validFrom: NOW, validTo: NOW + 300 * DAY };

const begun: RenewalEvent = { type: 'begun' };
const drafted = (problem: string | null = null): RenewalEvent => ({ type: 'drafted', problem });
const ordered = (caller: number): RenewalEvent => ({ type: 'ordered', caller });
const offered = (caller: number, id = 'r1'): RenewalEvent => ({
  type: 'offered',
  caller,
  request: id,
  pem: `PEM ${caller}`,
});
const good = (caller: number): RenewalEvent => ({ type: 'judged', caller, offer: { ok: true } });
const bad = (caller: number): RenewalEvent => ({
  type: 'judged',
  caller,
  offer: { ok: false, code: 'wrong_certificate', message: 'is for another key' },
});
const connection = (outcome: ConnectionOutcome): RenewalEvent => ({ type: 'connection', outcome });

/** A device whose certificate of 100 days expires in so many days; two thirds are over when 33 are left. */
function device(daysLeft: number, more: Partial<RenewalFacts> = {}) {
  const present = { validFrom: NOW + (daysLeft - 100) * DAY, validTo: NOW + daysLeft * DAY };
  const facts: RenewalFacts = { present, successor: null, request: null, shown: 'present', ...more };
  const driver = drive(renewalMachine(0), facts, { wall: NOW }).post(begun, connection('up'));
  driver.fresh();
  return driver;
}
type Device = ReturnType<typeof device>;

/** A good answer has come, and the new certificate is on trial. */
function trying(daysLeft = 30) {
  const driver = device(daysLeft, { request }).post(offered(1)).see({ request: null, successor: NEXT });
  driver.post(good(1));
  driver.fresh();
  return driver;
}
/** A connection that has shown this certificate ends or succeeds. */
const shows = (driver: Device, shown: 'present' | 'new', outcome: ConnectionOutcome): Device =>
  driver.see({ shown }).post(connection(outcome));
const types = (effects: readonly { readonly type: string }[]) => effects.map(({ type }) => type);
const answers = (driver: Device) =>
  driver.all('answer').map(({ caller, answer }) => [caller, answer.ok ? 'ok' : answer.code]);

describe('the request of a certificate', () => {
  it('is drafted when it is due, and only one at a time', () => {
    const driver = device(34).pass(0.6 * DAY);
    expect(driver.all('draft')).toEqual([]);
    driver.pass(5 * DAY);
    expect(driver.all('draft')).toHaveLength(1);
  });

  it('is published when it has been saved, and not before, even if a connection comes up', () => {
    const driver = device(30).see({ request }).post(connection('up'));
    expect(driver.all('publish_request')).toEqual([]);
    driver.post(drafted());
    expect(driver.all('publish_request')).toMatchObject([{ id: 'r1', csr: 'CSR' }]);
  });

  it('waits for the connection', () => {
    const driver = device(30).post(connection('failed')).see({ request }).post(drafted());
    expect(driver.all('publish_request')).toEqual([]);
    driver.post(connection('up'));
    expect(driver.all('publish_request')).toHaveLength(1);
  });

  it('is published again at each connection, and after a day', () => {
    const driver = device(30, { request }).post(connection('failed'), connection('up'));
    expect(driver.all('publish_request')).toHaveLength(2);
    driver.pass(DAY - 1);
    expect(driver.all('publish_request')).toHaveLength(2);
    driver.pass(HOUR);
    expect(driver.all('publish_request')).toHaveLength(3);
  });

  it.each([
    ['has failed', drafted('the disk is full')],
    ['has thrown', { type: 'failed', effect: { type: 'draft' } }],
  ] as const)('is drafted again after a day when the draft %s', (_, failure) => {
    const driver = device(30).post(failure);
    expect(driver.all('report_problem')).toHaveLength(1);
    driver.pass(DAY - HOUR);
    expect(driver.all('draft')).toHaveLength(1);
    driver.pass(HOUR);
    expect(driver.all('draft')).toHaveLength(2);
  });

  it('waits until the clock is set', () => {
    const driver = drive(
      renewalMachine(0),
      { present: { validFrom: 0, validTo: NOW + DAY }, successor: null, request: null, shown: null },
      { wall: null },
    );
    driver.post(begun).pass(DAY);
    expect(driver.effects).toEqual([]);
    driver.setWall(NOW).pass(HOUR);
    expect(driver.all('draft')).toHaveLength(1);
  });
});

describe('the command for a new certificate', () => {
  it('is answered when the request has been saved', () => {
    const driver = device(90).post(ordered(1));
    expect(types(driver.fresh())).toEqual(['draft']);
    driver.see({ request }).post(drafted());
    expect(types(driver.fresh())).toEqual(['log', 'publish_request', 'answer']);
    expect(answers(driver)).toEqual([[1, 'ok']]);
  });

  it('publishes the pending request again', () => {
    const driver = device(90, { request }).post(ordered(1), ordered(2));
    expect(types(driver.fresh())).toEqual(['publish_request', 'answer', 'publish_request', 'answer']);
  });

  it.each([
    ['is drafted', () => device(90).post(ordered(1))],
    ['is judged', () => device(90, { request }).post(offered(1))],
    ['is tried', () => device(90, { successor: NEXT })],
  ])('is refused while a new one %s', (_, busy) => {
    expect(answers(busy().post(ordered(2))).at(-1)).toEqual([2, 'busy']);
  });

  it.each([
    ['has failed', drafted('the disk is full')],
    ['has thrown', { type: 'failed', effect: { type: 'draft' } }],
  ] as const)('is refused when the draft %s, and may come again', (_, failure) => {
    const driver = device(90).post(ordered(1), failure);
    expect(answers(driver)).toEqual([[1, 'not_kept']]);
    driver.post(ordered(2));
    expect(driver.all('draft')).toHaveLength(2);
  });
});

describe('the answer to a request', () => {
  it('is tried a second after it was found good: the answer to the command leaves first', () => {
    const driver = device(30, { request }).post(offered(1));
    expect(driver.all('judge')).toMatchObject([{ caller: 1, pem: 'PEM 1', wall: NOW }]);
    driver.see({ request: null, successor: NEXT }).fresh();
    driver.post(good(1));
    expect(types(driver.fresh())).toEqual(['use', 'log', 'answer']);
    expect(driver.all('answer')).toMatchObject([{ answer: { ok: true, validTo: NEXT.validTo } }]);
    expect(driver.pass(999).fresh()).toEqual([]);
    expect(types(driver.pass(1).fresh())).toEqual(['reconnect']);
    expect(driver.pass(10_000).fresh()).toEqual([]);
  });

  it('is judged alone: a second one is refused meanwhile, and does not take the request back', () => {
    const driver = device(30, { request }).post(offered(1), offered(9));
    expect(answers(driver)).toEqual([[9, 'not_asked']]);
    driver.see({ request: null, successor: NEXT }).post(offered(2));
    expect(answers(driver).at(-1)).toEqual([2, 'not_asked']);
    expect([driver.all('judge').length, driver.all('clear_request').length]).toEqual([1, 0]);
    // The first one could not be saved.
    driver.see({ request, successor: null }).post(bad(1), offered(3));
    expect(answers(driver).at(-1)).toEqual([1, 'wrong_certificate']);
    expect(driver.all('judge')).toHaveLength(2);
  });

  it('is refused when it was not asked for, and a request that is over is taken back', () => {
    const driver = device(90).post(offered(1));
    expect(types(driver.fresh())).toEqual(['clear_request', 'answer']);
    driver.see({ request }).post(offered(2, 'older'));
    expect(types(driver.fresh())).toEqual(['answer']);
    expect(answers(driver)).toEqual([
      [1, 'not_asked'],
      [2, 'not_asked'],
    ]);
  });

  it('is refused while the clock is not set', () => {
    const driver = device(30, { request }).setWall(null).post(offered(1)).setWall(NOW).post(offered(2));
    expect(answers(driver)).toEqual([[1, 'clock']]);
    expect(driver.all('judge')).toMatchObject([{ caller: 2 }]);
  });

  it('is not tried when its check has thrown, and the next one is judged', () => {
    const failed = {
      type: 'failed',
      effect: { type: 'judge', caller: 1, pem: '', wall: 0 as never },
    } as const;
    const driver = device(30, { request }).post(offered(1)).see({ successor: NEXT });
    driver.fresh();
    driver.post(failed);
    expect(types(driver.fresh())).toEqual(['drop', 'answer']);
    expect(answers(driver)).toEqual([[1, 'internal']]);
    driver.see({ successor: null }).post(offered(2), { ...failed, effect: { ...failed.effect, caller: 2 } });
    expect(types(driver.fresh())).toEqual(['judge', 'answer']);
  });

  it('leaves no draft beside it, although the request is over while it is judged', () => {
    const driver = device(30, { request }).post(offered(1)).see({ request: null }).pass(DAY);
    expect(driver.all('draft')).toEqual([]);
  });
});

describe('a new certificate on trial', () => {
  it('is adopted by the first connection that has shown it', () => {
    const driver = trying(10);
    expect(driver.all('show_end').at(-1)).toMatchObject({ day: '2026-01-25' });
    shows(driver, 'new', 'up');
    expect(types(driver.fresh())).toEqual(['adopt', 'clear_request', 'show_end']);
    expect(driver.all('show_end').at(-1)).toMatchObject({ day: null });
    expect(driver.all('adopt')).toMatchObject([{ validTo: NEXT.validTo }]);
    // This connection needs no other one.
    driver.see({ present: NEXT, successor: null }).pass(190 * DAY);
    expect([driver.all('reconnect'), driver.all('draft')]).toEqual([[], []]);
  });

  it('is not adopted by a connection that began earlier, with the present one', () => {
    const driver = shows(trying(), 'present', 'up');
    expect(driver.all('adopt')).toEqual([]);
    driver.pass(1000);
    expect(driver.all('reconnect')).toHaveLength(1);
    expect(shows(driver, 'new', 'up').all('adopt')).toHaveLength(1);
  });

  it('is not adopted while it is judged', () => {
    const driver = device(30, { request }).post(offered(1)).see({ request: null, successor: NEXT });
    expect(shows(driver, 'new', 'up').all('adopt')).toEqual([]);
  });

  it('is not judged by a connection with another login', () => {
    const driver = trying().see({ shown: null });
    driver.post(connection('up'), connection('refused'), connection('up'));
    expect([driver.all('adopt'), driver.all('drop')]).toEqual([[], []]);
  });

  it('is dropped when the broker refuses it and accepts the present one, and requested again after a day', () => {
    const driver = shows(trying(), 'new', 'refused');
    expect(driver.fresh()).toMatchObject([
      { type: 'use', which: 'present' },
      { type: 'log' },
      { type: 'reconnect' },
    ]);
    shows(driver, 'present', 'up');
    expect(types(driver.fresh())).toEqual(['drop', 'log', 'report_problem', 'clear_request']);
    driver.see({ successor: null }).pass(DAY - HOUR);
    expect(driver.all('draft')).toEqual([]);
    driver.pass(HOUR);
    expect(driver.all('draft')).toHaveLength(1);
  });

  it('alternates with the present one during an outage, and is not dropped', () => {
    const driver = trying();
    for (const shown of ['new', 'present', 'new', 'present'] as const)
      for (let failure = 0; failure < 3; failure += 1) shows(driver, shown, 'failed');
    const used = driver.all('use').map(({ which }) => which);
    expect(used.slice(1)).toEqual(['present', 'new', 'present', 'new']);
    expect(driver.all('reconnect')).toHaveLength(4);
    expect(shows(driver, 'new', 'up').all('adopt')).toHaveLength(1);
  });

  it('leaves the pause between connections to the line when the broker refuses both', () => {
    const driver = trying();
    shows(driver, 'new', 'refused');
    expect(driver.fresh().map(({ type }) => type)).toContain('reconnect');
    shows(driver, 'present', 'refused');
    expect(driver.fresh()).toEqual([{ type: 'use', which: 'new' }]);
    expect(shows(driver, 'new', 'up').all('adopt')).toHaveLength(1);
  });

  it('waits for the next connection when the present one works, and only the line has failed', () => {
    const driver = trying();
    for (let failure = 0; failure < 3; failure += 1) shows(driver, 'new', 'failed');
    driver.fresh();
    shows(driver, 'present', 'up');
    expect(driver.fresh()).toEqual([{ type: 'use', which: 'new' }]);
    // The end of the connection with the present one is no failure of the new one.
    expect(driver.post(connection('refused')).fresh()).toEqual([]);
    expect(shows(driver, 'new', 'up').all('adopt')).toHaveLength(1);
  });

  it('begins when the store has one at the start, or delivers it late', () => {
    const early = device(30, { successor: NEXT, shown: 'new' });
    expect(early.all('adopt')).toHaveLength(1);
    const late = device(90).see({ successor: NEXT });
    expect(shows(late, 'new', 'up').all('adopt')).toHaveLength(1);
  });

  it('begins anew after one that was dropped', () => {
    const driver = shows(shows(trying(), 'new', 'refused'), 'present', 'up');
    driver.see({ successor: null, request }).post(offered(2)).see({ request: null, successor: NEXT });
    driver.post(good(2));
    shows(driver, 'new', 'failed');
    shows(driver, 'new', 'up');
    expect([driver.all('adopt').length, driver.all('drop').length]).toEqual([1, 1]);
  });
});

describe('the warning', () => {
  it('comes once, 14 days before the end, and the status shows the day', () => {
    const driver = device(15, { request }).pass(0.9 * DAY);
    expect(driver.all('report_problem')).toEqual([]);
    expect(driver.all('show_end').at(-1)).toMatchObject({ day: null });
    driver.pass(3 * DAY);
    expect(driver.all('report_problem')).toMatchObject([{ message: expect.stringContaining('2026-01-30') }]);
    expect(driver.all('show_end').at(-1)).toMatchObject({ day: '2026-01-30' });
  });
});
