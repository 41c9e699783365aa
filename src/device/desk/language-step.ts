import { ownName } from '../../core/language-names.ts';
import { CommandError } from '../commands/command-request.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import { type TaskOptions, taskOf } from '../lane/state/lane-options.ts';
import type { TextSpeaker } from '../say/text-speaker.ts';
import { deskOffer } from './desk-offer.ts';
import { exchangeLanguage, nextLanguage } from './visitor-language.ts';

/** A lane's languages after the visitor's step to the next language. */
export interface LanguageStep {
  readonly lane: LaneRunner;
  readonly language: string;
  readonly options: Partial<TaskOptions>;
}

/** The steps to the next language at the desks of these lanes, for all lanes of each desk that offers one. @throws CommandError */
export function languageSteps(
  lanes: readonly LaneRunner[],
  desks: readonly (readonly LaneRunner[])[],
  offerOf: (lane: string) => readonly string[],
): readonly LanguageStep[] {
  const chosen = desks.filter((desk) => desk.some((lane) => lanes.includes(lane)));
  const steps = chosen.flatMap((desk) => {
    const offered = deskOffer(desk, offerOf);
    const next = offered === null ? null : nextLanguage(offered.task, offered.offer, offered.twoWay);
    return offered === null || next === null ? [] : deskSteps(desk, offered.language, next);
  });
  if (steps.length > 0) return steps;
  const names = lanes.map(({ id }) => `"${id}"`).join(', ');
  const message = `step: lane ${names} offers no other language: set "offer" in its configuration`;
  throw new CommandError('invalid_args', message);
}

/** Both lanes of a room have the visitor's language: one hears it, and the other one speaks it. */
export function deskSteps(
  desk: readonly LaneRunner[],
  before: string,
  language: string,
): readonly LanguageStep[] {
  return desk.flatMap((lane) => {
    const options = exchangeLanguage(taskOf(lane.state), before, language);
    return Object.keys(options).length === 0 ? [] : [{ lane, language, options }];
  });
}

/** The steps of lanes where the visitor hears the language; if there are none, all steps. */
export function heardSteps(steps: readonly LanguageStep[]): readonly LanguageStep[] {
  const heard = steps.filter(({ options }) => options.targets !== undefined);
  return heard.length > 0 ? heard : steps;
}

/** If the service refuses the language on one lane of a room, the other lane returns to its earlier languages. */
export function allOrNone<T>(steps: readonly LanguageStep[], order: () => T): T | Promise<Awaited<T>> {
  const before = steps.map(({ lane }) => taskOf(lane.state));
  const answer = order();
  if (!(answer instanceof Promise) || steps.length < 2) return answer;
  return answer.catch((error: unknown) => {
    if (error instanceof CommandError && error.code === 'rejected')
      for (const [index, { lane }] of steps.entries()) {
        const { source, targets } = before[index] ?? taskOf(lane.state);
        lane.post({ type: 'options', options: { source, targets } });
      }
    throw error;
  });
}

/** Speaks the name of the language that is now in force. If the service does not speak texts, only the screen shows it. */
export function speakName({ lane, language }: LanguageStep, says: Pick<TextSpeaker, 'say'>): void {
  const ignoreRefusal = (error: unknown): void => {
    if (!(error instanceof CommandError)) throw error;
  };
  try {
    says.say([lane], { text: ownName(language), language, translate: false }).catch(ignoreRefusal);
  } catch (error) {
    ignoreRefusal(error);
  }
}
