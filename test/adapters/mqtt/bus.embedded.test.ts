import { afterEach, describe, expect, it } from 'vitest';
import { type Broker, startBroker } from '../../../src/cli/demo/broker.ts';
import { until } from '../../until.ts';
import { describeBus } from './bus-contract.ts';
import { createTestBuses } from './test-buses.ts';

describeBus('the embedded broker (MQTT 3.1.1)', 4, () => startBroker());

describe('embedded broker', () => {
  const buses = createTestBuses();
  let broker: Broker;
  afterEach(async () => {
    await buses.closeAll();
    await broker.close();
  });

  it('delivers to shared subscriptions', async () => {
    broker = await startBroker();
    const backend = buses.open(
      { url: broker.url, clientId: 'backend' },
      { subscriptions: ['$share/group/p/+/req'] },
    );
    const device = buses.open({ url: broker.url });
    await until(() => backend.ups.length > 0 && device.ups.length > 0, 'both');
    device.bus.publish('p/kiosk/req', 'please');
    await until(() => backend.messages.length > 0, 'the request');
    expect(backend.messages[0]?.topic).toBe('p/kiosk/req');
  });

  it('disconnects all clients once, and they reconnect', async () => {
    broker = await startBroker();
    const device = buses.open({ url: broker.url });
    await until(() => device.ups.length === 1, 'up');
    broker.kickAll();
    await until(() => device.ups.length === 2, 'up again');
    expect(device.order).toEqual(['up 1', 'down unreachable', 'up 2']);
  });

  it('is unreachable while paused, and keeps its port and retained messages', async () => {
    broker = await startBroker();
    const device = buses.open({ url: broker.url });
    await until(() => device.ups.length === 1, 'up');
    device.bus.publish('kept', 'still here', { retain: true });
    await until(() => device.bus.outbox.waiting + device.bus.outbox.inFlight === 0, 'the acknowledgement');
    broker.pause();
    await until(() => device.downs.length >= 2, 'a failed try');
    expect(device.bus.connected).toBe(false);
    broker.resume();
    await until(() => device.ups.length === 2, 'up again');
    const late = buses.open({ url: broker.url, clientId: 'late' }, { subscriptions: ['kept'] });
    await until(() => late.messages.length > 0, 'the retained message');
    expect(late.messages[0]?.payload).toBe('still here');
  });

  it('refuses a wrong password slowly, and shows it in no message', async () => {
    const password = 'open-sesame-4711';
    broker = await startBroker({ login: (username, given) => username === 'kiosk' && given === 'right' });
    const device = buses.open({ url: broker.url, username: 'kiosk', password: () => password });
    await until(() => device.downs.length === 1, 'the refusal');
    expect(device.downs[0]?.problem).toBe('refused');
    expect(JSON.stringify(device.downs)).not.toContain(password);
    const good = buses.open({
      url: broker.url,
      clientId: 'good',
      username: 'kiosk',
      password: () => 'right',
    });
    await until(() => good.ups.length === 1, 'the right password');
    expect(device.downs).toHaveLength(1);
  });
});
