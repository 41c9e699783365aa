import { expect, it } from 'vitest';
import { CONFIRMATION, DOWNLOAD, findPhase, LINK, RESTART, UNPACK } from './update/phases.ts';
import { stepsIn } from './update/trail.ts';

const CONSOLE = `[  OK  ] Started
@trail 900 runs /usr/lib/dragoman
@trail 1000 state downloading
@trail 3000 state verifying\r
@trail 5000 state ready
@trail 6000 state switching
@trail 6100 state confirming
@trail 7000 runs /var/lib/dragoman-update/versions/1.1.0-1/usr/lib/dragoman
@trail 8000 sta`;

it('finds the phases of an update in what the console says', () => {
  const length = (phase: typeof DOWNLOAD) => {
    const { first, end } = findPhase(stepsIn(CONSOLE), phase);
    return [first?.atMs, end?.atMs];
  };
  expect(length(DOWNLOAD)).toEqual([1000, 3000]);
  expect(length(UNPACK)).toEqual([3000, 5000]);
  expect(length(LINK)).toEqual([6000, 6100]);
  expect(length(RESTART)).toEqual([6100, 7000]);
  // The power was cut in it.
  expect(length(CONFIRMATION)).toEqual([6100, undefined]);
});
