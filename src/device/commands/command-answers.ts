import type { Bus, QueueShare } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { CommandResponse } from '../../protocol/mqtt/command.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import type { FinalAnswer } from './command-ledger.ts';
import type { CommandRecord } from './command-record.ts';

/** The receiver of a command's answers. */
export interface Asker {
  readonly bus: Bus;
  readonly name: string;
  readonly id: string;
  readonly correlationData: Uint8Array | undefined;
  /** The broker sent the command again because it missed the acknowledgement. */
  readonly isResent: boolean;
  /** Acknowledges the command: the broker does not send it again. */
  received(): void;
}

/** Publishes answers, and tracks each final one until the broker acknowledges it. */
export interface CommandAnswers {
  accepted(asker: Asker): void;
  /**
   * The command is acknowledged at the latest when the broker has its answer. A command that is sent again gets no
   * second answer while the first is pending.
   */
  final(asker: Asker, answer: FinalAnswer, share?: QueueShare): void;
  /**
   * For a command that the broker sends again although it has been answered: acknowledges it at once if the broker has the
   * answer, or when the pending answer has been delivered or dropped.
   * @returns false: the broker is not known to have the answer, so it must be given again
   */
  isGiven(asker: Asker): boolean;
  /** Whether an operator may still be waiting for an answer that has not reached the broker. */
  readonly isAwaited: boolean;
  close(): void;
}

/** Longest time that an operator waits (ms). An older answer is not a reason to reconnect sooner. */
const WAITED_FOR_MS = 120_000;

/** @param changed called whenever `isAwaited` may have changed */
export function createCommandAnswers(
  topics: DeviceTopics,
  clock: Clock,
  record: Pick<CommandRecord, 'told' | 'isTold'>,
  changed: () => void,
): CommandAnswers {
  /** Answers in flight by command id, and the acknowledgements to send after them. */
  const onTheirWay = new Map<string, { readonly answers: string[]; readonly receipts: (() => void)[] }>();
  let waitedForUntil = Number.NEGATIVE_INFINITY;
  let isClosed = false;
  let cancel = (): void => {};

  const publish = (
    { bus, name, id, correlationData }: Asker,
    response: Omit<CommandResponse, 'ts' | 'id'>,
    share: QueueShare,
    ended?: (isDelivered: boolean) => void,
  ): void =>
    bus.publish(
      topics.commandResponse(name),
      JSON.stringify({ ts: timestamp(clock.wall()), id, ...response }),
      {
        qos: 1,
        share,
        ...(correlationData === undefined ? {} : { properties: { correlationData } }),
        ...(ended === undefined ? {} : { ended }),
      },
    );

  return {
    accepted: (asker) => publish(asker, { status: 'accepted' }, 'answers'),
    final(asker, answer, share = 'answers') {
      const text = JSON.stringify(answer);
      const { answers, receipts } = onTheirWay.get(asker.id) ?? { answers: [], receipts: [] };
      receipts.push(asker.received);
      if (asker.isResent && answers.includes(text)) return;
      answers.push(text);
      onTheirWay.set(asker.id, { answers, receipts });
      publish(asker, answer, share, (isDelivered) => {
        if (isDelivered) record.told(asker.id);
        const over = onTheirWay.get(asker.id)?.receipts ?? [];
        onTheirWay.delete(asker.id);
        for (const received of over) received();
        changed();
      });
      if (isClosed) return;
      waitedForUntil = clock.now() + WAITED_FOR_MS;
      cancel();
      cancel = clock.at(waitedForUntil, changed);
      changed();
    },
    isGiven({ id, received }) {
      const sent = onTheirWay.get(id);
      if (sent !== undefined) sent.receipts.push(received);
      else if (record.isTold(id)) received();
      else return false;
      return true;
    },
    get isAwaited() {
      return onTheirWay.size > 0 && clock.now() < waitedForUntil;
    },
    close() {
      isClosed = true;
      cancel();
    },
  };
}
