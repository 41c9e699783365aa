import { describe, expect, it } from 'vitest';
import { tokenProbeAnswerSchema } from '../../src/protocol/mqtt/token.ts';
import { until } from '../adapters/mqtt/bench.ts';
import { type Rig, rigOfEachTest, STREAM_URL } from './rig.ts';

const { start, sessionsAtService } = rigOfEachTest();

/** The payload of the one answer. */
async function probe(rig: Rig, kind: true | 'service' | 'backend' = true): Promise<string> {
  rig.send('kiosk', rig.request('p1', { probe: kind }));
  const answers = () => rig.witness.messages.filter(({ topic }) => topic.endsWith('/kiosk/token/res'));
  await until(() => answers().length > 0, 'the answer');
  return answers()[0]?.payload ?? '';
}

describe('a trial request', () => {
  it.each([true, 'service'] as const)(
    '(%s) goes all the way to the service, and leaves neither a session nor a token behind',
    async (kind) => {
      const rig = await start();
      const payload = await probe(rig, kind);
      const answer = tokenProbeAnswerSchema.parse(JSON.parse(payload));
      expect(answer).toMatchObject({ id: 'p1', probe: { session: 'deleted' }, stream_url: STREAM_URL });
      expect(payload).not.toMatch(/token"|session":\{/);
      expect(sessionsAtService().filter(({ revoked }) => !revoked)).toEqual([]);
      expect(rig.lines.join('')).toMatch(/a trial request was answered/);
    },
  );

  it('of the backend alone is answered although the service refuses it', async () => {
    const rig = await start({ apiKey: 'not-the-key' });
    const answer = tokenProbeAnswerSchema.parse(JSON.parse(await probe(rig, 'backend')));
    expect(answer).toMatchObject({ id: 'p1', probe: { session: 'none' }, stream_url: STREAM_URL });
    expect(sessionsAtService()).toEqual([]);
  });

  it('learns that the service refuses the backend', async () => {
    const rig = await start({ apiKey: 'not-the-key' });
    expect(JSON.parse(await probe(rig))).toMatchObject({
      id: 'p1',
      ok: false,
      error: { code: expect.any(String) },
    });
  });
});
