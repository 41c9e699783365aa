import type { Mutant } from './mutant.ts';

/** What a visitor sees and holds: page, keys, screen, languages. */
export const MUTANTS: readonly Mutant[] = [
  {
    file: 'src/agent/keys/desk-keys.ts',
    from: "else if (binding.on === 'hold') release(binding);",
    to: 'else release(binding);',
    seen: 'a key that mutes unmutes when it is let go',
  },
  {
    file: 'src/page/turn-button.tsx',
    from: 'useEffect(() => release, [lane.id, speaker]);',
    to: 'useEffect(() => {}, [lane.id, speaker]);',
    seen: 'the microphone stays open when a held button disappears',
  },
  {
    file: 'src/agent/screen/held-turns.ts',
    from: 'release({ ...action, held: false });',
    to: '',
    seen: 'the microphone stays open when the page is gone while a button is held',
  },
  {
    file: 'src/page/console/form/schema-form.tsx',
    from: 'items.toSpliced(at, 1)',
    to: 'items.slice(0, -1)',
    seen: '"Remove" takes the last entry instead of the chosen one',
  },
  {
    file: 'src/page/typing-dialog.tsx',
    from: "if (isEmpty || state.value === 'speaking') return;",
    to: 'if (isEmpty) return;',
    seen: 'a double Enter speaks a text twice',
  },
  {
    file: 'src/page/typing-dialog.tsx',
    from: "letters.slice(0, -1).join('')",
    to: 'text.slice(0, -1)',
    seen: 'the delete key leaves half an emoji or a lone accent',
  },
  {
    file: 'src/core/lane/two-way/two-way.ts',
    from: '.slice(-MOST_HEARD)',
    to: '.slice(0, MOST_HEARD)',
    seen: 'after sixteen sentences at a desk each person hears their own words said back',
  },
  {
    file: 'src/core/room/floor.ts',
    from: '.slice(-TURNS_KEPT)',
    to: '.slice(0, TURNS_KEPT)',
    seen: 'after some turns, both microphones translate the same words',
  },
  {
    file: 'src/agent/screen/screen-view.ts',
    from: 'understoodAt.clear();',
    to: '',
    seen: '"translating" stays on the glass after the end of the conversation',
  },
  {
    file: 'src/adapters/screen/event-clients.ts',
    from: 'unwatch = null;\n    cancelPing();',
    to: 'unwatch = null;',
    seen: 'each reload of the page leaves one more loop of pings',
  },
];
