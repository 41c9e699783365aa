import { isDone, type Outcome } from '../../core/fleet/answers.ts';
import { toldLanesSchema } from '../../core/fleet/told.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import type { CommandName, CommandResponse } from '../../protocol/mqtt/command.ts';
import { diagnosisSchema } from '../../protocol/mqtt/diagnose.ts';
import { harmless } from '../../protocol/plain-text.ts';
import { layOutFinding, layOutSummary } from '../doctor/diagnosis-text.ts';
import { wrapText } from '../text.ts';
import { ask } from './ask.ts';
import type { CtlDeps } from './deps.ts';

/** Sends a command and tells what became of it, a line or more for each device. */
export async function runCommand(
  name: CommandName,
  args: Readonly<Record<string, unknown>>,
  deps: CtlDeps,
): Promise<void> {
  const { shell, options, target } = deps;
  const { outcomes } = await ask(name, args, deps);
  for (const outcome of outcomes) {
    shell.print(options.json ? `${JSON.stringify(outcomeJson(outcome))}\n` : wordOutcome(outcome));
  }
  if (outcomes.length === 0) {
    const whom = target.kind === 'group' ? `the group "${target.group}"` : 'this tenant';
    throw new Failure(`the broker knows no device of ${whom}; nobody has answered`, EXIT.noAnswer);
  }
  sumUp(outcomes, shell);
}

/** The exit code, and for several devices a sentence that sums up. */
export function sumUp(outcomes: readonly Outcome[], shell: Shell): void {
  const silent = outcomes.filter(({ kind }) => kind === 'silent').length;
  const failed = outcomes.filter((outcome) => outcome.kind === 'answered' && !isDone(outcome)).length;
  if (failed > 0) shell.finish(EXIT.failed);
  else if (silent > 0) shell.finish(EXIT.noAnswer);
  if (outcomes.length < 2 || failed + silent === 0) return;
  const parts = [
    ...(failed === 0 ? [] : [`${failed} did not do it`]),
    ...(silent === 0 ? [] : [`${silent} did not answer`]),
  ];
  shell.complain(`dragoman: of ${outcomes.length} devices ${parts.join(' and ')}.\n`);
}

/** One device in JSON: the answer as it came, or `"status": "silent"`. */
export function outcomeJson(outcome: Outcome): object {
  const { device } = outcome;
  if (outcome.kind === 'silent') return { device, status: 'silent', message: outcome.why };
  const { status, error, data } = outcome.answer;
  return { device, status, ...(error && { error }), ...(data !== undefined && { data }) };
}

function wordOutcome(outcome: Outcome): string {
  const { device } = outcome;
  if (outcome.kind === 'silent') return wrapText(`${device}: ${outcome.why}`, '  ');
  return wrapText(harmless(`${device}: ${wordAnswer(outcome.answer)}`), '  ') + detailOf(outcome.answer);
}

function wordAnswer({ status, error, data }: CommandResponse): string {
  if (status === 'error')
    return `refused (${error?.code ?? 'without a code'}): ${error?.message ?? 'without a reason'}`;
  if (status === 'expired') return 'too late: the command had expired when it came';
  const lanes = toldLanesSchema.safeParse(data);
  if (!lanes.success) return status;
  const told = lanes.data.lanes.map(
    ({ id, phase, source, targets, volume, echo, muted }) =>
      `${id} ${phase}, ${source} to ${targets.join(', ')}, volume ${volume}, echo ${echo}${muted ? ', muted' : ''}`,
  );
  const note = lanes.data.note === undefined ? [] : [lanes.data.note];
  return [`${status}: ${told.join('; ')}`, ...note].join('; ');
}

/** The checks of a doctor, as `dragoman doctor` lays them out. */
function detailOf({ data }: CommandResponse): string {
  const diagnosis = diagnosisSchema.safeParse(data);
  if (!diagnosis.success) return '';
  const { checks } = diagnosis.data;
  const hasLanes = new Set(checks.map(({ lane }) => lane).filter((lane) => lane !== null)).size > 1;
  return `${checks.map((check) => harmless(layOutFinding(check, hasLanes))).join('')}${layOutSummary(checks)}`;
}
