/** The parts of `npm run bench:fleet`; CI runs the whole with `--quick`. */
import { expect, it } from 'vitest';
import { fixtureOfEachTest } from '../backend/backend-on-loopback.ts';
import { endStream, openDevice, openStream, TENANT } from './devices.ts';
import { peakOf, quantile } from './scenario.ts';
import { runVirtualFleet } from './virtual/scenario.ts';

const { start } = fixtureOfEachTest();

it('counts most moments within one second', () => {
  expect(peakOf([])).toBe(0);
  expect(peakOf([0, 400, 999, 1000, 1100, 5000])).toBe(4);
});

it('takes quantiles of values in any order', () => {
  expect([0, 0.5, 1].map((share) => quantile([30, 10, 20], share))).toEqual([10, 20, 30]);
});

it('a simulated device gets a token, and a stream with a running task', async () => {
  const fixture = await start({ config: { allow: [`${TENANT}/*`] } });
  let asked = 0;
  const device = openDevice(
    'one',
    Number(new URL(fixture.brokerUrl).port),
    () => {
      asked += 1;
    },
    () => {},
  );
  const { session, url, denials } = await device.token();
  expect([asked > 0, denials]).toEqual([true, 0]);
  const own = `${fixture.emulator?.url.replace('http', 'ws')}${new URL(url).pathname}`;
  const socket = await openStream({ session, url: own, waitedMs: 0, denials });
  expect(socket.readyState).toBe(socket.OPEN);
  endStream(socket);
  device.close();
});

it('shipped agents in virtual time have their sessions again when the broker restarts and when both backends die', async () => {
  const lines: string[] = [];
  expect(await runVirtualFleet(5, (line) => void lines.push(line))).toEqual([]);
  expect(lines.join('\n')).toMatch(/opening: 5 needs, granted 5;/);
  expect(lines.join('\n')).toMatch(/live: 5; waiting: 0$/m);
});
