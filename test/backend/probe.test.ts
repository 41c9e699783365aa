import { describe, expect, it } from 'vitest';
import { tokenProbeAnswerSchema } from '../../src/protocol/mqtt/token.ts';
import { until } from '../until.ts';
import { type Fixture, fixtureOfEachTest, STREAM_URL } from './backend-on-loopback.ts';

const { start, sessionsAtService } = fixtureOfEachTest();

/** The payload of the one answer. */
async function probe(fixture: Fixture, kind: true | 'service' | 'backend' = true): Promise<string> {
  fixture.send('kiosk', fixture.request('p1', { probe: kind }));
  const answers = () => fixture.witness.messages.filter(({ topic }) => topic.endsWith('/kiosk/token/res'));
  await until(() => answers().length > 0, 'the answer');
  return answers()[0]?.payload ?? '';
}

describe('a trial request', () => {
  it.each([true, 'service'] as const)(
    'reaches the service, and leaves no session and no token (%s)',
    async (kind) => {
      const fixture = await start();
      const payload = await probe(fixture, kind);
      const answer = tokenProbeAnswerSchema.parse(JSON.parse(payload));
      expect(answer).toMatchObject({ id: 'p1', probe: { session: 'deleted' }, stream_url: STREAM_URL });
      expect(payload).not.toMatch(/token"|session":\{/);
      expect(sessionsAtService().filter(({ revoked }) => !revoked)).toEqual([]);
      expect(fixture.lines.join('')).toMatch(/trial request answered/);
    },
  );

  it('gets an answer when it tests only the backend and the service refuses the backend', async () => {
    const fixture = await start({ apiKey: 'not-the-key' });
    const answer = tokenProbeAnswerSchema.parse(JSON.parse(await probe(fixture, 'backend')));
    expect(answer).toMatchObject({ id: 'p1', probe: { session: 'none' }, stream_url: STREAM_URL });
    expect(sessionsAtService()).toEqual([]);
  });

  it('reports that the service refuses the backend', async () => {
    const fixture = await start({ apiKey: 'not-the-key' });
    expect(JSON.parse(await probe(fixture))).toMatchObject({
      id: 'p1',
      ok: false,
      error: { code: expect.any(String) },
    });
  });
});
