import { describe, expect, it } from 'vitest';
import { ready } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

describe('languages that the service does not apply', () => {
  it('while live: are not confirmed while the service names the previous ones', () => {
    const lane = new LaneHarness().goLive();
    const tells = (...languages: string[]): void => {
      lane.says(ready('running', { targets: languages }));
    };
    lane.pass(5000);
    lane.options({ targets: ['de'] });
    for (let i = 0; i < 4; i++) {
      lane.pass(2000);
      tells('es');
    }
    expect(lane.phase).toBe('configuring');
    tells('de-DE');
    expect(lane.phase).toBe('live');
    // Another tag may mean the same language.
    lane.options({ targets: ['no'] });
    lane.until(() => lane.last('poll_task').at > lane.last('send_task').at, 10_000);
    tells('nb');
    expect(lane.phase).toBe('live');
  });

  it('while live: are sent to the next session when the service never applies them', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(5000);
    lane.options({ targets: ['de'] });
    for (let i = 0; i < 12 && lane.phase === 'configuring'; i++) {
      lane.pass(2000);
      if (lane.phase === 'configuring') lane.says(ready('running', { targets: ['es'] }));
    }
    expect(lane.state.problem?.code).toBe('setup_timeout');
    lane.comeBack();
    expect(lane.phase).toBe('live');
    expect(lane.last('send_task')).toMatchObject({ source: 'en', targets: ['de'] });
  });
});
