import { redactValue } from '../../adapters/redaction.ts';
import { count } from '../../device/doctor/report/finding.ts';
import { COLUMNS } from '../../program/text.ts';
import { jsonLine } from '../../protocol/common/plain-text.ts';
import { type Diagnosis, type Finding, findingSchema, type Verdict } from '../../protocol/mqtt/diagnose.ts';

const VERDICT_WIDTH = 'problem'.length + 2;
const NAME_WIDTH = 'configuration'.length + 2;
const INDENT = ' '.repeat(VERDICT_WIDTH + NAME_WIDTH);

/** Formats a finding for a terminal: verdict, check, finding, and the fix below. */
export function layOutFinding(finding: Finding, hasLanes: boolean): string {
  const { verdict, check, lane, finding: found, fix } = redactFinding(finding);
  const head = verdict.padEnd(VERDICT_WIDTH) + check.padEnd(NAME_WIDTH);
  const about = hasLanes && lane !== null ? `${lane}: ` : '';
  const text = wrap(about + found, COLUMNS - INDENT.length);
  const lines = [...text, ...(fix === null ? [] : wrap(`-> ${fix}`, COLUMNS - INDENT.length, '   '))];
  return `${lines.map((line, index) => (index === 0 ? head : INDENT) + line).join('\n')}\n`;
}

/** The last line: the number of findings per verdict. */
export function layOutSummary(findings: readonly Finding[]): string {
  const of = (wanted: Verdict): number => findings.filter(({ verdict }) => verdict === wanted).length;
  const parts = [
    of('problem') === 0 ? 'no problem' : count(of('problem'), 'problem'),
    ...(of('warning') === 0 ? [] : [count(of('warning'), 'warning')]),
    `${of('ok')} ok`,
    ...(of('skipped') === 0 ? [] : [`${of('skipped')} skipped`]),
  ];
  return `${parts.join(', ')}\n`;
}

/** Formats the diagnosis as one line of JSON. */
export function formatDiagnosis(diagnosis: Diagnosis): string {
  return jsonLine({ doctor: { ...diagnosis, checks: diagnosis.checks.map(redactFinding) } });
}

/** Removes everything that looks like a secret, as a last line of defence. */
export function redactFinding(finding: Finding): Finding {
  return findingSchema.parse(redactValue(finding));
}

/** Wraps at words. A word longer than a line, such as a path, gets its own line and stays whole. */
function wrap(text: string, width: number, indent = ''): string[] {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(/\s+/)) {
    const start = lines.length === 0 ? '' : indent;
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line);
      line = indent + word;
    } else {
      line = line === '' ? start + word : `${line} ${word}`;
    }
  }
  return [...lines, line];
}
