import type { Clock } from '../../ports/clock.ts';
import type { Verb } from '../../program/program.ts';
import { addTargetOptions, type CtlOptions, EXIT_CODES } from './ctl-options.ts';

const EXAMPLES = `
Examples:
  dragoman ctl kiosk-01 mute
  dragoman ctl kiosk-01 languages --source en --targets es,fr
  dragoman ctl --group lobby volume 60 --spread 5
  dragoman ctl --all status
  dragoman ctl watch
  dragoman ctl help languages

Verbs:
  start, stop, mute, unmute, volume, languages, voice, echo: change lanes until
    the next restart
  config: get, set, unset or diff the desired configuration, which survives a
    restart
  status: one device in detail, or a table of several
  say: speak a text, such as: say 'Cerramos a las seis' --language es
  identify: play chimes, to find the device in a room
  logs, log-level: follow the log; set its level
  restart, reboot: restart the agent or the whole device
  doctor: run the device's own checks
  watch: a live table of all devices, until Ctrl-C

Verbs that act on lanes take --lane ID: one lane instead of all.
"dragoman ctl help VERB" shows all options of a verb.

~/.config/dragoman/ctl.json sets the connection to the broker (docs/fleet.md).
${EXIT_CODES}`;

/** @param clock measures how long to wait for answers */
export function createCtlVerb(clock: Clock): Verb {
  return {
    register(program, shell) {
      addTargetOptions(
        program
          .enablePositionalOptions()
          .command('ctl')
          .description('control one device, a group or all devices over MQTT')
          .argument('[words...]', 'DEVICE VERB ..., or with --group or --all: VERB ...'),
      )
        .addHelpText('after', EXAMPLES)
        .passThroughOptions()
        .action(async (words: string[], options: CtlOptions) => {
          // Loaded here, because the daemon never needs it.
          const { runCtl } = await import('./run-ctl.ts');
          await runCtl(words, options, shell, clock);
        });
    },
  };
}
