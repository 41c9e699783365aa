/** Sends the commands of jobs to their devices. */
import type { Signer } from '../../adapters/signing/signer.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { commandNamed } from '../../protocol/mqtt/commands/registry.ts';
import { commandText } from './command-message.ts';
import { type JobRecord, noteSent, refuseDevice, waitingDevices } from './job-state.ts';

/** Maximum number of messages in flight: the queue of the connection holds 500. */
const MOST_ON_THE_WAY = 150;

export interface CommandSenderParts {
  readonly bus: () => Pick<Bus, 'publish' | 'connected' | 'outbox'>;
  readonly prefix: string;
  readonly signer: Signer | null;
  readonly clock: Clock;
  /** Whether a command that is sent now reaches the device. */
  readonly isConnected: (device: string) => boolean;
  /** Called when the broker did not accept a command of this job. */
  readonly refused: (job: JobRecord) => void;
}

export class CommandSender {
  private readonly parts: CommandSenderParts;
  /** Messages that the broker has not acknowledged. */
  private onTheWay = 0;

  constructor(parts: CommandSenderParts) {
    this.parts = parts;
  }

  /** Sends the command to waiting devices, as many as the queue has room for. @returns whether there were any */
  async sendWaiting(job: JobRecord): Promise<boolean> {
    if (!this.parts.bus().connected) return false;
    const names = waitingDevices(job, MOST_ON_THE_WAY - this.onTheWay);
    for (const name of names) {
      if (commandNamed(job.command)?.onlyConnected) await this.sendIfConnected(job, name);
      else await this.sendKept(job, name);
    }
    return names.length > 0;
  }

  /** The broker keeps the command for a device that is not connected. */
  private async sendKept(job: JobRecord, name: string): Promise<void> {
    const message = await this.messageToSend(job, name);
    if (message === null) return;
    const { topic, text, properties } = message;
    this.onTheWay += 1;
    this.parts.bus().publish(topic, text, {
      qos: 1,
      properties,
      ended: (isDelivered) => {
        this.onTheWay -= 1;
        if (isDelivered) return;
        const message =
          'the broker did not accept the command: see the log of the backend, and check its rights at the broker';
        refuseDevice(job, name, 'not_sent', message);
        this.parts.refused(job);
      },
    });
  }

  /** Sends with QoS 0, so that the broker does not store the command, even for a device that is away. */
  private async sendIfConnected(job: JobRecord, name: string): Promise<void> {
    if (!this.parts.isConnected(name)) {
      const message = 'it is not connected, and this command is not kept for it: send it again later';
      return refuseDevice(job, name, 'not_connected', message);
    }
    const message = await this.messageToSend(job, name);
    if (message === null) return;
    this.parts.bus().publish(message.topic, message.text, { qos: 0, properties: message.properties });
  }

  /** Null: nothing to send. Otherwise the device counts as having received the command. */
  private async messageToSend(job: JobRecord, name: string) {
    const { prefix, signer, clock } = this.parts;
    const about = `${prefix}/${name}`;
    try {
      const text = await commandText(job, about, signer, clock.wall());
      // A person may have stopped the job meanwhile.
      if (!noteSent(job, name, this.wall())) return null;
      const properties = { expiryS: Math.max(1, Math.ceil((job.notAfter - this.wall()) / 1000)) };
      return { topic: `${about}/cmd/${job.command}`, text, properties };
    } catch (error) {
      const why = error instanceof Error ? error.message : 'unknown';
      refuseDevice(job, name, 'not_sent', `the backend could not sign it: ${why}`);
      return null;
    }
  }

  private wall(): number {
    return this.parts.clock.wall() ?? 0;
  }
}
