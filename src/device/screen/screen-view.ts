import type { Clock } from '../../ports/clock.ts';
import type { Log } from '../../ports/log.ts';
import type { ConversationConfig } from '../../protocol/config-conversation.ts';
import type { ScreenConfig } from '../../protocol/config-screen.ts';
import type {
  ScreenChange,
  ScreenHelp,
  ScreenLane,
  ScreenMenu,
  ScreenNotice,
  ScreenPhrase,
  ScreenSnapshot,
  ScreenText,
  ScreenTurn,
} from '../../protocol/screen.ts';
import { deskOffer } from '../desk/desk-offer.ts';
import { noticeIn } from '../desk/notice.ts';
import { typingWays } from '../desk/typing.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { volumeInUse } from '../lane/sound/headset.ts';
import { repeatableIn } from '../lane/sound/repeat.ts';
import type { Caption } from '../lane/state/lane-effect.ts';
import { taskOf } from '../lane/state/lane-options.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import { phaseOf } from '../lane/state/session-state.ts';
import { opensByKey, turnsByKey } from '../lane/two-way/two-way.ts';
import { phraseIn } from '../phrases/phrase-rules.ts';
import { isPlaying } from '../playout/playout.ts';
import {
  type Append,
  captionsDueAt,
  forgetCaptions,
  lookAtCaptions,
  NO_CAPTIONS,
  takeCaption,
} from './captions/captions.ts';
import { isDeaf, levelStep, screenStatus } from './screen-status.ts';

/** Longest display (ms) of text that arrived after the end of a conversation. */
const END_AFTER_MS = 90_000;
/** Check interval (ms): some parts change with time alone, faster during speech. Each microphone chunk triggers a check, too. */
const LOOK_EACH_MS = { busy: 250, quiet: 1000 } as const;
/** Maximum characters for a newly opened page: some minutes of speech, so that visitors can look back. */
const KEPT_CHARS = 8000;

export interface ScreenViewDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly lanes: readonly LaneRunner[];
  /** Lanes at one desk. */
  desks(): readonly (readonly LaneRunner[])[];
  readonly config: ScreenConfig;
  /** Random name of this run. */
  readonly run: string;
  offerOf(lane: string): readonly string[];
  notice(): ConversationConfig['notice'];
  /** Phrases of the house: texts by language. */
  phrases(): readonly Readonly<Record<string, string>>[];
  operator(): string;
  closedUntil(lane: string): string | null;
  /** Null: visitors cannot call staff. */
  help(): ScreenHelp | null;
  /** Null: the spoken menu is closed. */
  menu(): ScreenMenu | null;
}

/** What the screen shows at this moment. Captions are stored only here, and only until the conversation ends. */
export interface ScreenView {
  onStep(step: LaneStep): void;
  /** The call for a member of staff, or the spoken menu, has changed. */
  refresh(): void;
  snapshot(): ScreenSnapshot;
  watch(listener: (change: ScreenChange) => void): () => void;
  /** Forgets captions that have come without a conversation. */
  forget(): void;
  close(): void;
}

