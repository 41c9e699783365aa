import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/agent/deps.ts';
import { rulesThatNotice, violationsOf, withConnections, withLoudspeaker, withMessages } from './spoiled.ts';

describe('the oracles', () => {
  it('find an agent that opens each stream twice with one token', async () => {
    const twice = (world: AgentDeps): AgentDeps => ({
      ...world,
      openStream: (target, listener) => {
        const hush: typeof listener.said = (event) =>
          ['refused', 'ended'].includes(event.type) ? undefined : listener.said(event);
        world.openStream(target, { ...listener, opened() {}, said: hush, unreached() {} });
        return world.openStream(target, listener);
      },
    });
    expect(await rulesThatNotice(twice, {}, 'token')).toContain('token');
  });

  it('find an agent that plays only the first 200 ms of a translation', async () => {
    const begun = new Set<string>();
    const curt = withMessages((said) => {
      if (said.type !== 'spoke' || said.utterance === null) return true;
      return !begun.has(said.utterance) && begun.add(said.utterance) !== undefined;
    });
    const found = await violationsOf(curt, { faults: ['warning'] });
    expect(found.map(({ text }) => text).join()).toMatch(/never said to the end in es/);
  });

  it('find an agent that never plays the second language', async () => {
    const monoglot = withMessages(
      (said) => said.type !== 'spoke' || said.utterance?.endsWith('/fr') !== true,
    );
    const found = await violationsOf(monoglot, { faults: ['warning'] });
    expect(found.map(({ text }) => text).join()).toMatch(/never said to the end in fr/);
  });

  it('find an agent that continues to write while its loudspeaker is unplugged', async () => {
    const unaware = withLoudspeaker((sink) => ({ ...sink, fault() {}, missed() {} }));
    expect(await rulesThatNotice(unaware, { faults: ['speaker_unplugged'] }, 'lost')).toContain('lost');
  });

  it('find an agent that leaves its connections open', async () => {
    const cling = withConnections(() => ({ close() {}, terminate() {} }));
    // With other faults the open streams would make some seeds very slow first.
    expect(await rulesThatNotice(cling, { faults: ['refused'] })).toContain('streams');
  });
});
