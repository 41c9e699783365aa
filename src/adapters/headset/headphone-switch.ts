import type { RunProgram } from '../../ports/machine.ts';
import type { PlugState } from './plug-state.ts';

/**
 * A headphone switch of an input device. The kernel reports only changes to readers; the present state needs an ioctl, which
 * Node has not, and Perl has. It is part of every Debian.
 */
const READ = `
open(my $device, '<:raw', $ARGV[0]) or die "$!\\n";
my ($known, $state) = ("\\0" x 8, "\\0" x 8);
# EVIOCGBIT(EV_SW) and EVIOCGSW, 8 bytes each; bit 2 is SW_HEADPHONE_INSERT.
defined(ioctl($device, 0x80084525, $known)) or die "$!\\n";
vec($known, 2, 1) or die "no headphone switch\\n";
`;
const PRINT = `defined(ioctl($device, 0x8008451b, $state)) or die "$!\\n"; print vec($state, 2, 1), "\\n";`;
const WAIT = `$| = 1; print "\\n"; while (sysread($device, my $events, 4096)) { print "\\n" }`;

/** The program that writes a line when it is ready, and whenever the device reports something. */
export const switchMonitor = (path: string): readonly string[] => ['perl', '-e', `${READ}${WAIT}`, path];

/** Whether the plug is in, by the headphone switch of an input device. */
export async function readSwitch(path: string, run: RunProgram): Promise<PlugState> {
  const answer = await run('perl', ['-e', `${READ}${PRINT}`, path]);
  if (answer.ok) return answer.text.trim() === '1';
  if (answer.missing) return { problem: 'perl is not installed', fix: 'apt install perl-base' };
  const { text } = answer;
  if (/No such (file|device)/.test(text))
    return {
      problem: `there is no input device "${path}"`,
      fix: 'Plug it in, or correct headset.detect: "dragoman devices --keys" lists the input devices.',
    };
  if (/Permission denied/.test(text))
    return {
      problem: `this user cannot read "${path}"`,
      fix: 'Add the user to the group "input", then log in again or restart the service.',
    };
  if (/Operation not permitted/.test(text))
    return {
      problem: `the unit does not allow "${path}"`,
      fix: 'Add "DeviceAllow=char-input r" to the unit.',
    };
  return {
    problem: `"${path}" has no headphone switch`,
    fix: 'Name the jack of the sound card in headset.detect, as /proc/bus/input/devices lists it, or a jack control.',
  };
}
