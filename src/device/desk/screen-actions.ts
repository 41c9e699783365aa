import type { Clock } from '../../ports/clock.ts';
import type { ActionProblem } from '../../ports/screen.ts';
import type { MenuKey } from '../../protocol/mqtt/commands/desk-commands.ts';
import type { ScreenAction } from '../../protocol/screen.ts';
import { VISITORS_VOLUME } from '../../protocol/screen-size.ts';
import { CommandError } from '../commands/command-request.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import { volumeInUse } from '../lane/sound/headset.ts';
import { canSpeakPhrase } from '../lane/sound/phrase.ts';
import { repeatableIn } from '../lane/sound/repeat.ts';
import { opensByKey, spokenLanguages } from '../lane/two-way/two-way.ts';
import { type PhraseIn, phraseIn } from '../phrases/phrase-rules.ts';
import { isInterpreting } from '../playout/playout.ts';
import { deskOffer } from './desk-offer.ts';
import { createHeldTurns } from './held-turns.ts';
import { allOrNone, deskSteps } from './language-step.ts';
import { typingWays } from './typing.ts';

type PhraseAction = Extract<ScreenAction, { do: 'phrase' }>;

/** One press of "louder" or "quieter" (percent). */
const STEP_PERCENT = 10;

export interface ScreenActionsDeps {
  readonly clock: Clock;
  /** Lanes at one desk. */
  desks(): readonly (readonly LaneRunner[])[];
  offerOf(lane: string): readonly string[];
  /** Phrases of the house: texts by language. */
  phrases(): readonly Readonly<Record<string, string>>[];
  /** Reads the sound of a phrase; null: there is none, and the phrase is only shown. */
  phraseSound(phrase: PhraseIn): Promise<Uint8Array | null>;
  /** Carries out an operator's command. @throws CommandError */
  carryOut(name: string, args: object): Promise<unknown>;
  endConversation(): Promise<void>;
  /** A touch at the lower edge of the page. @throws CommandError */
  touchMenu(lane: string, key: MenuKey): void;
}

/** Carries out what visitors do on the screen, in the same way as an operator's commands. */
export interface ScreenActions {
  act(action: ScreenAction): Promise<ActionProblem | null>;
  close(): void;
}

export function createScreenActions(deps: ScreenActionsDeps): ScreenActions {
  const { clock, desks, carryOut } = deps;
  const atLane = (id: string): { lane: LaneRunner; desk: readonly LaneRunner[] } => {
    for (const desk of desks()) {
      const lane = desk.find((one) => one.id === id);
      if (lane !== undefined) return { lane, desk };
    }
    throw new CommandError('unknown_lane', `there is no lane "${id}"`);
  };
  const turns = createHeldTurns(clock, (action) => void act(action));

  const perform = async (action: ScreenAction): Promise<void> => {
    switch (action.do) {
      case 'language':
        return chooseLanguage(atLane(action.lane).desk, action.language);
      case 'louder':
      case 'quieter':
        for (const { id, state } of atLane(action.lane).desk)
          await carryOut('volume', { lane: id, percent: steppedVolume(volumeInUse(state), action.do) });
        return;
      case 'repeat':
        return repeat(action.lane, action.language);
      case 'touch':
        await carryOut('conversation', { lane: action.lane, do: 'begin' });
        return;
      case 'turn': {
        const { lane } = atLane(action.lane);
        const { speaker, held } = action;
        const isNew = !opensByKey(lane.state) || turns.take(action);
        if (isNew) await carryOut('turn', { lane: lane.id, speaker, held });
        return;
      }
      case 'say': {
        const { text, language } = action;
        const way = typingWays(atLane(action.lane).desk).find(({ from }) => from === language);
        if (way === undefined)
          throw new CommandError('invalid_args', `language: a text in "${language}" is not translated here`);
        await carryOut('say', { lane: way.lane.id, text, language: way.into, translate: true });
        return;
      }
      case 'phrase':
        return speakPhrase(action);
      case 'help':
        await carryOut('help', { lane: action.lane, do: 'call' });
        return;
      case 'menu':
        return deps.touchMenu(action.lane, action.key);
      case 'end':
        return deps.endConversation();
    }
  };
  const repeat = (id: string, language: string): void => {
    const lane = atLane(id).desk.find(({ state }) => repeatableIn(state).includes(language));
    if (lane === undefined)
      throw new CommandError('invalid_args', `language: nothing to repeat in "${language}"`);
    lane.post({ type: 'repeat', language });
  };
  let phrasesAsked = 0;
  const speakPhrase = async ({ lane: id, number, language }: PhraseAction): Promise<void> => {
    const { lane: own, desk } = atLane(id);
    const phrase = phraseIn(deps.phrases()[number] ?? {}, language);
    if (phrase === null)
      throw new CommandError('invalid_args', `number: there is no phrase ${number} in "${language}"`);
    phrasesAsked += 1;
    const asked = phrasesAsked;
    const pcm = await deps.phraseSound(phrase);
    // The file took time to read: a later choice counts.
    if (asked !== phrasesAsked) return;
    if (pcm === null) throw new CommandError('unsupported', 'the phrase has no sound: it is only shown');
    const now = clock.now();
    const lane = desk.find(({ state }) => spokenLanguages(state).targets.includes(language)) ?? own;
    const isFree = desk.every(({ state }) => !isInterpreting(state.playout, now));
    if (!isFree || !canSpeakPhrase(lane.state, now))
      throw new CommandError('busy', 'the phrase is only shown: the loudspeaker is in use or does not work');
    lane.post({ type: 'phrase', language, pcm });
  };
  const chooseLanguage = async (desk: readonly LaneRunner[], language: string): Promise<void> => {
    const offered = deskOffer(desk, deps.offerOf);
    if (offered === null || !offered.offer.includes(language))
      throw new CommandError('invalid_args', `language: "${language}" is not offered here`);
    const steps = deskSteps(desk, offered.language, language);
    await allOrNone(steps, () =>
      Promise.all(steps.map(({ lane: { id }, options }) => carryOut('languages', { lane: id, ...options }))),
    );
  };
  const act = async (action: ScreenAction): Promise<ActionProblem | null> => {
    try {
      await perform(action);
      return null;
    } catch (error) {
      if (error instanceof CommandError) return { code: error.code, message: error.message };
      throw error;
    }
  };
  return { act, close: () => turns.close() };
}

/** The owner may have chosen a volume below the quietest: "quieter" leaves it. */
function steppedVolume(percent: number, to: 'louder' | 'quieter'): number {
  const { quietest, loudest } = VISITORS_VOLUME;
  return to === 'louder'
    ? Math.min(loudest, percent + STEP_PERCENT)
    : Math.min(percent, Math.max(quietest, percent - STEP_PERCENT));
}
