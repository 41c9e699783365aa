import { describe, expect, it } from 'vitest';
import { testFlood } from './flood.ts';
import { LaneHarness } from './lane-harness.ts';

describe('a service that sends without end', () => {
  // After 400 messages of any kind, the lane's memory does not grow.
  testFlood({ full: 420, all: 600, mixtures: 5 });

  it('is disconnected with its own cause, and tried again later', () => {
    const lane = new LaneHarness().goLive();
    const message = 'the agent closed the stream: the service sent too much';
    lane.step({ type: 'broke', stream: lane.stream, fault: 'flood', message });
    expect(lane.phase).toBe('waiting');
    expect(lane.state.problem).toMatchObject({ code: 'flooded', message });
    expect(lane.all('notify').at(-1)?.detail).toMatchObject({ cause: 'flooded' });
    lane.comeBack();
    expect(lane.phase).toBe('live');
  });
});
