import { logRepeated, type RepeatFilter } from '../../machine/repeat-filter.ts';
import type { Clock } from '../../ports/clock.ts';
import type { KeyChange, OpenKeyDevice } from '../../ports/keys.ts';
import type { Log } from '../../ports/log.ts';
import type { KeyBinding } from '../../protocol/config-keys.ts';
import { keyCode } from '../../protocol/key-names.ts';
import type { CommandDefinition } from '../../protocol/mqtt/commands/command-definition.ts';
import { COMMANDS } from '../../protocol/mqtt/commands/registry.ts';
import { countCommand, UNUSED_RATE } from '../commands/command-rate-rules.ts';
import { CommandError } from '../commands/command-request.ts';
import type { CarryOut } from './by-hand.ts';

export interface DeskKeysDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly repeats: RepeatFilter;
  readonly keys: readonly KeyBinding[];
  openKeyDevice: OpenKeyDevice;
  carryOut: CarryOut;
  /** Called with the unreadable devices whenever that list changes. */
  missing(devices: readonly string[]): void;
}

/** The keys at the desk: each one gives its command. Other keys of the same device are neither stored nor logged. */
export interface DeskKeys {
  close(): void;
}

const DEFINITIONS: Readonly<Record<string, CommandDefinition>> = COMMANDS;

export function openDeskKeys(deps: DeskKeysDeps): DeskKeys {
  const { clock, log } = deps;
  // The same limit as over MQTT.
  let rate = UNUSED_RATE;
  const missing = new Map<string, string>();

  const refuse = (command: string, code: string, message: string): void =>
    logRepeated(deps, {
      level: 'warn',
      kind: `key:${code}`,
      fields: { command, code },
      sentence: `the command of a key was refused: ${message}`,
    });
  const failed = (command: string, error: unknown): void => {
    if (error instanceof CommandError) refuse(command, error.code, error.message);
    else log.error({ command, err: error }, 'a command failed');
  };

  const give: CarryOut = (command, args): void => {
    const counted = countCommand(rate, clock.now());
    rate = counted.rate;
    if (counted.allowed !== 'take') return refuse(command, 'busy', 'too many commands at once');
    try {
      const result = deps.carryOut(command, args);
      if (result instanceof Promise) result.catch((error: unknown) => failed(command, error));
    } catch (error) {
      failed(command, error);
    }
  };

  const release = ({ do: { command, args } }: KeyBinding): void => {
    const opposite = DEFINITIONS[command]?.atRelease?.(args);
    if (opposite !== undefined) give(opposite.command, opposite.args);
  };

  const devices = [...new Set(deps.keys.map(({ device }) => device))].map((path) => {
    const bindings = deps.keys.filter(({ device }) => device === path);
    const onChange = ({ code, isDown }: KeyChange): void => {
      for (const binding of bindings) {
        if (keyCode(binding.key) !== code) continue;
        if (isDown) give(binding.do.command, binding.do.args);
        else if (binding.on === 'hold') release(binding);
      }
    };
    return deps.openKeyDevice(path, {
      changed: onChange,
      opened() {
        if (!missing.delete(path)) return;
        log.info({ device: path }, 'the keys of this device work again');
        deps.missing([...missing.keys()]);
      },
      lost(problem) {
        if (missing.get(path) === problem) return;
        missing.set(path, problem);
        log.warn({ device: path }, `the keys of this device do not work: ${problem}`);
        deps.missing([...missing.keys()]);
      },
    });
  });

  return {
    close() {
      for (const device of devices) device.close();
    },
  };
}
