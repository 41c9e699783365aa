import { existsSync, writeFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import type { Host } from '../../ports/host.ts';
import { systemReason } from '../system-error.ts';
import { RESTART_FILE } from '../update/order-files.ts';
import { isStartedBySystemd } from './invocation.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The enabled unit that watches for the file `reboot` in the agent's runtime directory (systemd/dragoman-reboot.path). */
const REBOOT_UNIT = '/etc/systemd/system/paths.target.wants/dragoman-reboot.path';

/** @param end shuts the program down cleanly */
export function createHost(env: Environment, end: () => void, rebootUnit: string = REBOOT_UNIT): Host {
  const [directory = ''] = (env['RUNTIME_DIRECTORY'] ?? '').split(':');
  return {
    restartProblem: () =>
      isStartedBySystemd(env)
        ? null
        : 'the agent is not running as a systemd unit, so it would not be restarted',
    restart() {
      try {
        // Tells the updater that an operator asked for this restart, so it does not blame the new version.
        if (isAbsolute(directory)) writeFileSync(join(directory, RESTART_FILE), String(process.pid));
      } catch {}
      end();
    },
    reboot() {
      if (!isAbsolute(directory))
        return 'the agent is not running as a systemd unit with a runtime directory';
      if (!existsSync(rebootUnit)) {
        return 'dragoman-reboot.path is not enabled on the device: systemctl enable --now dragoman-reboot.path';
      }
      try {
        writeFileSync(join(directory, 'reboot'), '');
        return null;
      } catch (error) {
        return `the file that asks for a reboot cannot be written: ${systemReason(error)}`;
      }
    },
  };
}
