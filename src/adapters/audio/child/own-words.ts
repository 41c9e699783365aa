import type { AudioFault } from '../../../ports/audio.ts';
import { ownLine } from '../../own-line.ts';

/** The prefix of alsa-lib's messages: file, line and function of its source, and a level since version 1.2.14. */
const ALSA = /^ALSA lib (?:[^\s:]+:\d+:)?(?:\(\w+\) ?)?(?:\[[\w.]+\] ?)?/;
/** The prefix of messages of arecord and aplay. */
const PROGRAM = /^(?:arecord|aplay): (?:\w+:\d+: )?/;
/** Lines about the consequences of an earlier error. */
const CONSEQUENCE = /^(?:function \w+ returned error|hooks failed)/;
/** For a configuration that cannot be parsed, the first line names the position and the second the file. */
const MOST_LINES = 2;

export const isAlsaLine = (line: string): boolean => ALSA.test(line);

/** The cause in the words of alsa-lib: its first lines, quoted. Null: no line names a cause. */
export function alsaWords(lines: readonly string[]): string | null {
  const causes = lines
    .filter(isAlsaLine)
    .map((line) => ownLine(line.replace(ALSA, '')))
    .filter((text) => text !== '' && !CONSEQUENCE.test(text));
  const quoted = causes.slice(0, MOST_LINES).map((text) => `"${text}"`);
  return quoted.length === 0 ? null : `ALSA: ${quoted.join(', ')}`;
}

/** One line of a program, quoted. */
export function programWords(program: string, line: string): string {
  return `${program}: "${ownLine(line.replace(PROGRAM, ''))}"`;
}

/** The fault with these words inserted between what happened and the advice. */
export function withWords({ code, message }: AudioFault, words: string): AudioFault {
  const [happened = '', ...advice] = message.split('; ');
  return { code, message: [`${happened} (${words.replaceAll('; ', ', ')})`, ...advice].join('; ') };
}

/** Why arecord, aplay or amixer failed, from its whole standard error. */
export function reasonIn(stderr: string): string {
  const lines = stderr.trim().split('\n');
  const opening = /audio open error: (.+)$/m.exec(stderr)?.[1];
  const last = lines.findLast((line) => !isAlsaLine(line)) ?? '';
  const parts = [ownLine(opening ?? last), alsaWords(lines) ?? ''];
  return parts.filter((part) => part !== '').join(', ') || 'it gave no reason';
}
