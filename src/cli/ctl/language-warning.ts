import type { Shell } from '../../program/program.ts';
import { unknownLanguages } from '../../protocol/common/language.ts';
import { textLine } from '../../protocol/common/plain-text.ts';

/** Warns of unknown languages now, because the service may refuse them only in the next session. */
export function warnOfLanguages(values: readonly unknown[], shell: Shell): void {
  const tags = values.flat().filter((tag) => typeof tag === 'string');
  for (const tag of unknownLanguages(tags))
    shell.complain(textLine(`warning: "${tag}" is not a known language: the service may refuse it`));
}
