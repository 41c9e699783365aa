import { type PageFiles, readPageFiles } from '../../adapters/screen/page-files.ts';
import { openPageServer, type PageServer } from '../../adapters/screen/page-server.ts';
import { listenTrouble, systemCode } from '../../adapters/system-error.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ActionProblem } from '../../ports/screen.ts';
import type { Config } from '../../protocol/config.ts';
import type { MenuKey } from '../../protocol/mqtt/commands/desk-commands.ts';
import type { ScreenAction, ScreenMenu } from '../../protocol/screen.ts';
import { createScreenActions } from '../desk/screen-actions.ts';
import type { Help } from '../help/help.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { desksOf } from '../lane/runner/rooms.ts';
import type { Admissions } from '../limits/admissions.ts';
import type { PhraseIn } from '../phrases/phrase-rules.ts';
import { readPhraseSound } from '../phrases/phrase-sounds.ts';
import type { Publisher } from '../status/publisher.ts';
import { createScreenView } from './screen-view.ts';

/** Wait before another attempt to serve the page (ms): another program may free the port. */
const RETRY_MS = 30_000;

/** The spoken menu, as the screen needs it. */
export interface ShownMenu {
  /** Null: it is closed. */
  shown(): ScreenMenu | null;
  /** A touch at the lower edge of the page. @throws CommandError */
  touch(lane: string, key: MenuKey): void;
  watch(listener: () => void): () => void;
}

/** The agent, as the screen needs it. */
export interface ShownAgent {
  readonly lanes: readonly LaneRunner[];
  readonly publisher: Pick<Publisher, 'condition'>;
  readonly admissions: Pick<Admissions, 'closedUntil'>;
  readonly configuration: Config;
  readonly help: Pick<Help, 'shown' | 'watch'>;
  readonly menu: ShownMenu;
  readonly operatorText: string;
  carryOut(name: string, args: object): Promise<unknown>;
  watch(listener: (step: LaneStep) => void): () => void;
}

export interface ScreenOptions {
  readonly agent: ShownAgent;
  readonly config: Pick<Config, 'screen'>;
  readonly clock: Clock;
  readonly log: Log;
  randomHash(): string;
  /** Default: the files beside the program. */
  readonly files?: PageFiles;
  /** Default: the configured port. 0: any free one. */
  readonly port?: number;
  /** Called with each request of a page. */
  onAction?(action: ScreenAction): void;
}

/** The kiosk's screen: its page, and what people do on it. */
export interface Screen {
  /** Address of the page; null while it cannot be served. */
  readonly url: string | null;
  /** Number of connected pages. */
  readonly clients: number;
  /** Carries out a request as if a page had sent it. */
  act(action: ScreenAction): Promise<ActionProblem | null>;
  close(): Promise<void>;
}

/** Serves the page until it is closed. A failure is reported and retried: the kiosk interprets even without its screen. */
export async function openScreen(options: ScreenOptions): Promise<Screen> {
  const { agent, config, clock, log } = options;
  const { lanes, publisher } = agent;
  const desks = () => desksOf(lanes, agent.configuration.rooms);
  const offerOf = (id: string): readonly string[] =>
    agent.configuration.lanes.find((lane) => lane.id === id)?.offer ?? [];
  const phrases = () => agent.configuration.phrases?.list ?? [];
  const silentWhys = new Set<string>();
  const phraseSound = async (phrase: PhraseIn): Promise<Uint8Array | null> => {
    const sound = await readPhraseSound(agent.configuration, phrase);
    if (sound.ok) return sound.pcm;
    // Without a folder, no phrase is meant to be spoken. A visitor may touch one many times.
    if (agent.configuration.phrases?.folder != null && !silentWhys.has(sound.why))
      log.warn({ why: sound.why }, 'a phrase is shown, but not spoken');
    silentWhys.add(sound.why);
    return null;
  };
  const actions = createScreenActions({
    clock,
    desks,
    offerOf,
    phrases,
    phraseSound,
    carryOut: (name, args) => agent.carryOut(name, args),
    touchMenu: (lane, key) => agent.menu.touch(lane, key),
    endConversation: async () => {
      await agent.carryOut('conversation', { do: 'end' });
      view.forget();
    },
  });
  const view = createScreenView({
    clock,
    log,
    lanes,
    desks,
    offerOf,
    config: config.screen,
    run: options.randomHash(),
    notice: () => agent.configuration.conversation.notice,
    phrases,
    operator: () => agent.operatorText,
    closedUntil: (lane) => agent.admissions.closedUntil(lane),
    help: () => agent.help.shown(),
    menu: () => agent.menu.shown(),
  });
  const act = async (action: ScreenAction): Promise<ActionProblem | null> => {
    try {
      return await actions.act(action);
    } catch (err) {
      log.error({ err, action: action.do }, 'a defect of the program: an action of the screen failed');
      return { code: 'internal', message: 'the action failed: ask the staff' };
    }
  };
  const source = {
    snapshot: view.snapshot,
    watch: view.watch,
    act: (action: ScreenAction) => {
      options.onAction?.(action);
      return act(action);
    },
  };
  let server: PageServer | null = null;
  let isClosed = false;
  let cancelRetry = (): void => {};

  const attempt = async (): Promise<void> => {
    const { port = config.screen.port, randomHash } = options;
    try {
      const files = options.files ?? (await readPageFiles());
      const opened = await openPageServer({ port, token: randomHash(), files, source, clock });
      if (isClosed) return void (await opened.close());
      server = opened;
      log.info({ url: server.url }, 'the page for the screen is served');
      publisher.condition('screen', false);
    } catch (error) {
      if (isClosed) return;
      const code = systemCode(error);
      const why =
        code === 'ENOENT'
          ? 'screen.js or screen.css is not beside the program: install it again'
          : `port ${port} ${listenTrouble(error)}`;
      log.error({ port }, `the page for the screen cannot be served: ${why}; retrying every 30 s`);
      publisher.condition('screen', true, code ?? 'failed');
      cancelRetry = clock.at(clock.now() + RETRY_MS, () => void attempt());
    }
  };
  const unwatch = agent.watch((step) => view.onStep(step));
  const unwatchHelp = agent.help.watch(view.refresh);
  const unwatchMenu = agent.menu.watch(view.refresh);
  await attempt();

  return {
    get url() {
      return server?.url ?? null;
    },
    get clients() {
      return server?.clients ?? 0;
    },
    act,
    async close() {
      isClosed = true;
      cancelRetry();
      unwatch();
      unwatchHelp();
      unwatchMenu();
      actions.close();
      view.close();
      await server?.close();
    },
  };
}
