import { describe, expect, it } from 'vitest';
import { runDay } from './day.ts';
import { testMinuteSessions } from './figures-tests.ts';

describe('days without faults', () => {
  testMinuteSessions(0.5, 20);

  it('bill little more than the conversation at a museum desk, and every visitor is heard', async () => {
    const day = await runDay(1);
    expect(day.violations).toBe(0);
    // The rest was spoken while the loudspeaker played (half-duplex).
    expect(day.said_share).toBeGreaterThan(0.55);
    expect(day.said_share + day.gated_share).toBeGreaterThan(0.99);
    expect(day.billed_over_conversation).toBeLessThan(1.25);
    expect(day.billed_over_speech_and_translation).toBeLessThan(1.35);
    expect(day.billed_s).toBeLessThan(day.naive_billed_s / 4);
  });
});
