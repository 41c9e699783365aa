/** What the watchdog is fed by. */
export const SERVICE = [
  {
    name: 'progress-without-sound',
    file: 'progress.ts',
    find: '&& then.chunks === now.chunks',
    replace: '&& then.chunks > now.chunks',
    tests: ['progress.test.ts'],
  },
  {
    name: 'progress-only-with-a-microphone',
    file: 'progress.ts',
    find: 'then?.listens && now.listens',
    replace: 'then !== undefined',
    tests: ['progress.test.ts'],
  },
  {
    name: 'progress-not-while-opening',
    file: 'progress.ts',
    find: 'then.changes === now.changes',
    replace: 'then.changes <= now.changes',
    tests: ['progress.test.ts'],
  },
];
