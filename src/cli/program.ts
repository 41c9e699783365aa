import { createSystemClock } from '../adapters/clock.ts';
import { runProgram, type Terminal } from '../program/program.ts';
import { bootReportVerb } from './boot-report/boot-report-verb.ts';
import { checkConfigVerb } from './check-config/check-config.ts';
import { createCtlVerb } from './ctl/ctl-verb.ts';
import { demoVerb } from './demo/demo-verb.ts';
import { devicesVerb } from './devices/devices-verb.ts';
import { createDoctorVerb } from './doctor/doctor-verb.ts';
import { provisionVerb } from './provision.ts';
import { createRunVerb, type RunHost } from './run/run-verb.ts';
import { createScreenVerb } from './screen/screen-verb.ts';
import { versionVerb } from './version.ts';
import { versionsVerb } from './versions.ts';

export const NAME = 'dragoman';

/** Runs one command line. Never rejects; resolves with the exit code once the verb has ended. */
export function runDeviceProgram(argv: readonly string[], given: Terminal & RunHost): Promise<number> {
  const { output, signals, onCrash, onClosed, ...terminal } = given;
  const host = { output, signals, onCrash, onClosed };
  const run = createRunVerb(host);
  const clock = createSystemClock();
  return runProgram({
    name: NAME,
    summary: 'The agent inside an interpreting kiosk: speech in, translated speech out.',
    verbs: [
      run,
      demoVerb,
      devicesVerb,
      createDoctorVerb(clock),
      checkConfigVerb,
      createCtlVerb(clock),
      createScreenVerb(host),
      provisionVerb,
      bootReportVerb,
      versionsVerb,
      versionVerb,
    ],
    argv,
    ...terminal,
  });
}
