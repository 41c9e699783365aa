import { describe, expect, it } from 'vitest';
import { UNDISPUTED_AFTER_MS } from '../../../src/core/retry/reconnect.ts';
import { type PresenceEvent, presenceMachine } from '../../../src/device/broker/presence-machine.ts';
import type { BusProblem } from '../../../src/ports/bus.ts';
import { drive } from '../../machine/drive.ts';

const heard = (boot_id: string, conn_seq: number, status: string, isRetained = false): PresenceEvent => ({
  type: 'heard',
  status: { boot_id, conn_seq, status },
  isRetained,
});
const RUBBISH: PresenceEvent = { type: 'heard', status: null, isRetained: false };
const up: PresenceEvent = { type: 'connected' };
const down = (problem: BusProblem): PresenceEvent => ({ type: 'down', problem });
/** Both devices are connected, at a broker that renames clients. */
const OTHER = heard('you', 1, 'ready');

/** A device on its third connection. */
const device = () => drive(presenceMachine, { bootId: 'me', connection: 3 }).post(up);
const wakeAt = (driver: ReturnType<typeof device>) => presenceMachine.wakeAt(driver.state);

describe('a wrong status at the broker', () => {
  it('is corrected at once, and then at most every two seconds', () => {
    const driver = device();
    const begin = driver.now;
    for (let count = 0; count < 80; count += 1) driver.post(RUBBISH).pass(100);
    expect(driver.all('correct').map(({ at }) => at - begin)).toEqual([0, 2000, 4000, 6000, 8000]);
  });

  it('is corrected once more after the last of many messages, and then no more', () => {
    const driver = device().post(RUBBISH, RUBBISH, RUBBISH).pass(1999);
    expect(driver.all('correct')).toHaveLength(1);
    driver.pass(1);
    expect(driver.all('correct')).toHaveLength(2);
    expect(wakeAt(driver)).toBeNull();
    driver.pass(10_000).post(RUBBISH);
    expect(driver.all('correct')).toHaveLength(3);
  });

  it('is corrected even if a right one has come since', () => {
    const driver = device()
      .post(RUBBISH, RUBBISH, heard('me', 3, 'ready'))
      .pass(2000);
    expect(driver.all('correct')).toHaveLength(2);
  });

  it('is judged by the present connection', () => {
    const driver = device().post(heard('me', 3, 'ready'));
    expect(driver.effects).toEqual([]);
    driver.see({ connection: 4 }).post(heard('me', 3, 'ready'));
    expect(driver.effects).toEqual([{ type: 'correct' }]);
  });

  it('is not corrected when it is the status of another device that is alive', () => {
    expect(device().post(OTHER).all('correct')).toEqual([]);
  });
});

describe('a name that two devices use', () => {
  it('is reported once for all signs, and each sign reaches the connection', () => {
    const driver = device().post(OTHER, OTHER, down('taken_over'), up);
    expect(driver.all('report_conflict')).toMatchObject([{ otherBootId: 'you' }]);
    expect(driver.all('dispute').map(({ isDisputed }) => isDisputed)).toEqual([true, true, true]);
  });

  it('is reported without a name after a takeover', () => {
    const driver = device().post(down('taken_over'));
    expect(driver.all('report_conflict')).toMatchObject([{ otherBootId: null }]);
    for (const problem of ['unreachable', 'refused'] as const)
      expect(device().post(down(problem)).effects).toEqual([]);
  });

  it('is recognised by the second connection of the other device', () => {
    // The broker first had the last status of the agent's previous start.
    const driver = device().post(heard('before', 9, 'offline', true), heard('you', 7, 'ready', true));
    expect(driver.effects).toEqual([]);
    driver.post(down('unreachable'), up, heard('me', 3, 'ready', true), heard('you', 8, 'ready', true));
    expect(driver.all('report_conflict')).toMatchObject([{ otherBootId: 'you' }]);
  });

  it('is reported with a short name, whatever the other device calls itself', () => {
    const driver = device().post(heard('x'.repeat(1000), 1, 'ready'));
    expect(driver.all('report_conflict')).toMatchObject([{ otherBootId: 'x'.repeat(64) }]);
  });

  it('is undisputed again after a connection of ten minutes without a sign of the other device', () => {
    const driver = device()
      .post(OTHER)
      .pass(UNDISPUTED_AFTER_MS - 1);
    driver.post(OTHER).pass(UNDISPUTED_AFTER_MS - 1);
    expect(driver.all('report_end')).toEqual([]);
    driver.pass(1);
    expect(driver.fresh().slice(-2)).toEqual([
      { type: 'dispute', isDisputed: false },
      { type: 'report_end' },
    ]);
    expect(wakeAt(driver)).toBeNull();
    driver.post(down('taken_over'));
    expect(driver.all('report_conflict')).toMatchObject([{ otherBootId: 'you' }, { otherBootId: null }]);
  });

  it('stays disputed while the connection is down, and each connection begins the ten minutes again', () => {
    const driver = device()
      .post(OTHER)
      .pass(UNDISPUTED_AFTER_MS - 1)
      .post(down('unreachable'));
    expect(wakeAt(driver)).toBeNull();
    driver.pass(10 * UNDISPUTED_AFTER_MS).post(up);
    driver.pass(UNDISPUTED_AFTER_MS - 1);
    expect(driver.all('report_end')).toEqual([]);
    driver.pass(1);
    expect(driver.all('report_end')).toHaveLength(1);
  });

  it('does not delay a correction, nor a correction the end of the dispute', () => {
    const driver = device()
      .post(OTHER)
      .pass(UNDISPUTED_AFTER_MS - 1000);
    driver.post(RUBBISH, RUBBISH).pass(1000);
    expect([driver.all('report_end').length, driver.all('correct').length]).toEqual([1, 1]);
    driver.pass(1000);
    expect(driver.all('correct')).toHaveLength(2);
  });

  it('is not noticed by the retained status of an earlier start of the agent', () => {
    const driver = device().post(heard('before', 9, 'ready', true), heard('before', 9, 'ready', true));
    expect(driver.effects).toEqual([]);
  });

  it('is noticed further when an effect has failed', () => {
    const driver = device()
      .post(RUBBISH, { type: 'failed', effect: { type: 'correct' } }, OTHER)
      .pass(2000);
    expect(driver.all('report_conflict')).toHaveLength(1);
    driver.post(RUBBISH);
    expect(driver.all('correct')).toHaveLength(2);
  });
});
