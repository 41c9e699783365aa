const ZOMBIE = ['lane/silent-service.test.ts'];

/** What is lost or dead without a word of it. */
export const SILENCE = [
  {
    name: 'silent-service-never-asked',
    file: 'lane/sound/sending.ts',
    find: '  watchSilence(context);\n',
    replace: '',
    tests: ZOMBIE,
  },
  {
    name: 'noise-owes-an-answer',
    file: 'lane/session/silence.ts',
    find: '!voiced : !isTalk(voiced, levels, 0, isExpected)))',
    replace: '!voiced : !voiced))',
    tests: ZOMBIE,
  },
  {
    name: 'noise-ends-session-after-session',
    file: 'lane/session/silent-service.ts',
    find: ' && !isDoubtful(state.silentEnds, now);',
    replace: ';',
    tests: ZOMBIE,
  },
  {
    name: 'silent-service-left-for-a-cough',
    file: 'lane/session/silent-service.ts',
    find: 'const LEAST_SPEECH_CHUNKS = 10;',
    replace: 'const LEAST_SPEECH_CHUNKS = 1;',
    tests: ZOMBIE,
  },
  {
    name: 'lost-speech-not-told',
    file: 'lane/machine.ts',
    find: '  trackSpeechLoss(context, state);\n  trackUnheard(context);\n  trackLateSpeech(context);\n  updateChimes',
    replace: '  trackUnheard(context);\n  trackLateSpeech(context);\n  updateChimes',
    tests: ['lane/speech-lost.test.ts'],
  },
  {
    name: 'slow-way-tells-each-word',
    file: 'lane/sound/speech-lost.ts',
    find: 'now - lastAt >= OVER_AFTER_MS;',
    replace: 'now >= lastAt;',
    tests: ['lane/speech-lost.test.ts'],
  },
  {
    name: 'ready-without-a-session',
    file: 'lane/status.ts',
    find: '  else if (isLong) reasons',
    replace: '  else if (failures > 90) reasons',
    tests: ['lane/status.test.ts'],
  },
  {
    name: 'muted-and-ready',
    file: 'lane/status.ts',
    find: "state.options.muted ? 'idle' : 'ready'",
    replace: "'ready'",
    tests: ['lane/status.test.ts'],
  },
  {
    name: 'dead-backend-not-told',
    file: 'owner/backend-watch.ts',
    find: 'now >= state.waitingSince + SILENT_AFTER_MS) {',
    replace: 'now >= state.waitingSince + 1e9) {',
    tests: ['owner/backend-watch.test.ts'],
  },
  {
    name: 'older-backend-is-an-alarm',
    file: 'owner/backend-watch.ts',
    find: "if (kind === 'backend') return ask(state,",
    replace: "if (kind === 'service') return ask(state,",
    tests: ['owner/backend-watch.test.ts'],
  },
];
