import { KERNEL_FOLDERS } from '../../adapters/kernel.ts';
import { createProgramRunner } from '../../adapters/program-runner.ts';
import type { MachineParts } from '../../ports/machine.ts';
import { readSoundAccess } from './checks/permissions/sound-access.ts';

/** This machine, as the checks read it. */
export function createMachineParts(env: Readonly<Record<string, string | undefined>>): MachineParts {
  return {
    env,
    kernel: KERNEL_FOLDERS,
    run: createProgramRunner(env),
    soundAccess: () => readSoundAccess(),
  };
}
