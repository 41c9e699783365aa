import type { Outcome } from '../../fleet/answers.ts';
import {
  type ReceivedAnswer,
  type ReceivedLane,
  receivedAnswerSchema,
  receivedStateSchema,
  receivedStatusSchema,
} from '../../fleet/device-messages.ts';
import { type DeviceEntry, isReachable, NEVER_CAME, neverCame, rosterRows } from '../../fleet/roster.ts';
import { EXIT, endSentence, Failure } from '../../program/problem.ts';
import { COLUMNS, wrapIndented, wrapText } from '../../program/text.ts';
import { jsonLine, textLine } from '../../protocol/common/plain-text.ts';
import { ask } from './ask.ts';
import { outcomeJson, runCommand, sumUp } from './command-task.ts';
import type { CtlDeps } from './deps.ts';
import { layOutRoster } from './fleet-table.ts';
import { registeredIn } from './target.ts';

/** Prints the details of one device, or a table of several. All devices are asked, so that hanging ones show up. */
export async function showStatus(deps: CtlDeps): Promise<void> {
  const { options, target, shell, access } = deps;
  if (options.json && target.kind === 'device') return runCommand('status', {}, deps);
  const { outcomes, view } = await ask('status', {}, deps);
  if (target.kind !== 'device') {
    const entries = view.entries();
    const known = new Set(entries.map(({ device }) => device));
    const strangers = outcomes.filter(({ device }) => !known.has(device)).map(strangerOf);
    const never = neverCame(registeredIn(target, access.registered), [...entries, ...strangers]);
    if (outcomes.length + never.length === 0)
      throw new Failure('the broker knows no such devices, and there was no answer', EXIT.noAnswer);
    if (options.json) {
      for (const outcome of outcomes) shell.print(jsonLine(outcomeJson(outcome)));
      for (const { device } of never) shell.print(jsonLine({ device, status: 'never', message: NEVER_CAME }));
      return sumUp(outcomes, shell);
    }
    const silent = new Set(outcomes.filter(({ kind }) => kind === 'silent').map(({ device }) => device));
    const rows = rosterRows([...entries, ...strangers, ...never]).map((row) => {
      const entry = entries.find(({ device }) => device === row.device);
      const isHung = silent.has(row.device) && entry !== undefined && isReachable(entry);
      return isHung ? { ...row, status: 'silent', reasons: `was ${row.status}`, isProblem: true } : row;
    });
    for (const line of layOutRoster(rows, process.stdout.columns ?? COLUMNS)) shell.print(textLine(line));
    return sumUp(outcomes, shell);
  }
  const [outcome] = outcomes;
  if (outcome === undefined) return;
  const known = receivedAnswerSchema.safeParse(outcome.kind === 'answered' ? outcome.answer.data : null);
  if (known.success)
    for (const line of detailLines(outcome.device, known.data)) shell.print(wrapIndented(line));
  else if (outcome.kind === 'answered') shell.print(jsonLine(outcomeJson(outcome)));
  else shell.complain(wrapText(`dragoman: ${outcome.device}: ${endSentence(outcome.why)}`, '  '));
  sumUp(outcomes, shell);
}

/** A device whose messages the broker has not sent: its answer says the same. */
function strangerOf(outcome: Outcome): DeviceEntry {
  const { device } = outcome;
  const data = outcome.kind === 'answered' ? outcome.answer.data : null;
  return {
    device,
    status: receivedStatusSchema.safeParse(data).data ?? null,
    state: receivedStateSchema.safeParse(data).data ?? null,
  };
}

function detailLines(device: string, answer: ReceivedAnswer): string[] {
  const { status, reasons, version, uptime_s, lanes } = answer;
  return [
    `${device}: ${[status, ...reasons].join(' ')}`,
    `  version ${version}, up ${wordSeconds(uptime_s)}`,
    ...lanes.flatMap((lane) => [
      `  lane ${lane.id}: ${lane.phase}, ${lane.source} to ${lane.targets.join(', ')}, volume ${lane.volume}${lane.muted ? ', muted' : ''}`,
      ...refusedLines(lane),
      `    microphone ${lane.capture}, loudspeaker ${lane.playback}, echo ${lane.echo.mode}`,
      ...(lane.capture_findings.length === 0
        ? []
        : [`    microphone problems: ${lane.capture_findings.join(', ')}`]),
      ...(lane.session === null
        ? []
        : [`    session ${lane.session} at ${lane.stream_host ?? 'an unknown host'}`]),
      ...(lane.speech_lost_ms === 0
        ? []
        : [`    lost speech since the start: ${Math.round(lane.speech_lost_ms / 1000)} s`]),
      ...(lane.unspoken_ms === 0
        ? []
        : [
            `    speech that the service did not speak, since the start: ${Math.round(lane.unspoken_ms / 1000)} s`,
          ]),
      ...(lane.speech_dropped_ms === 0
        ? []
        : [
            `    translated speech not played, since the start: ${Math.round(lane.speech_dropped_ms / 1000)} s`,
          ]),
      ...(lane.next_try_at === null ? [] : [`    next try at ${lane.next_try_at}`]),
      ...(lane.last_error === null
        ? []
        : [`    last error (${lane.last_error.code}): ${lane.last_error.message}`]),
      ...(lane.last_warning === null
        ? []
        : [`    last warning (${lane.last_warning.code}): ${lane.last_warning.message}`]),
    ]),
  ];
}

function refusedLines({ refused_task: refused }: ReceivedLane): string[] {
  if (refused === null) return [];
  const { source, targets, voice, message } = refused;
  const refusedParts = [
    ...(source === undefined ? [] : [`source ${source}`]),
    ...(targets === undefined ? [] : [`targets ${targets.join(', ')}`]),
    ...(voice === undefined ? [] : [`voice ${voice ?? 'none'}`]),
  ];
  return [`    refused by the service: ${refusedParts.join('; ')} (${message})`];
}

function wordSeconds(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  if (days > 0) return `${days} d ${hours} h`;
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${Math.floor(seconds % 60)} s`;
}
