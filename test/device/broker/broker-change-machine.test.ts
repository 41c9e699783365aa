import { describe, expect, it } from 'vitest';
import {
  type BrokerChangeEvent,
  brokerChangeMachine,
} from '../../../src/device/broker/broker-change-machine.ts';
import { drive } from '../../machine/drive.ts';

const OLD = 'mqtts://old.example:8883';
const NEW = 'mqtts://new.example:8883';
const THIRD = 'mqtts://third.example:8883';
const MINUTE_MS = 60_000;

const up: BrokerChangeEvent = { type: 'connected' };
const down: BrokerChangeEvent = { type: 'disconnected' };
const other: BrokerChangeEvent = { type: 'configured', isOther: true };
const same: BrokerChangeEvent = { type: 'configured', isOther: false };
const tried = (candidate: number, problem: string | null = null): BrokerChangeEvent => ({
  type: 'tried',
  candidate,
  problem,
});
const machine = brokerChangeMachine(7);

/** Connected to the old broker, which has accepted the device. */
const settled = () => {
  const driver = drive(machine, { configured: OLD, previous: null }).post(up);
  driver.fresh();
  return driver;
};
/** While the configuration names the new one; its first try is running. */
const changing = () => {
  const driver = settled().see({ configured: NEW, previous: OLD }).post(other);
  driver.fresh();
  return driver;
};
const wakeAt = (driver: ReturnType<typeof settled>) => machine.wakeAt(driver.state);

describe('another broker in the configuration', () => {
  it('is tried at once', () => {
    const driver = settled().see({ configured: NEW, previous: OLD }).post(other);
    expect(driver.fresh()).toEqual([
      { type: 'show_away', broker: null },
      { type: 'log_candidate', from: OLD, to: NEW },
      { type: 'try', candidate: 1 },
    ]);
  });

  it('is the present one when it has accepted the device, and is tried no more', () => {
    const driver = changing().post(tried(1));
    expect(driver.fresh()).toEqual([
      { type: 'settle' },
      { type: 'show_away', broker: null },
      { type: 'report_change', from: OLD, to: NEW },
    ]);
    expect(wakeAt(driver)).toBeNull();
  });

  it('is reported once when it does not accept the device, and tried every 30 to 60 s until it does', () => {
    const driver = changing().answer((effect) => (effect.type === 'try' ? tried(1, 'no answer') : null));
    driver.post(tried(1, 'no answer')).pass(100 * MINUTE_MS);
    expect(driver.all('report_return')).toMatchObject([{ from: NEW, to: OLD, message: 'no answer' }]);
    expect(driver.all('show_away').at(-1)).toMatchObject({ broker: NEW });
    const times = driver.all('try').map(({ at }) => at);
    const waits = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(waits.length).toBeGreaterThan(100);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(MINUTE_MS / 2);
    expect(Math.max(...waits)).toBeLessThanOrEqual(MINUTE_MS);
    expect(new Set(waits).size).toBeGreaterThan(100);
    driver.post(tried(1));
    expect(driver.all('report_change')).toHaveLength(1);
  });

  it('is tried at different times by two devices', () => {
    const [one, two] = [1, 2].map((seed) => {
      const driver = drive(brokerChangeMachine(seed), { configured: NEW, previous: OLD }).post(other);
      return driver.wake().now;
    });
    expect(one).not.toBe(two);
  });

  it('is tried each time when the present one is lost', () => {
    const driver = changing().post(tried(1, 'no answer'));
    for (let count = 2; count < 7; count += 1) {
      driver.post(down);
      expect(driver.all('try')).toHaveLength(count);
    }
  });

  it('is tried when the configuration is read again unchanged, and reported no second time', () => {
    const driver = changing().post(tried(1, 'no answer'), same, tried(1, 'no answer'));
    expect([driver.all('try').length, driver.all('report_return').length]).toEqual([2, 1]);
    expect(settled().post(same).fresh()).toEqual([]);
  });

  it('is dropped when the configuration goes back to the present one', () => {
    const driver = changing().post(tried(1, 'no answer')).see({ configured: OLD, previous: null });
    driver.fresh();
    driver.post(other);
    expect(driver.fresh()).toEqual([{ type: 'show_away', broker: null }]);
    expect(wakeAt(driver)).toBeNull();
  });

  it('is not tried at the present broker when the configuration went back during the try', () => {
    const driver = changing().see({ configured: OLD, previous: null }).post(other);
    driver.fresh();
    expect(driver.post(tried(1, 'no answer')).fresh()).toEqual([]);
    expect(wakeAt(driver)).toBeNull();
  });

  it('is left again when it accepts the device after the configuration went back', () => {
    const driver = changing().see({ configured: OLD, previous: null }).post(other);
    driver.fresh();
    expect(driver.post(tried(1)).fresh()).toEqual([{ type: 'reconnect' }]);
  });

  it('is replaced by a third one during its try, whatever the result', () => {
    const accepted = changing().see({ configured: THIRD }).post(other, tried(1));
    expect(accepted.all('reconnect')).toHaveLength(1);
    expect([accepted.all('report_change').length, accepted.all('settle').length]).toEqual([0, 1]);
    expect(accepted.pass(MINUTE_MS).all('try').at(-1)).toMatchObject({ candidate: 2 });
    const refused = changing().see({ configured: THIRD }).post(other, tried(1, 'no answer'));
    expect(refused.all('report_return')).toEqual([]);
    expect(refused.all('try').map(({ candidate }) => candidate)).toEqual([1, 2, 2]);
    refused.post(tried(2, 'not authorized'));
    expect(refused.all('report_return')).toMatchObject([{ from: THIRD, message: 'not authorized' }]);
  });

  it('is another one for each login at the same address', () => {
    const driver = changing().post(other, tried(1));
    expect(driver.all('report_change')).toEqual([]);
    driver.post(tried(2));
    expect(driver.all('report_change')).toHaveLength(1);
  });

  it('is reported anew after another change', () => {
    const driver = changing().post(tried(1, 'no answer')).see({ configured: THIRD }).post(other);
    driver.post(tried(2, 'no answer'));
    expect(driver.all('report_return').map(({ from }) => from)).toEqual([NEW, THIRD]);
  });

  it('is used at once while there is no connection, if no other broker has accepted the device', () => {
    const begin = () => drive(machine, { configured: OLD, previous: null });
    expect(begin().post(down, other).all('reconnect')).toHaveLength(1);
    expect(begin().post(up, down, other).all('reconnect')).toHaveLength(1);
    expect(begin().post(up, other).all('reconnect')).toEqual([]);
    expect(begin().post(down, other).all('try')).toEqual([]);
  });

  it('is not accepted by a connection with the previous one', () => {
    const driver = changing().post(down, up);
    expect(driver.all('settle')).toHaveLength(1);
    expect(wakeAt(driver)).not.toBeNull();
  });

  it('is tried again at its time when the try itself has failed', () => {
    const driver = changing().post({ type: 'failed', effect: { type: 'try', candidate: 1 } });
    expect(driver.pass(MINUTE_MS).all('try')).toHaveLength(2);
  });

  it('is tried no more when its time comes after the change', () => {
    const driver = changing().see({ configured: NEW, previous: null }).wake();
    expect([driver.all('try').length, wakeAt(driver)]).toEqual([1, null]);
  });
});
