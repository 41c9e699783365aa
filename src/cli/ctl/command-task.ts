import { worstOf } from '../../device/doctor/report/finding.ts';
import { isDone, type Outcome } from '../../fleet/answers.ts';
import { receivedLanesSchema } from '../../fleet/device-messages.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import type { Shell } from '../../program/program.ts';
import { wrapText } from '../../program/text.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';
import type { CommandResponse } from '../../protocol/mqtt/command.ts';
import { diagnosisSchema, type Finding } from '../../protocol/mqtt/diagnose.ts';
import { layOutFinding, layOutSummary } from '../doctor/diagnosis-text.ts';
import { ask } from './ask.ts';
import type { CtlDeps } from './deps.ts';

/** Sends a command and prints the result, one or more lines per device. */
export async function runCommand(
  name: string,
  args: Readonly<Record<string, unknown>>,
  deps: CtlDeps,
): Promise<void> {
  const { shell, options, target } = deps;
  const { outcomes } = await ask(name, args, deps);
  for (const outcome of outcomes) {
    shell.print(options.json ? jsonLine(outcomeJson(outcome)) : wordOutcome(outcome));
  }
  if (outcomes.length === 0) {
    const whom = target.kind === 'group' ? `the group "${target.group}"` : 'this tenant';
    throw new Failure(`the broker knows no device of ${whom}, and there was no answer`, EXIT.noAnswer);
  }
  sumUp(outcomes, shell);
}

/** Sets the exit code and, for several devices, prints a summary. */
export function sumUp(outcomes: readonly Outcome[], shell: Shell): void {
  const silent = outcomes.filter(({ kind }) => kind === 'silent').length;
  const failed = outcomes.filter((outcome) => outcome.kind === 'answered' && !isDone(outcome)).length;
  const ill = outcomes.filter(hasProblem).length;
  if (failed > 0) shell.finish(EXIT.failed);
  else if (silent > 0) shell.finish(EXIT.noAnswer);
  else if (ill > 0) shell.finish(EXIT.problemFound);
  const parts = [
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(silent === 0 ? [] : [`${silent} did not answer`]),
    ...(ill === 0 ? [] : [`${ill} ${ill === 1 ? 'has' : 'have'} a problem`]),
  ];
  if (outcomes.length < 2 || parts.length === 0) return;
  const summary = parts.join(', ').replace(/, (?=[^,]*$)/, ' and ');
  shell.complain(`dragoman: of ${outcomes.length} devices ${summary}.\n`);
}

/** One device as JSON: its answer, or `"status": "silent"`. */
export function outcomeJson(outcome: Outcome): object {
  const { device } = outcome;
  if (outcome.kind === 'silent') return { device, status: 'silent', message: outcome.why };
  const { status, error, note, data } = outcome.answer;
  return {
    device,
    status,
    ...(error && { error }),
    ...(note !== undefined && { note }),
    ...(data !== undefined && { data }),
  };
}

function wordOutcome(outcome: Outcome): string {
  const { device } = outcome;
  if (outcome.kind === 'silent') return wrapText(`${device}: ${outcome.why}`, '  ');
  const findings = findingsOf(outcome.answer);
  if (findings !== null) return `${device}: ${layOutSummary(findings)}${layOutFindings(findings)}`;
  return wrapText(`${device}: ${wordAnswer(outcome.answer)}`, '  ');
}

function wordAnswer(answer: CommandResponse): string {
  return [wordResult(answer), ...(answer.note === undefined ? [] : [answer.note])].join('; ');
}

function wordResult({ status, error, data }: CommandResponse): string {
  if (status === 'error')
    return `refused (${error?.code ?? 'without a code'}): ${error?.message ?? 'without a reason'}`;
  if (status === 'expired') return 'expired: the command arrived too late';
  const lanes = receivedLanesSchema.safeParse(data);
  if (!lanes.success) return status;
  const states = lanes.data.lanes.map(
    ({ id, phase, source, targets, volume, echo, muted }) =>
      `${id} ${phase}, ${source} to ${targets.join(', ')}, volume ${volume}, echo ${echo}${muted ? ', muted' : ''}`,
  );
  const note = lanes.data.note === undefined ? [] : [lanes.data.note];
  return [`${status}: ${states.join('; ')}`, ...note].join('; ');
}

/** Findings of a device's doctor; null for other commands and for a failed one. */
function findingsOf({ status, data }: CommandResponse): readonly Finding[] | null {
  const diagnosis = diagnosisSchema.safeParse(data);
  return status === 'ok' && diagnosis.success ? diagnosis.data.checks : null;
}

function hasProblem(outcome: Outcome): boolean {
  const findings = outcome.kind === 'answered' ? findingsOf(outcome.answer) : null;
  return worstOf((findings ?? []).map(({ verdict }) => verdict)) === 'problem';
}

/** Formats findings like `dragoman doctor`. */
function layOutFindings(findings: readonly Finding[]): string {
  const hasLanes = new Set(findings.map(({ lane }) => lane).filter((lane) => lane !== null)).size > 1;
  return findings.map((finding) => layOutFinding(finding, hasLanes)).join('');
}
