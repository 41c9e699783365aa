import { describe, expect, it } from 'vitest';
import { liveThrough, testAnyTrouble } from './flapping-agent.ts';

describe('a session that is revoked while the line to the broker is bad', () => {
  testAnyTrouble(6);

  it('is followed by another soon after four cuts of MQTT 3.1.1', async () => {
    const parts = [['cuts', 16_000]] as const;
    for (const cutAfterMs of [0, 50, 4000])
      expect(await liveThrough({ level: 4, seed: cutAfterMs, cutAfterMs, parts })).toBeLessThanOrEqual(8000);
  });
});
