import type { AudioFault } from '../../../ports/audio.ts';
import { ownLine } from '../../own-line.ts';
import { reasonOf } from '../../system-error.ts';
import { CANNOT_LOAD } from './cannot-load.ts';
import type { ChildEnd } from './process.ts';

/** A device as the operator named it, for messages. */
export interface NamedDevice {
  readonly part: 'capture' | 'playback';
  /** "plughw:CARD=Mic", or the operator's command. */
  readonly name: string;
  /** The program that uses it. */
  readonly program: string;
  /** Whether a sound server provides the device; absent: unknown. */
  readonly isServer?: boolean;
}

/** The remedy for a hung device, as the end of a sentence. */
export function cureOf({ isServer = false }: NamedDevice): string {
  return isServer ? 'restart the sound server behind it' : 'replug the device';
}

/** The meaning of a line on standard error. */
export type StderrFinding =
  /** Sound was lost (capture) or missing (playback) for at least this long. */
  | { readonly kind: 'xrun'; readonly ms: number }
  | {
      readonly kind: 'fault';
      readonly fault: AudioFault;
      /** This line names the cause; later lines are only its consequences. */
      readonly isCause?: true;
    }
  | null;

const XRUN = /\b(?:over|under)run\b/i;
const XRUN_MS = /at least ([\d.]+) ms/;
/** ALSA failed to read its configuration, so it knows no devices. */
const CONFIGURATION = /^ALSA lib .*(?:_snd_config_load|\b_toplevel_:\d|may be old or corrupted)/;
const PLUGIN = /^ALSA lib .*Cannot open shared library (?:\S*\/)?libasound_module_([a-z]+)_(\w+)\.so/;
/** Debian's packages of the plugins. */
const PLUGIN_PACKAGES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['pulse', 'jack', 'a52', 'speex', 'speexrate', 'samplerate', 'upmix', 'vdownmix', 'oss'].map((name) => [
      name,
      'libasound2-plugins',
    ]),
  ),
  pipewire: 'pipewire-alsa',
};
/** The configured name does not lead to a device. The format is not the reason: it is requested only after the opening. */
const NOT_OPENED = /audio open error: Invalid argument/;
/** At the opening, these mean that the device is absent; later, that it was removed. */
const GONE =
  /No such device|No such file or directory|Unknown PCM|cannot find card|Invalid card|No such card/i;
const BUSY = /Device or resource busy|Resource temporarily unavailable/i;
/** EACCES: the file's owner, group and mode do not allow it. */
const DENIED = /Permission denied/i;
/** EPERM at the opening: a device rule (systemd's DevicePolicy, a container's) forbids it, whatever the group. */
const SANDBOXED = /Operation not permitted/i;
/** Printed before the program was started. */
const NOT_STARTED = /^setpriv: /;
const FORMAT =
  /format non available|Channels count non available|Rate .*not available|rate is not accurate|Unable to install hw params|Broken configuration|Invalid argument|Can't use period equal/i;
const UNREACHABLE = /Host is down|Connection refused|Connection terminated|Access denied/i;
const BROKEN =
  /Input\/output error|File descriptor in bad state|Bad file descriptor|Broken pipe|Protocol error/i;
const TRANSFER = /(?:read|write|poll|status|prepare) ?error/i;
/** The package `speaker` opens this device while it loads, and aborts when it cannot. */
const NEEDS_DEFAULT = /cannot open device default/;
const MISSING_PROGRAM = /failed to execute|command not found/i;

/** Interprets a line of arecord, aplay, alsa-lib, the driver `addon` or another program. */
export function classifyStderrLine(line: string, device: NamedDevice): StderrFinding {
  if (XRUN.test(line)) return { kind: 'xrun', ms: Number(XRUN_MS.exec(line)?.[1] ?? 0) };
  const cause = readCause(line, device);
  if (cause !== null) return { kind: 'fault', fault: cause, isCause: true };
  const fault = readFault(line, device);
  return fault === null ? null : { kind: 'fault', fault };
}

/** A cause that the program's own message hides: "Invalid argument" for a wrong brace, "No such device" for a missing plugin. */
function readCause(line: string, { part, name }: NamedDevice): AudioFault | null {
  if (line.startsWith(CANNOT_LOAD)) return { code: 'not_found', message: line };
  const opened = `the ${part} device "${name}" cannot be opened`;
  if (CONFIGURATION.test(line)) {
    const message = `${opened}: ALSA does not read its configuration; repair the file that it names, or /etc/asound.conf`;
    return { code: 'failed', message };
  }
  const plugin = PLUGIN.exec(line);
  if (plugin === null) return null;
  const debian = PLUGIN_PACKAGES[plugin[2] ?? ''];
  const fix = debian === undefined ? '' : `; install the package "${debian}"`;
  return { code: 'failed', message: `${opened}: a plugin of ALSA is missing${fix}` };
}

