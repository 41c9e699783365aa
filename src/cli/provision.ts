import { PROVISIONING_FILE } from '../installer/core/outcome.ts';
import { examples, type Verb } from '../program/program.ts';
import type { ProvisionOptions } from './perform-provision.ts';

export const provisionVerb: Verb = {
  register(program, shell) {
    program
      .command('provision')
      .description(
        `set up this device from ${PROVISIONING_FILE} on its boot partition, completely or not at all`,
      )
      .option('--boot <folder>', 'mount point of the boot partition (default: /boot/firmware, else /boot)')
      .option('--root <folder>', 'root of the system to set up', '/')
      .option('--dry-run', 'show what would be written, and write nothing')
      .option('--json', 'print one line: {"outcome", "problems", "notes", ..., "written"}')
      .addHelpText(
        ...examples('dragoman provision --dry-run', 'sudo dragoman provision --boot /boot/firmware'),
      )
      .action(async (options: ProvisionOptions) => {
        // Loaded here, because the daemon never needs it.
        const { performProvision } = await import('./perform-provision.ts');
        performProvision(options, shell);
      });
  },
};
