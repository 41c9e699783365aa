import { describe, expect, it } from 'vitest';
import { judgeCaptureFindings } from '../../../../../src/device/doctor/checks/capture/running-capture-rules.ts';

describe('the microphone of a running lane', () => {
  it('is judged by the findings of the lane', () => {
    const lost = judgeCaptureFindings('Mic', ['silent', 'deaf']);
    expect(lost.map(({ verdict }) => verdict)).toEqual(['problem', 'problem']);
    const bad = ['too_fast', 'too_slow', 'clipping', 'dc_offset', 'gain_changed', 'noisy_room'] as const;
    const poor = judgeCaptureFindings('Mic', bad);
    expect(new Set(poor.map(({ verdict }) => verdict))).toEqual(new Set(['warning']));
    expect([...lost, ...poor].every(({ finding, fix }) => /^Mic:? /.test(finding) && fix !== null)).toBe(
      true,
    );
    expect(poor.at(-1)).toMatchObject({
      finding: expect.stringContaining('keeps waking the lane from standby'),
      fix: expect.stringContaining('directional'),
    });
  });
});
