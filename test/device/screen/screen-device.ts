import { createScreenActions } from '../../../src/device/desk/screen-actions.ts';
import { createScreenView, type ScreenView } from '../../../src/device/screen/screen-view.ts';
import type { ScreenChange } from '../../../src/protocol/screen.ts';
import { createFakeDeps, testConfig } from '../fake-deps.ts';

/** An agent with its screen on a virtual clock, without the server. */
export async function createScreenDevice(lane: object = {}, screen: object = {}, more: object = {}) {
  const deps = createFakeDeps(testConfig({ ...lane }, { ...more, screen: { enabled: true, ...screen } }));
  const { agent, clock, config } = deps;
  const offerOf = (): readonly string[] => config.lanes[0]?.offer ?? [];
  const phrases = () => config.phrases?.list ?? [];
  const sounds = new Map<string, Uint8Array>();
  const desks = () => [agent.lanes];
  const actions = createScreenActions({
    clock,
    desks,
    offerOf,
    phrases,
    phraseSound: async (phrase) => sounds.get(`${phrase.language} ${phrase.text}`) ?? null,
    carryOut: (name, args) => agent.carryOut(name, args),
    touchMenu: (lane, key) => agent.menu.touch(lane, key),
    endConversation: async () => {
      await agent.carryOut('conversation', { do: 'end' });
      view.forget();
    },
  });
  const view: ScreenView = createScreenView({
    clock,
    log: deps.deps.log,
    lanes: agent.lanes,
    desks,
    config: config.screen,
    run: 'run-1',
    offerOf,
    phrases,
    notice: () => config.conversation.notice,
    operator: () => agent.operatorText,
    closedUntil: (id) => agent.admissions.closedUntil(id),
    help: () => agent.help.shown(),
    menu: () => agent.menu.shown(),
  });
  agent.watch((step) => view.onStep(step));
  agent.help.watch(view.refresh);
  agent.menu.watch(view.refresh);
  const changes: ScreenChange[] = [];
  const unwatch = view.watch((change) => changes.push(change));
  await deps.goLive();
  return {
    deps,
    view,
    actions,
    changes,
    unwatch,
    /** Sound files of phrases, by language and text. */
    sounds,
    clock,
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
