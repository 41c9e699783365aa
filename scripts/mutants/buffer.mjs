/** What a loudspeaker is given when, and what becomes of it where it is away. */
const TESTS = ['playout/buffer'];

export const BUFFER = [
  {
    name: 'silent-device-counts-as-back',
    file: 'playout/buffer/buffer.ts',
    find: 'else if (event.afterFault) prove(step, device);',
    replace: '',
    tests: TESTS,
  },
  {
    name: 'unheard-sound-is-lost-with-the-device',
    file: 'playout/buffer/buffer.ts',
    find: 'isSettled ? heardFrames(device, stoodSince ?? step.now) : 0',
    replace: 'heardFrames(device, stoodSince ?? step.now)',
    tests: TESTS,
  },
  {
    name: 'missed-sound-is-made-up-for',
    file: 'playout/buffer/buffer.ts',
    find: 'pending: gone.pending, accountedUntil: now',
    replace: 'accountedUntil: now',
    tests: TESTS,
  },
  {
    name: 'device-that-hangs-counts-as-heard',
    file: 'playout/buffer/buffer.ts',
    find: 'stoodSince ?? step.now',
    replace: 'step.now',
    tests: TESTS,
  },
  {
    name: 'missed-sound-is-told-of-nobody',
    file: 'playout/buffer/buffer.ts',
    find: "if (ms > 0) step.effects.push({ type: 'missed', ms });",
    replace: '',
    tests: TESTS,
  },
  {
    name: 'missed-silence-is-told',
    file: 'playout/buffer/buffer.ts',
    find: 'const ms = audibleMs(gone.pcm, rateHz);',
    replace: 'const ms = durationMs(gone.pcm.byteLength, rateHz);',
    tests: TESTS,
  },
  {
    name: 'flush-stops-a-running-device',
    file: 'playout/buffer/buffer.ts',
    find: 'if (runsOn(state) && state.sounding) return runOut(step);',
    replace: '',
    tests: TESTS,
  },
  {
    name: 'write-tells-twice',
    file: 'playout/buffer/buffer-step.ts',
    find: 'if (state.isAnswering) set',
    replace: 'if (state.isOverflowing) set',
    tests: TESTS,
  },
  {
    name: 'hang-of-the-device-unnoticed',
    file: 'playout/buffer/device-timeline.ts',
    find: 'const hangs = looked.taken < inStretch && !isMoving && now - movedAt > limitMs;',
    replace: 'const hangs = looked.taken < inStretch && !isMoving && now - movedAt > 1e9 * limitMs;',
    tests: TESTS,
  },
  {
    name: 'last-period-waits-forever',
    file: 'playout/buffer/look.ts',
    find: 'if (heldFrames === 0 || ahead >= limit.TAIL_MS) return endStep(step);',
    replace: 'if (heldFrames >= 0) return endStep(step);',
    tests: TESTS,
  },
  {
    name: 'device-that-runs-on-runs-dry',
    file: 'playout/buffer/limits.ts',
    find: 'silence: 145, least: 90',
    replace: 'silence: 40, least: 10',
    tests: TESTS,
  },
];
