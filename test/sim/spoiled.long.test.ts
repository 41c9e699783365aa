import { describe, expect, it } from 'vitest';
import type { AgentDeps } from '../../src/agent/deps.ts';
import { rulesThatNotice, violationsOf, withConnections, withLoudspeaker, withMessages } from './spoiled.ts';

describe('an agent that is broken on purpose is found out', () => {
  it('opens each stream twice with one token', async () => {
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

  it('takes the first 200 ms of a translation for all of it', async () => {
    const begun = new Set<string>();
    const curt = withMessages((said) => {
      if (said.type !== 'spoke' || said.utterance === null) return true;
      return !begun.has(said.utterance) && begun.add(said.utterance) !== undefined;
    });
    const found = await violationsOf(curt, { faults: ['warning'] });
    expect(found.map(({ text }) => text).join()).toMatch(/never said to the end in es/);
  });

  it('never says the second language', async () => {
    const monoglot = withMessages(
      (said) => said.type !== 'spoke' || said.utterance?.endsWith('/fr') !== true,
    );
    const found = await violationsOf(monoglot, { faults: ['warning'] });
    expect(found.map(({ text }) => text).join()).toMatch(/never said to the end in fr/);
  });

  it('writes on while its loudspeaker is gone', async () => {
    const unaware = withLoudspeaker((sink) => ({ ...sink, fault() {}, missed() {} }));
    expect(await rulesThatNotice(unaware, { faults: ['speaker_unplugged'] }, 'lost')).toContain('lost');
  });

  it('leaves its connections open', async () => {
    const cling = withConnections(() => ({ close() {}, terminate() {} }));
    // Among other faults some seeds would pass first, in which ever more streams go on.
    expect(await rulesThatNotice(cling, { faults: ['refused'] })).toContain('streams');
  });
});
