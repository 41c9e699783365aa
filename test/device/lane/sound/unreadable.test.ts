import { describe, expect, it } from 'vitest';
import { laneStatus } from '../../../../src/device/status/status-rules.ts';
import type { UnreadableWhat } from '../../../../src/ports/stream.ts';
import { ready } from '../../../service-events.ts';
import { LaneHarness } from '../asking-lane.ts';

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

describe('unreadable messages of the service', () => {
  it('are reported once in a session, with the first of them', () => {
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

  it('degrade the lane from 2 s after the first one until a minute after the last one', () => {
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

  it('begin a new problem after a minute without any', () => {
    const lane = live();
    mumble(lane);
    lane.hush(200);
    mumble(lane);
    expect(status(lane).status).toBe('ready');
  });

  it('stop being a problem with a readable text or sound, and with nothing else', () => {
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

  it('are not a problem among readable ones', () => {
    const lane = live();
    for (let i = 0; i < 20; i++) {
      mumble(lane);
      lane.pass(1000);
      lane.hear('a', 200);
      expect(status(lane).status).toBe('ready');
    }
  });

  it('are not a problem as frames while no result is due', () => {
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
  ])('explain a session that ends as %s', (code, message) => {
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

  it('do not explain a session that ended with a reason', () => {
    const lane = live();
    mumble(lane);
    lane.end('cut', { reason: 'service_error', detail: '1011, out of order' });
    expect(lane.state.problem?.message).toContain('out of order');
  });

  it('do not appear in the report of a silent service without any', () => {
    const lane = live();
    for (let i = 0; i < 300 && lane.state.problem === null; i++) lane.speak(1);
    expect(lane.state.problem?.message).toBe('the service received speech and sent no result');
  });
});
