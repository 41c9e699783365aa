/** The tests of each part of the core, under test/core. */
export const STORIES = {
  rollover: ['lane/rollover.test.ts', 'lane/successor.test.ts', 'lane/overlap.test.ts'],
  room: ['lane/one-stream.test.ts'],
  replay: ['lane/replay.test.ts'],
  standby: ['lane/standby.test.ts', 'lane/standby-backlog.test.ts', 'lane/standby-unspoken.test.ts'],
  spokenVoice: ['lane/spoken-voice.test.ts'],
  unheard: ['lane/unheard-speech.test.ts'],
  lateSpeech: ['lane/late-speech.test.ts'],
  unspoken: ['lane/unspoken.test.ts'],
  token: ['lane/token.test.ts'],
  setup: ['lane/setup.test.ts'],
  sending: ['lane/sending.test.ts'],
  ending: ['lane/ending.test.ts'],
  recovery: ['lane/recovery.test.ts', 'lane/refusal.test.ts'],
  change: ['lane/task-change.test.ts'],
  gate: ['lane/gate.test.ts', 'uplink/gate.test.ts'],
};