export function createScreenView(deps: ScreenViewDeps): ScreenView {
  const { clock, config } = deps;
  const options = { masksProfanity: config.mask };
  const listeners = new Set<(change: ScreenChange) => void>();
  const understoodAt = new Map<string, number>();
  let captions = NO_CAPTIONS;
  let texts: readonly ScreenText[] = [];
  let seq = 0;
  let numbers = 0;
  let conversation = 1;
  let level = 0;
  let isTalking = false;
  let endingAt: number | null = null;
  let cancel = (): void => {};
  let isClosed = false;

  const lanesNow = (): ScreenLane[] => {
    const desks = deps.desks();
    return deps.lanes.map((lane) => {
      const desk = desks.find((one) => one.includes(lane)) ?? [lane];
      return screenLane(lane, desk, deps.offerOf, clock.now());
    });
  };
  const phrasesNow = (): ScreenPhrase[] => phrasesFor(lanes, deps.phrases());
  const noticesNow = (): ScreenNotice[] => noticesFor(lanes, deps.notice());
  const statusNow = () =>
    screenStatus(
      deps.lanes.map(({ id, state }) => ({
        state,
        understoodAt: understoodAt.get(id) ?? null,
        closedUntil: deps.closedUntil(id),
      })),
      clock.now(),
    );
  let status = statusNow();
  let lanes = lanesNow();
  let notices = noticesNow();
  let phrases = phrasesNow();
  let help = deps.help();
  let menu = deps.menu();
  let operator = deps.operator();

  const publish = (change: Omit<ScreenChange, 'seq'>): void => {
    seq += 1;
    for (const listener of listeners) listener({ seq, ...change });
  };
  const endsInMs = (): number | null =>
    endingAt === null ? null : Math.max(0, Math.round(endingAt - clock.now()));
  const refresh = (): void => {
    const now = { status: statusNow(), lanes: lanesNow() };
    const isNewStatus = JSON.stringify(now.status) !== JSON.stringify(status);
    const isNewLane = JSON.stringify(now.lanes) !== JSON.stringify(lanes);
    const kind = status.kind;
    const noticesBefore = notices;
    ({ status, lanes } = now);
    notices = noticesNow();
    const isNewNotice = JSON.stringify(notices) !== JSON.stringify(noticesBefore);
    const phrasesBefore = phrases;
    phrases = phrasesNow();
    const isNewPhrase = JSON.stringify(phrases) !== JSON.stringify(phrasesBefore);
    const helpBefore = help;
    help = deps.help();
    const isNewHelp = JSON.stringify(help) !== JSON.stringify(helpBefore);
    const menuBefore = menu;
    menu = deps.menu();
    const isNewMenu = JSON.stringify(menu) !== JSON.stringify(menuBefore);
    const operatorBefore = operator;
    operator = deps.operator();
    const isNewOperator = operator !== operatorBefore;
    const wasTalking = isTalking;
    isTalking = deps.lanes.some(({ state }) => state.conversation !== null);
    const hasTurned = isTalking !== wasTalking;
    const endingBefore = endingAt;
    endingAt = endingOf(deps.lanes);
    const isNewEnding = endingAt !== endingBefore;
    if (kind !== status.kind) arm();
    const isNewText = isNewNotice || isNewPhrase || isNewOperator;
    const isNewAid = isNewHelp || isNewMenu;
    if (isNewStatus || isNewLane || isNewAid || isNewText || hasTurned || isNewEnding)
      publish({
        ...(isNewStatus && { status }),
        ...(isNewLane && { lanes }),
        ...(isNewHelp && { help }),
        ...(isNewMenu && { menu }),
        ...(isNewNotice && { notices }),
        ...(isNewPhrase && { phrases }),
        ...(isNewOperator && { operator }),
        ...(hasTurned && { isTalking }),
        ...(isNewEnding && { endsInMs: endsInMs() }),
      });
  };
  const show = (appends: readonly Append[]): void => {
    if (appends.length === 0) return;
    const added = appends.map((append): ScreenText => {
      numbers += 1;
      return { ...append, number: numbers };
    });
    texts = latest([...texts, ...added]);
    publish({ texts: added });
  };
  const onCaption = (lane: LaneRunner, caption: Caption): void => {
    const now = clock.now();
    const step = takeCaption(captions, caption, { lane: lane.id, ...taskOf(lane.state) }, options, now);
    captions = step.captions;
    if (caption.kind === 'source' && caption.isFinal) understoodAt.set(lane.id, now);
    show(step.appends);
  };
  /** Clears the pages: neither captions nor dialogs of a conversation may stay. */
  const end = (): void => {
    // How often the service changed words that were shown: the words themselves are never logged.
    deps.log.info({ captions_diverged: captions.diverged }, 'the captions of a conversation are forgotten');
    captions = forgetCaptions(captions);
    texts = [];
    understoodAt.clear();
    conversation += 1;
    publish({ conversation });
  };
  const forget = (): void => {
    if (captions.heardAt !== null) end();
  };
  /** Whether no lane at the same desk has a conversation. */
  const isDeskFree = (lane: LaneRunner): boolean => {
    const desk = deps.desks().find((one) => one.includes(lane)) ?? [];
    return desk.every(({ state }) => state.conversation === null);
  };
  const look = (): void => {
    const now = clock.now();
    if ((captionsDueAt(captions) ?? Number.POSITIVE_INFINITY) <= now) {
      const step = lookAtCaptions(captions, options, now);
      captions = step.captions;
      show(step.appends);
    }
    if (captions.heardAt !== null && isOver(deps.lanes, captions.heardAt, now)) end();
    refresh();
  };
  const arm = (): void => {
    cancel();
    if (isClosed || (listeners.size === 0 && captions.heardAt === null)) return;
    const isBusy = status.kind === 'speaking' || status.kind === 'translating';
    const waitMs = isBusy ? LOOK_EACH_MS.busy : LOOK_EACH_MS.quiet;
    const again = (): void => {
      look();
      arm();
    };
    cancel = clock.at(clock.now() + waitMs, again, waitMs / 2);
  };

  return {
    onStep({ lane: id, event, effects, before, after }) {
      const lane = deps.lanes.find((one) => one.id === id);
      if (lane === undefined || isClosed) return;
      if (event.type === 'captured') {
        const heard = isDeaf(after, clock.now()) ? 0 : levelStep(event.levels.loudestDb);
        if (heard !== level && listeners.size > 0) publish({ level: heard });
        level = heard;
      }
      if (before.conversation !== null && after.conversation === null && isDeskFree(lane)) end();
      const wasQuiet = captions.heardAt === null;
      for (const effect of effects) if (effect.type === 'caption') onCaption(lane, effect.caption);
      if (isPlaying(after.playout, clock.now())) understoodAt.delete(id);
      if (wasQuiet && captions.heardAt !== null) arm();
      if (listeners.size > 0) refresh();
    },
    snapshot() {
      refresh();
      const { layout, viewingDistanceMm, heightMm } = config;
      const size = { layout, viewingDistanceMm, heightMm };
      return {
        run: deps.run,
        seq,
        ...size,
        status,
        level,
        lanes,
        help,
        menu,
        notices,
        phrases,
        operator,
        conversation,
        isTalking,
        endsInMs: endsInMs(),
        texts,
      };
    },
    watch(listener) {
      listeners.add(listener);
      if (listeners.size === 1) arm();
      return () => listeners.delete(listener);
    },
    refresh,
    forget,
    close() {
      isClosed = true;
      cancel();
      forget();
      listeners.clear();
    },
  };
}

