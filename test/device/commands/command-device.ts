import { EMPTY_LEDGER, type KeptRecord } from '../../../src/device/commands/command-ledger.ts';
import {
  type Arrival,
  type CommandEffect,
  type CommandEvent,
  type CommandFacts,
  type CommandSettings,
  commandMachine,
} from '../../../src/device/commands/command-machine.ts';
import { COMMANDS } from '../../../src/protocol/mqtt/commands/registry.ts';
import { drive } from '../../machine/drive.ts';

/** How the outside answers each effect; an effect without a reply gets none. */
export type Replies = {
  readonly [Type in CommandEffect['type']]?: (
    effect: Extract<CommandEffect, { readonly type: Type }>,
  ) => CommandEvent;
};

/** A disk and handlers that take no time. The broker acknowledges no answer. */
export const AT_ONCE: Replies = {
  save_note: ({ id }) => ({ type: 'noted', id, isSaved: true }),
  save_result: ({ id }) => ({ type: 'kept', id, isSaved: true }),
  draw_delay: ({ id, spreadMs }) => ({ type: 'delay_drawn', id, ms: spreadMs / 2 }),
  carry_out: ({ id }) => ({ type: 'done', id, answer: { status: 'ok' } }),
};

export const SETTINGS: CommandSettings = {
  bases: ['dragoman/v1/museum/kiosk-01'],
  shapes: new Map(Object.entries(COMMANDS).map(([name, definition]) => [name, { definition }])),
  digest: (text) => `digest of ${text}`,
};
const NOTHING: KeptRecord = { ledger: EMPTY_LEDGER, owed: [] };

type Changes = { readonly [Type in keyof Replies]: Replies[Type] | undefined };
interface Outside extends Partial<CommandFacts> {
  /** The record of the last run. */
  readonly record?: KeptRecord;
  readonly wall?: number | null;
}

/** @param changes changes of `AT_ONCE`; undefined: the outside does not reply to this effect */
export function commandDevice(changes: Changes = {}, { record = NOTHING, wall, ...facts }: Outside = {}) {
  const replies = { ...AT_ONCE, ...changes };
  const machine = commandMachine(SETTINGS, record);
  const driver = drive(
    machine,
    { hasKeys: false, isListed: () => false, ...facts },
    wall === undefined ? {} : { wall },
  ).answer((effect) => {
    const reply = replies[effect.type] as ((effect: CommandEffect) => CommandEvent) | undefined;
    return reply?.(effect) ?? null;
  });
  return {
    driver,
    /** Final answers as `id: code`. */
    get answers() {
      return driver.all('publish').flatMap(({ asker, answer }) => {
        if (answer.status === 'accepted') return [];
        return `${asker.id}: ${answer.error?.code ?? answer.status}`;
      });
    },
    /** Answers and `accepted` as `id: status`. */
    get statuses() {
      return driver.all('publish').map(({ asker, answer }) => `${asker.id}: ${answer.status}`);
    },
    /** The ids of the commands carried out. */
    get carriedOut() {
      return driver.all('carry_out').map(({ id }) => id);
    },
    get acknowledged() {
      return driver.all('acknowledge').flatMap(({ arrivals }) => arrivals);
    },
    wakeAt: () => machine.wakeAt(driver.state),
  };
}

/** A message with the command `mute` for this device. */
export function arrived(
  number: number,
  body: {
    readonly id?: string;
    readonly args?: object;
    readonly not_after?: string;
    readonly jws?: string;
  } = {},
  more: Partial<Arrival> = {},
): CommandEvent {
  const payload = JSON.stringify({ id: 'a', ...body });
  const arrival: Arrival = {
    number,
    name: 'mute',
    payload,
    correlationData: undefined,
    isFanOut: false,
    isRetained: false,
    isResent: false,
    ...more,
  };
  return { type: 'arrived', arrival };
}

export const ended = (id: string, isDelivered = true, isRefusal = false): CommandEvent => ({
  type: 'ended',
  id,
  isDelivered,
  isRefusal,
});
