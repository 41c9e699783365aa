/** Commands that come again. */
const TESTS = ['owner/command-ledger.test.ts'];

export const COMMANDS = [
  {
    name: 'open-command-is-forgotten',
    file: 'owner/command-ledger.ts',
    find: 'if (entry.answer !== null && (isOld || next.size > MOST_REMEMBERED)) next.delete(entry.key);',
    replace: 'if (isOld || next.size > MOST_REMEMBERED) next.delete(entry.key);',
    tests: TESTS,
  },
  {
    name: 'id-stands-for-any-command',
    file: 'owner/command-ledger.ts',
    find: "if (entry.content !== content) return 'other_content';",
    replace: '',
    tests: TESTS,
  },
];
