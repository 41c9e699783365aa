import { describe, expect, it } from 'vitest';
import type { Caption } from '../../../src/device/lane/state/lane-effect.ts';
import type { ServiceEvent } from '../../../src/ports/stream.ts';
import { heard, pushed, ready, rejected, translated, understood, warned } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

describe('a transcript', () => {
  const given = { id: 't7', language: 'es', text: 'hola' };
  it.each<[ServiceEvent, Partial<Caption>]>([
    [heard(given), { kind: 'source', isFinal: false, part: null }],
    [understood(given), { kind: 'source', isFinal: true, part: null }],
    [translated({ ...given, part: '1', isFinal: false }), { kind: 'translation', isFinal: false, part: '1' }],
    [translated({ ...given, part: '1' }), { kind: 'translation', isFinal: true, part: '1' }],
  ])('is a caption: $type', (said, caption) => {
    const lane = new LaneHarness().goLive();
    lane.says(said);
    expect(lane.last('caption').caption).toEqual({ ...given, ...caption });
  });

  it('of the last words still arrives while the stream drains', () => {
    const lane = new LaneHarness().goDraining();
    lane.says(translated({ text: 'adiós' }));
    expect(lane.last('caption').caption.text).toBe('adiós');
  });
});

describe('a warning', () => {
  it.each(['AUDIO_STREAM_TOO_FAST', 'AUDIO_STREAM_STALLED', 'VOICE_NOT_FOUND'])(
    'is noted, and the stream goes on: %s',
    (code) => {
      const lane = new LaneHarness().goLive();
      lane.says(warned('warning', { code, text: 'mind this' }));
      expect(lane.phase).toBe('live');
      expect(lane.state.warning).toEqual({
        code: `service_${code.toLowerCase()}`,
        message: 'mind this',
        at: lane.now,
      });
      lane.speak(3);
      expect(lane.wire).toBe('sss');
    },
  );

  it('may be empty, or far too long', () => {
    const lane = new LaneHarness().goLive();
    lane.says(warned('warning'));
    expect(lane.state.warning).toMatchObject({ code: 'service_warning', message: 'no details' });
    lane.says(warned('warning', { code: 'C'.repeat(500) }));
    expect(lane.state.warning?.code).toHaveLength('service_'.length + 60);
    expect(lane.state.warning?.message).toHaveLength(200);
  });
});

describe('an error on a live stream', () => {
  it('is noted if it is not a refusal, and the stream goes on', () => {
    const lane = new LaneHarness().goLive();
    lane.says(ready('none'));
    expect(lane.state.warning).toBeNull();
    for (const said of [rejected('hm'), warned('error', { code: 'SOMETHING_NEW', text: 'hm' })]) {
      lane.says(said);
      expect(lane.phase).toBe('live');
      expect(lane.state.warning?.code).toBe(`service_${said.code?.toLowerCase()}`);
    }
  });
});

describe('an unused message', () => {
  it('is counted', () => {
    const lane = new LaneHarness().goLive();
    lane.says(pushed('unclear'));
    expect(lane.state.counts.ignored).toBe(1);
    expect(lane.phase).toBe('live');
  });
});
