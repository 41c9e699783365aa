import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Kiosk, SERVICE } from './kiosk.ts';

const PROBE = 'dragoman-probe.service';

/** Runs a script under the settings of the agent's unit. @returns its exit status */
export async function probe({ machine, show }: Kiosk, script: string): Promise<string> {
  const path = fileURLToPath(new URL(`../../systemd/${SERVICE}`, import.meta.url));
  const text = readFileSync(path, 'utf8')
    .replace(/^ExecStart=.*$/m, 'ExecStart=/bin/sh /etc/dragoman/probe')
    // Otherwise systemd forgets a successful unit at once.
    .replace(/^Type=.*$/m, 'Type=oneshot\nRemainAfterExit=yes')
    .replace(/^(Restart|WatchdogSec|NotifyAccess).*$/gm, '');
  await machine.write('/etc/dragoman/probe', script);
  await machine.write(`/etc/systemd/system/${PROBE}`, text);
  await machine.must(['systemctl', 'daemon-reload']);
  await machine.run(['systemctl', 'start', PROBE]);
  const [code, status] = [await show('ExecMainCode', PROBE), await show('ExecMainStatus', PROBE)];
  await machine.run(['systemctl', 'stop', PROBE]);
  if (code !== '1') throw new Error(`the probe did not finish: ${code}`);
  return status;
}
