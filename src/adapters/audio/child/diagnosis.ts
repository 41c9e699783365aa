import type { AudioFault } from '../../../ports/audio.ts';
import { alsaWords, isAlsaLine, programWords, withWords } from './own-words.ts';
import type { ChildEnd } from './process.ts';
import {
  classifyStderrLine,
  explainEnd,
  isSetupListing,
  type NamedDevice,
  type StderrFinding,
} from './stderr-classifier.ts';

/** Lines of alsa-lib that are kept: the first ones name the cause. */
const MOST_KEPT = 8;

/** Finds out from a child's standard error why it ended. */
export interface Diagnosis {
  hear(line: string, device: NamedDevice): StderrFinding;
  explain(end: ChildEnd, device: NamedDevice): AudioFault;
}

export function createDiagnosis(): Diagnosis {
  let finding: (StderrFinding & { kind: 'fault' }) | null = null;
  let findingLine = '';
  let lastLine: string | null = null;
  const alsaLines: string[] = [];
  return {
    hear(line, device) {
      if (!isSetupListing(line)) lastLine = line;
      if (isAlsaLine(line) && alsaLines.length < MOST_KEPT) alsaLines.push(line);
      const heard = classifyStderrLine(line, device);
      // The library's line comes first and is usually less precise than the program's.
      const isSettled = finding !== null && (finding.isCause === true || finding.fault.code === 'busy');
      if (heard?.kind === 'fault' && !isSettled) {
        finding = heard;
        findingLine = line;
      }
      return heard;
    },
    explain(end, device) {
      const fault = explainEnd(end, finding?.fault ?? null, lastLine, device);
      if (fault !== finding?.fault || fault.message.includes(findingLine)) return fault;
      return withWords(fault, alsaWords(alsaLines) ?? programWords(device.program, findingLine));
    },
  };
}