function readFault(line: string, device: NamedDevice): AudioFault | null {
  const { part, name, program } = device;
  const say = (code: AudioFault['code'], message: string): AudioFault => ({ code, message });
  if (NEEDS_DEFAULT.test(line)) {
    return say(
      'not_found',
      `"${program}" needs an ALSA device called "default" although it plays on "${name}"; define one in /etc/asound.conf, or use the driver "alsa"`,
    );
  }
  if (MISSING_PROGRAM.test(line)) return missingProgram(program);
  if (NOT_STARTED.test(line)) return say('failed', forbiddenStart(program, line));
  if (BUSY.test(line)) {
    return say(
      'busy',
      `the ${part} device "${name}" is in use by another program; "dragoman devices" shows which one`,
    );
  }
  if (TRANSFER.test(line) && (GONE.test(line) || BROKEN.test(line))) {
    return say('lost', `the ${part} device "${name}" went away; check its plug, cable and power`);
  }
  if (UNREACHABLE.test(line)) {
    return say(
      'failed',
      `the sound server behind the ${part} device "${name}" does not answer; is it running?`,
    );
  }
  if (GONE.test(line)) {
    return say(
      'not_found',
      `there is no ${part} device "${name}"; plug it in, or choose one that "dragoman devices" lists`,
    );
  }
  if (SANDBOXED.test(line)) {
    return say(
      'failed',
      `a sandbox forbids opening the ${part} device "${name}"; a systemd unit needs "DeviceAllow=char-alsa rw", a container needs access to /dev/snd`,
    );
  }
  if (DENIED.test(line)) {
    return say(
      'failed',
      `no permission to open the ${part} device "${name}"; add the user of this program to the group "audio"`,
    );
  }
  if (NOT_OPENED.test(line)) return say('failed', `the ${part} device "${name}" cannot be opened`);
  if (FORMAT.test(line)) {
    return say('format', `the ${part} device "${name}" does not accept the format; ${formatFix(name)}`);
  }
  return null;
}

/** Equal for two failures with the same reason; numbers in a message differ each time. */
export function causeOf({ code, message }: AudioFault): string {
  // Covers the removal and the absence after it.
  if (code === 'lost' || (code === 'not_found' && message.startsWith('there is no '))) return 'gone';
  return `${code}: ${message.replace(/\d+/g, '#')}`;
}

/** A filter of system calls or a limit kept the program from running: the device's state is unknown. */
function forbiddenStart(program: string, reason: string): string {
  return `a sandbox forbids running "${program}" (${reason}); look at SystemCallFilter=, NoExecPaths= and TasksMax= of the unit, or at the container's seccomp profile`;
}

/** The fix when a device refuses a format. */
export function formatFix(name: string): string {
  return name.startsWith('hw:')
    ? `write "plughw:${name.slice(3)}" instead, which converts`
    : '"dragoman devices" lists the formats and rates that it has';
}

export function missingProgram(program: string): AudioFault {
  const fix =
    program === 'arecord' || program === 'aplay'
      ? 'install the package "alsa-utils"'
      : 'install it, or fix the command in the configuration';
  return { code: 'not_found', message: `the program "${program}" is not installed; ${fix}` };
}

/**
 * Explains why a child ended, if this program did not stop it.
 * @param finding the last fault on its standard error
 * @param lastLine its last line, used when there is no such fault
 */
export function explainEnd(
  end: ChildEnd,
  finding: AudioFault | null,
  lastLine: string | null,
  device: NamedDevice,
): AudioFault {
  if (end.spawnError === 'ENOENT' || (end.code === 127 && finding === null))
    return missingProgram(device.program);
  if (end.spawnError === 'EPERM' || end.spawnError === 'EACCES' || end.spawnError === 'EAGAIN') {
    return { code: 'failed', message: forbiddenStart(device.program, reasonOf(end.spawnError)) };
  }
  if (end.signal === 'SIGSYS')
    return { code: 'failed', message: forbiddenStart(device.program, 'ended by SIGSYS') };
  if (end.spawnError !== null) {
    return {
      code: 'failed',
      message: `${device.program} can't be started: ${reasonOf(end.spawnError)}`,
    };
  }
  if (finding !== null) return finding;
  const how = end.signal === null ? `with exit code ${end.code ?? 'unknown'}` : `by ${end.signal}`;
  const words = lastLine === null ? 'without a message' : `after saying "${ownLine(lastLine)}"`;
  const message = `${device.program} for the ${device.part} device "${device.name}" ended ${how} ${words}; it is started again`;
  return { code: 'failed', message };
}

/** Lines in which `arecord -v` and `aplay -v` describe each layer of an opened device; they report no error. */
const FIELD =
  /^(?:stream|access|format|subformat|channels|rate|exact rate|msbits|buffer_size|period_(?:size|time|step|event)|tstamp_(?:mode|type)|avail_min|(?:start|stop|silence)_threshold|silence_size|boundary|appl_ptr|hw_ptr)(?: : ?\S|: ?\d)/;
/** Headings of the layers between the program and the device. */
const LAYER =
  /^(?:Its setup is:|Slave:|[A-Z][\w .<>-]* PCM(?:$|: | \(| card | I\/O | Plugin)|Converter:|Protocol version:|Transformation table:|Control:|(?:Min|Max)\. dB:|Resolution:|Binding|Channel bindings|\d+ <- )/;
/** Announcement of a recording or playback, printed without `-q`. */
const BEGINNING = /^(?:Recording|Playing) .* : /;

/** @param line cleaned: a run of spaces is one space */
export function isSetupListing(line: string): boolean {
  return FIELD.test(line) || LAYER.test(line) || BEGINNING.test(line);
}
