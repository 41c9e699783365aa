import { logRepeated, type RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Runner } from '../../machine/runner.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { Config } from '../../protocol/config.ts';
import type { MenuKey } from '../../protocol/mqtt/commands/desk-commands.ts';
import type { ScreenMenu } from '../../protocol/screen.ts';
import { CommandError } from '../commands/command-request.ts';
import type { CommandHandlers } from '../commands/command-table.ts';
import type { CarryOut } from '../desk/by-hand.ts';
import { deskOffer } from '../desk/desk-offer.ts';
import { soundsUntil } from '../desk/desk-rules.ts';
import { createScreenActions } from '../desk/screen-actions.ts';
import type { Feature } from '../features/feature.ts';
import type { Help } from '../help/help.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { desksOf } from '../lane/runner/rooms.ts';
import { volumeInUse } from '../lane/sound/headset.ts';
import { repeatableIn } from '../lane/sound/repeat.ts';
import { taskOf } from '../lane/state/lane-options.ts';
import { type MenuDesk, type MenuEvent, type MenuFacts, menuMachine, shownMenu } from './menu-machine.ts';

export interface MenuDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  readonly runner: Runner;
  readonly lanes: readonly LaneRunner[];
  readonly help: Pick<Help, 'shown' | 'watch'>;
  config(): Config;
  /** Loads the samples of a sound; null: there is none. Missing: the sounds are not installed. */
  readonly load: ((language: string, sound: string) => Promise<Uint8Array | null>) | null;
  /** Carries out a visitor's command. */
  readonly carryOut: CarryOut;
}

/** The spoken menu, for visitors who do not see the screen. */
export interface SpokenMenu extends Feature {
  readonly command: CommandHandlers['menu'];
  /** For the screen; null: it is closed. */
  shown(): ScreenMenu | null;
  /** A touch at the lower edge of the page. @throws CommandError */
  touch(lane: string, key: MenuKey): void;
  /** Calls back after each change of what is shown, until the returned function is called. */
  watch(listener: () => void): () => void;
}

export function createMenu(deps: MenuDeps): SpokenMenu {
  const { clock, lanes, config, help, load } = deps;
  const listeners = new Set<() => void>();
  const desks = () => desksOf(lanes, config().rooms);
  const offerOf = (id: string): readonly string[] =>
    config().lanes.find((lane) => lane.id === id)?.offer ?? [];
  const prompt = (id: string, pcm: Uint8Array | null): void =>
    lanes.find((lane) => lane.id === id)?.post({ type: 'prompt', pcm });
  const carryOut = async (name: string, args: object): Promise<unknown> => deps.carryOut(name, args);
  const actions = createScreenActions({
    clock,
    desks,
    offerOf,
    // The menu is for conversations, and phrases are for the time without the service.
    phrases: () => [],
    phraseSound: async () => null,
    carryOut,
    endConversation: async () => {
      await carryOut('conversation', { do: 'end' });
    },
    touchMenu: (lane, key) => touch(lane, key),
  });
  const facts = (): MenuFacts => ({
    desks: desks().map((desk) => menuDesk(desk, offerOf, clock.now())),
    help: help.shown()?.state ?? null,
  });

  const running = deps.runner.run(
    menuMachine,
    {
      async play({ number, lane, voice, sound }): Promise<MenuEvent> {
        const pcm = (await load?.(voice, sound)) ?? null;
        if (pcm === null)
          logRepeated(deps, {
            level: 'warn',
            kind: 'menu:sound',
            fields: { language: voice, sound },
            sentence: 'a sound of the spoken menu is missing: install the package dragoman again',
          });
        // A key may have come while the sound was loaded.
        else if (running.state.menu?.saying?.number === number) prompt(lane, pcm);
        return { type: 'started', number };
      },
      cut({ lane }): MenuEvent {
        prompt(lane, null);
        return { type: 'silenced' };
      },
      async act({ number, action }): Promise<MenuEvent> {
        const problem = await actions.act(action);
        return { type: 'acted', number, isDone: problem === null };
      },
      show() {
        for (const listener of listeners) listener();
        return undefined;
      },
    },
    facts,
  );
  const unwatchHelp = help.watch(() => running.post({ type: 'help' }));

  const press = (lane: string, key: MenuKey, by: 'key' | 'touch'): void => {
    if (load === null)
      throw new CommandError(
        'unsupported',
        'the sounds of the spoken menu are not installed: install the package dragoman, or run scripts/build-phrases',
      );
    running.post({ type: 'key', lane, key, by });
  };
  const touch = (lane: string, key: MenuKey): void => press(lane, key, 'touch');

  return {
    command({ lane, do: key }) {
      const at = lane ?? running.state.menu?.lane ?? lanes[0]?.id;
      if (at === undefined || !lanes.some(({ id }) => id === at))
        throw new CommandError(
          'unknown_lane',
          `there is no lane "${at}"; there are ${lanes.map(({ id }) => id).join(', ')}`,
        );
      press(at, key, 'key');
      return { lane: at };
    },
    shown: () => shownMenu(running.state),
    touch,
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    onStep({ lane, event }: LaneStep) {
      const isSpeech =
        event.type === 'service' && event.said.type === 'spoke' && event.said.pcm.byteLength > 0;
      if (isSpeech && running.state.menu !== null) running.post({ type: 'speech', lane });
    },
    close() {
      unwatchHelp();
      actions.close();
      running.close();
    },
  };
}

function menuDesk(
  desk: readonly LaneRunner[],
  offerOf: (lane: string) => readonly string[],
  now: number,
): MenuDesk {
  const [first] = desk;
  if (first === undefined) throw new Error('a desk has a lane');
  const task = taskOf(first.state);
  const { offer = [], language = task.targets[0] ?? task.source } = deskOffer(desk, offerOf) ?? {};
  const lane = desk.find(({ state }) => taskOf(state).targets.includes(language)) ?? first;
  const { source, targets } = taskOf(lane.state);
  return {
    lanes: desk.map(({ id }) => id),
    lane: lane.id,
    language,
    other: source === language ? (targets[0] ?? source) : source,
    offer,
    isTalking: desk.some(({ state }) => state.conversation !== null),
    isRepeatable: desk.some(({ state }) => repeatableIn(state).includes(language)),
    volume: volumeInUse(lane.state),
    quietAt: Math.max(...desk.map(({ state }) => soundsUntil(state, now))),
    hasLoudspeaker: !lane.state.playbackLost,
  };
}
