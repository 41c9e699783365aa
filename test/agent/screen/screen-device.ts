import { createScreenActions } from '../../../src/agent/screen/screen-actions.ts';
import { createScreenView, type ScreenView } from '../../../src/agent/screen/screen-view.ts';
import type { ScreenChange } from '../../../src/protocol/screen.ts';
import { createFakeDeps, testConfig } from '../fake-deps.ts';

/** An agent with its screen on a virtual clock, without the server. */
export async function createScreenDevice(lane: object = {}, screen: object = {}) {
  const deps = createFakeDeps(testConfig({ ...lane }, { screen: { enabled: true, ...screen } }));
  const { agent, clock, config } = deps;
  const offer = (): readonly string[] => config.lanes[0]?.offer ?? [];
  const actions = createScreenActions({
    ...{ lanes: agent.lanes, offer, carryOut: (name, args) => agent.carryOut(name, args) },
    endConversation: async () => view.end(),
  });
  const view: ScreenView = createScreenView({
    ...{ clock, log: deps.deps.log, lanes: agent.lanes, config: config.screen, run: 'run-1', offer },
    closedUntil: (id) => agent.admissions.closedUntil(id),
    ended: () => actions.restore(),
  });
  agent.watch((step) => view.onStep(step));
  const changes: ScreenChange[] = [];
  const unwatch = view.watch((change) => changes.push(change));
  await deps.goLive();
  return {
    ...{ deps, view, actions, changes, unwatch, clock },
    /** All texts that pages got, joined, by language. */
    shown: (language: string) =>
      changes
        .flatMap(({ texts = [] }) => texts)
        .filter((text) => text.language === language)
        .map(({ text }) => text)
        .join(''),
    status: () => view.snapshot().status,
  };
}
