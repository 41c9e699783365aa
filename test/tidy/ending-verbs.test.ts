/** Something ends by one of the verbs of docs/architecture.md, and by no other. */
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { codeOf, isCode, readTree, type SourceFile } from './source.ts';

const TREE = readTree(fileURLToPath(new URL('../../', import.meta.url)));

const OTHER_VERBS =
  'abandon|cease|conclude|condemn|discard|dismiss|dispose|finish|forsake|giveBack|giveUp|leave|letGo|quit|relinquish|release|retire|surrender|withdraw';
/** A function, a method or a factory's part with such a name. */
const DECLARED = new RegExp(
  [
    String.raw`\bfunction (?<a>(?:${OTHER_VERBS})(?![a-z])\w*)\s*\(`,
    String.raw`\b(?:const|readonly) (?<b>(?:${OTHER_VERBS})(?![a-z])\w*) = (?:async )?\([^()]*\)(?:: [^=]+)? =>`,
    String.raw`^ +(?:async |private )*(?<c>(?:${OTHER_VERBS})(?![a-z])\w*)\([^()]*\)(?:: [^{;=>]+)? ?[{;]$`,
  ].join('|'),
  'gm',
);

/** Published names, and what does not end anything. */
const ALLOWED: Readonly<Record<string, string>> = {
  'src/program/program.ts finish': 'the exit code of a program',
  'src/backend/broker/authorities.ts retireAuthority': 'the verb `broker authority retire`',
  'src/program/program.ts leaveHelpOut': 'leaves something out of the help',
};

function otherVerbs(file: SourceFile): string[] {
  return [...codeOf(file).matchAll(DECLARED)].map(({ groups = {} }) => {
    const name = groups['a'] ?? groups['b'] ?? groups['c'] ?? '';
    return `${file.path} ${name}`;
  });
}

describe('a verb for ending something', () => {
  it('is one of the table in docs/architecture.md', () => {
    const found = TREE.filter((file) => file.path.startsWith('src/') && isCode(file)).flatMap(otherVerbs);
    expect(found.filter((one) => !(one in ALLOWED))).toEqual([]);
    expect(Object.keys(ALLOWED).filter((one) => !found.includes(one))).toEqual([]);
  });

  it.each([
    ['function abandonRest(a: string): void {', ['abandonRest']],
    ['  const giveUp = (why: string): void => {', ['giveUp']],
    ['    leave(): void {\n', ['leave']],
    ['  release(): void;', ['release']],
    ['    finish(now) {', ['finish']],
    ['  private letGo(): void {', ['letGo']],
    ['const finished = (a) => a; function leaves() {}', []],
    ['    if (finish(now)) {', []],
    ['const release = Math.min(1, 2);', []],
  ])('is found in %j', (text, names) => {
    expect(otherVerbs({ path: 'src/a.ts', text })).toEqual(names.map((name) => `src/a.ts ${name}`));
  });
});
