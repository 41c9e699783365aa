import { describe, expect, it } from 'vitest';
import { fail } from '../../../../src/device/lane/session/failure.ts';
import { patchSession, streamsOf } from '../../../../src/device/lane/state/session-state.ts';
import { StepContext } from '../../../../src/device/lane/state/step-context.ts';
import { SITUATIONS, situation } from '../situations.ts';

describe('the state of a session', () => {
  it.each(['idle', 'standby', 'waiting', 'parked', 'draining', 'restarting', 'closed'])(
    'while %s: the core throws at a failure, because there is no session',
    (name) => {
      const { state, now } = situation(name);
      expect(() => fail(new StepContext(state, now), 'network')).toThrow(`while ${name}`);
    },
  );

  it('refuses a transition that the table of phases forbids', () => {
    const { state, now } = situation('idle');
    const context = new StepContext(state, now);
    expect(() => context.become({ kind: 'waiting', lease: null, wait: null })).toThrow(
      'from idle to waiting',
    );
    expect(context.state).toBe(state);
  });

  it.each(Object.keys(SITUATIONS))('while %s: a change reaches its stream and no other', (name) => {
    const { state, now } = situation(name);
    for (const stream of streamsOf(state)) {
      const context = new StepContext(state, now);
      expect(context.patch(stream, { pingsOut: 7 })).toEqual({ ...stream, pingsOut: 7 });
      const after = streamsOf(context.state);
      expect(after.map(({ pingsOut }) => pingsOut === 7)).toEqual(after.map(({ id }) => id === stream.id));
      expect(context.state.session.kind).toBe(state.session.kind);
    }
    expect(patchSession(state.session, 99, { pingsOut: 7 })).toEqual(state.session);
  });
});
