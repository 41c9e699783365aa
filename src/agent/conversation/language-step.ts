import { nextLanguage, ownName } from '../../core/conversation/visitor-language.ts';
import { type TaskOptions, taskOf } from '../../core/lane/lane-options.ts';
import { CommandError } from '../commands/command-request.ts';
import type { SayQueue } from '../commands/say-queue.ts';
import type { LaneRunner } from '../lane/lane-runner.ts';

/** A lane's next language for the visitor. */
export interface LanguageStep {
  readonly lane: LaneRunner;
  readonly language: string;
  readonly options: Partial<TaskOptions>;
}

/** The next language of each of these lanes that offers another one. @throws CommandError */
export function languageSteps(
  lanes: readonly LaneRunner[],
  offerOf: (lane: string) => readonly string[],
): readonly LanguageStep[] {
  const steps = lanes.flatMap((lane) => {
    const next = nextLanguage(taskOf(lane.state), offerOf(lane.id));
    return next === null ? [] : [{ lane, language: next.language, options: next.task }];
  });
  if (steps.length > 0) return steps;
  const names = lanes.map(({ id }) => `"${id}"`).join(', ');
  const message = `step: lane ${names} offers no other language: set "offer" in its configuration`;
  throw new CommandError('invalid_args', message);
}

/** Speaks the name of the language that is now in force. A service that does not speak texts leaves it to the screen. */
export function speakName({ lane, language }: LanguageStep, says: Pick<SayQueue, 'say'>): void {
  const ignoreRefusal = (error: unknown): void => {
    if (!(error instanceof CommandError)) throw error;
  };
  try {
    says.say([lane], { text: ownName(language), language, translate: false }).catch(ignoreRefusal);
  } catch (error) {
    ignoreRefusal(error);
  }
}
