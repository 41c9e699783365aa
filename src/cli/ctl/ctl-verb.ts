import type { Verb } from '../../program/program.ts';
import { addTargetOptions, type CtlOptions } from './ctl-options.ts';

const EXAMPLES = `
Examples:
  dragoman ctl kiosk-01 mute
  dragoman ctl kiosk-01 languages --source en --targets es,fr
  dragoman ctl --group lobby volume 60 --spread 5
  dragoman ctl --all status
  dragoman ctl watch
  dragoman ctl help languages

What it can do:
  start, stop, mute, unmute, volume, languages, voice, echo: change how lanes
    work until a restart
  config: get, set, unset or diff what is desired, which outlives a restart
  status: one device in detail, or a table of several
  say: have a text spoken, such as: say 'Cerramos a las seis' --language es
  identify: let it chime, to find it in a room
  logs, log-level: show its log as it is written; set what is written
  restart, reboot: start the agent or the whole device again
  doctor: run the device's own checks
  watch: a live table of all devices, until Ctrl-C

How to reach the broker stands in ~/.config/dragoman/ctl.json (docs/fleet.md).
It exits with 0 when all devices did as they were told, 1 when one did not,
2 for a mistake on the command line or in the profile, 3 when the doctor of one
found a problem, 4 when one was silent.`;

export const ctlVerb: Verb = {
  register(program, shell) {
    addTargetOptions(
      program
        .enablePositionalOptions()
        .command('ctl')
        .description("an operator's hand on one device, a group or all of them, over MQTT")
        .argument('[words...]', 'DEVICE VERB ..., or with --group or --all: VERB ...'),
    )
      .addHelpText('after', EXAMPLES)
      .passThroughOptions()
      .action(async (words: string[], options: CtlOptions) => {
        // The daemon never needs it: what it does is loaded here.
        const { runCtl } = await import('./run-ctl.ts');
        await runCtl(words, options, shell);
      });
  },
};
