/**
 * Tests that replace a module or change their process (environment, clock, umask). Each has its own process, like all tests in
 * real time (`test/e2e`, `test/card`). All other tests share loaded modules.
 */
export const ISOLATED = [
  'test/adapters/audio/alsa/aplay.test.ts',
  'test/adapters/audio/alsa/arecord.test.ts',
  'test/adapters/audio/alsa/mixer.test.ts',
  'test/adapters/audio/alsa/own-words.test.ts',
  'test/adapters/audio/child/slow-start.test.ts',
  'test/installer/power-cut.test.ts',
  'test/adapters/running-note.test.ts',
  'test/adapters/shared-alarm.test.ts',
  'test/adapters/time-zone.test.ts',
  'test/adapters/update/apt.test.ts',
  'test/adapters/update/agent-unit.test.ts',
  'test/adapters/vitals.test.ts',
  'test/device/throwing/core.test.ts',
  'test/device/throwing/reverse-order.test.ts',
  'test/backend/broker/init.test.ts',
  'test/backend/bill/bill.test.ts',
  'test/backend/watch/group-budgets.test.ts',
  'test/cli/provision.test.ts',
  'test/page/console/console-stream.test.ts',
  'test/page/console/console-texts.test.ts',
  'test/page/console/console-view.test.ts',
  'test/page/kiosk/link.test.ts',
];