/** When a conversation is about to end by itself; null: none is. */
function endingOf(lanes: readonly LaneRunner[]): number | null {
  const ends = lanes.flatMap(({ state }) => state.conversation?.endingAt ?? []);
  return ends.length === 0 ? null : Math.min(...ends);
}

function screenLane(
  { id, state }: LaneRunner,
  desk: readonly LaneRunner[],
  offerOf: (lane: string) => readonly string[],
  now: number,
): ScreenLane {
  const { source, targets } = taskOf(state);
  const { offer = [], language: visitor = targets[0] ?? source } = deskOffer(desk, offerOf) ?? {};
  const typing = typingWays(desk).map(({ from, into }) => ({ from, into }));
  const turn = screenTurn(state, now);
  const repeatable = [...new Set(desk.flatMap((one) => repeatableIn(one.state)))];
  const volume = volumeInUse(state);
  return { id, source, targets, offer, visitor, typing, turn, repeatable, volume };
}

function screenTurn(state: LaneState, now: number): ScreenTurn | null {
  const [opens, turns] = [opensByKey(state), turnsByKey(state)];
  if (!opens && !turns) return null;
  return {
    mode: opens ? 'hold' : 'button',
    speakers: turns ? ['source', 'target'] : ['source'],
    speaker: turns ? state.twoWay.speaker : 'source',
    isOpen: !isDeaf(state, now),
  };
}

/** The notice for the readers of each language, and for visitors who choose one. */
function noticesFor(lanes: readonly ScreenLane[], wanted: ConversationConfig['notice']): ScreenNotice[] {
  if (wanted === false) return [];
  const languages = new Set(lanes.flatMap(({ source, targets, offer }) => [source, ...targets, ...offer]));
  return [...languages].map((language) => {
    const { text } = noticeIn(language, wanted === true ? {} : wanted);
    return { language, text };
  });
}

/** The texts of each phrase in the languages of the panels. */
function phrasesFor(
  lanes: readonly ScreenLane[],
  list: readonly Readonly<Record<string, string>>[],
): ScreenPhrase[] {
  const languages = [...new Set(lanes.flatMap(({ source, targets }) => [source, ...targets]))];
  return list.flatMap((phrase, number) => {
    const texts = languages.flatMap((language) => {
      const text = phraseIn(phrase, language)?.text;
      return text === undefined ? [] : [{ language, text }];
    });
    return texts.length === 0 ? [] : [{ number, texts }];
  });
}

/** True if nothing plays and no conversation is under way, and either the silence was long or every lane is at rest. */
function isOver(lanes: readonly LaneRunner[], heardAt: number, now: number): boolean {
  const isSounding = lanes.some(({ state }) => isPlaying(state.playout, now));
  if (isSounding || lanes.some(({ state }) => state.conversation !== null)) return false;
  return (
    now - heardAt >= END_AFTER_MS || lanes.every(({ state }) => AT_REST.includes(phaseOf(state.session)))
  );
}

const AT_REST: readonly string[] = ['standby', 'idle', 'closed'];

function latest(texts: readonly ScreenText[]): readonly ScreenText[] {
  let chars = 0;
  const from = texts.findLastIndex(({ text }) => {
    chars += text.length;
    return chars > KEPT_CHARS;
  });
  // The last text is kept, whatever its length.
  return texts.slice(Math.min(from + 1, texts.length - 1));
}
