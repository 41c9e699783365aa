/** One hostile client and honest devices, over a real broker and the emulator. */
import { expect, it } from 'vitest';
import { fixtureOfEachTest, sessionOf } from './backend-on-loopback.ts';

const { start, sessionsAtService } = fixtureOfEachTest();

it('gives the honest device its token while one client asks under 1,000 invented names', async () => {
  // On a slow machine there is time for more than the 100 unused sessions of the emulator.
  const fixture = await start({ emulator: { pending: 10_000 } });
  const began = performance.now();
  sessionOf(await fixture.ask('honest', 'before'));
  for (let index = 0; index < 1000; index += 1)
    fixture.send(`invented-${index}`, fixture.request('r1'), { qos: 0 });
  const session = sessionOf(await fixture.ask('honest', 'now', { reason: 'network' }));
  expect(session.token.length).toBeGreaterThan(10);
  // limits.createsPerSecond is 5. That a known device does not wait for unknown ones is shown in virtual time.
  const seconds = (performance.now() - began) / 1000;
  expect(sessionsAtService().length).toBeLessThan(20 + 5 * seconds);
  expect(session['max_session_duration_seconds']).toBe(1800);
});

it('revokes a replaced session when a device asks for a fourth', async () => {
  const fixture = await start();
  const ids: string[] = [];
  for (let index = 0; index < 6; index += 1) {
    const { id } = sessionOf(await fixture.ask('kiosk', `r${index}`, { reason: 'network' }));
    ids.push(id);
    const session = sessionsAtService().find((one) => one.id === id);
    // Marks its stream as begun, so that the session does not count as unused.
    if (session !== undefined) session.firstConnectedAt = 1;
  }
  const alive = () => sessionsAtService().filter(({ revoked }) => !revoked).length;
  await expect.poll(alive).toBeLessThanOrEqual(3);
  expect(fixture.lines.some((line) => line.includes('revoked a replaced session'))).toBe(true);
});
