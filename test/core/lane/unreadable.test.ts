import { describe, expect, it } from 'vitest';
import { laneStatus } from '../../../src/core/lane/status.ts';
import type { UnreadableWhat } from '../../../src/ports/stream.ts';
import { ready } from '../../service-events.ts';
import { LaneHarness } from './asking-lane.ts';

const SOUND = 'output_audio_data without a usable data';

function live(): LaneHarness {
  const lane = new LaneHarness();
  lane.pongs = true;
  return lane.goLive();
}
const mumble = (lane: LaneHarness, what: UnreadableWhat = 'speech', description = SOUND) =>
  lane.step({ type: 'unreadable', stream: lane.stream, what, description });
const status = (lane: LaneHarness) => laneStatus(lane.state, lane.now);
const told = (lane: LaneHarness) => lane.all('notify').filter(({ kind }) => kind === 'messages_unreadable');

describe('what the service says and nobody can read', () => {
  it('is told once in a session, with the first of it', () => {
    const lane = live();
    mumble(lane);
    mumble(lane, 'speech', 'validated_transcription without a usable transcription.text');
    mumble(lane, 'frame', 'binary frames');
    const { session } = lane.state;
    const name = 'stream' in session ? session.stream.lease.grant.session : '';
    expect(told(lane).map(({ detail }) => detail)).toEqual([
      { session: name, message: `the service sends ${SOUND}` },
    ]);
    lane.end();
    lane.comeBack();
    mumble(lane);
    expect(told(lane)).toHaveLength(2);
  });

  it('degrades the lane two seconds after the first of it, until a minute after the last', () => {
    const lane = live();
    mumble(lane);
    expect(status(lane)).toMatchObject({ status: 'ready', changesAt: lane.now + 2000 });
    lane.pass(1000);
    mumble(lane);
    lane.pass(999);
    expect(status(lane).status).toBe('ready');
    lane.pass(1);
    expect(status(lane)).toEqual({
      status: 'degraded',
      reasons: [{ code: 'unreadable' }],
      changesAt: lane.now + 59_000,
    });
    lane.hush(184);
    expect(status(lane).status).toBe('degraded');
    lane.hush(1);
    expect(status(lane)).toMatchObject({ status: 'ready', changesAt: null });
  });

  it('begins anew after a minute without any', () => {
    const lane = live();
    mumble(lane);
    lane.hush(200);
    mumble(lane);
    expect(status(lane).status).toBe('ready');
  });

  it('is over with a text or sound that can be read, and with nothing else', () => {
    const lane = live();
    const degrade = () => {
      mumble(lane);
      lane.pass(2000);
      expect(status(lane).status).toBe('degraded');
    };
    degrade();
    lane.understands('a');
    expect(status(lane).status).toBe('ready');
    degrade();
    lane.hear('b', 0, true);
    lane.says(ready());
    expect(status(lane).status).toBe('degraded');
    lane.hear('b', 200);
    expect(status(lane).status).toBe('ready');
  });

  it('is no trouble among others that can be read', () => {
    const lane = live();
    for (let i = 0; i < 20; i++) {
      mumble(lane);
      lane.pass(1000);
      lane.hear('a', 200);
      expect(status(lane).status).toBe('ready');
    }
  });

  it('is no trouble where it is no message, and no answer is owed', () => {
    const lane = live();
    for (let i = 0; i < 5; i++) {
      mumble(lane, 'frame', 'a text that is not JSON');
      lane.hush(10);
    }
    expect(status(lane).status).toBe('ready');
    expect(told(lane)).toHaveLength(1);
    lane.speak(5);
    mumble(lane, 'frame', 'a text that is not JSON');
    lane.pass(2000);
    expect(status(lane).reasons).toEqual([{ code: 'unreadable' }]);
  });

  it.each([
    ['silent_service', 'the service sent unreadable messages: binary frames'],
    ['setup_timeout', 'the service sent unreadable messages: binary frames'],
  ])('is the explanation of a session that ends as %s', (code, message) => {
    const lane = code === 'silent_service' ? live() : new LaneHarness();
    if (code === 'setup_timeout') {
      lane.brokerIs(true);
      lane.start();
      lane.grant();
      lane.open();
    }
    mumble(lane, 'frame', 'binary frames');
    for (let i = 0; i < 300 && lane.state.problem === null; i++) lane.speak(1);
    expect(lane.state.problem).toMatchObject({ code, message });
  });

  it('is no explanation of a session that was told why it ended', () => {
    const lane = live();
    mumble(lane);
    lane.end('cut', { reason: 'service_error', detail: '1011, out of order' });
    expect(lane.state.problem?.message).toContain('out of order');
  });

  it('leaves a silent service as it was where everything could be read', () => {
    const lane = live();
    for (let i = 0; i < 300 && lane.state.problem === null; i++) lane.speak(1);
    expect(lane.state.problem?.message).toBe('the service received speech and sent no result');
  });
});
